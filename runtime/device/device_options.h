// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options: the device to use, its name in messages, and how much of its memory to keep.
#pragma once

#include "runtime/host/text.h"

namespace calotype::runtime {

/** "device 7 is chosen"; where the environment decided and does not name a device, that. */
void name_chosen_device(int number, Text *text);
/** The same with ", but there is one CUDA device, number 0". */
void explain_device_number(int number, const char *kind, int count, Text *text);

/** Nobody has called calotype_reuse_device_allocations(): a device decides what it keeps. */
bool is_reuse_unsaid();

}  // namespace calotype::runtime
