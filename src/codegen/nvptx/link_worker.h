/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The messages between the compiler and link_worker.c.
 *
 *     request (standard input)   ct_worker_request, the path of the library, the options and the
 * inputs: each text ends with a zero; before each input stands a ct_worker_input, then its name,
 * then its bytes answer (file 3)            ct_worker_answer, the log, the cubin
 */
#pragma once

#include <stdint.h>

struct ct_worker_request {
    uint32_t options, inputs;
};
struct ct_worker_input {
    int32_t kind;
    uint32_t unused;
    uint64_t size;
};
struct ct_worker_answer {
    int32_t ok, code, refused_input, created;
    uint64_t log_size, cubin_size;
};

enum { ct_worker_answer_file = 3 };
