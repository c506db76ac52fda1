// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks that every function on device copies begins with, and the reporting of failures.
#pragma once

#include "runtime/abi/buffer.h"
#include "runtime/abi/errors.h"
#include "runtime/host/text.h"

namespace calotype::runtime {

/** Report an error with the summary of its code and what was told (failure.h). Returns the code. */
int report_code(void *user_context, int code);
/** The same, with a sentence. */
int report_code(void *user_context, int code, const Text &why);

/** 0, or an error if the buffer is null or its device fields contradict each other. */
int check_buffer(void *user_context, const calotype_buffer_t *buf, const char *routine);

}  // namespace calotype::runtime
