/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Registers that hold tiles of matrices (AMX). */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/** Asks the system for the use of the processor's matrix tile registers (AMX), which Linux grants a
 * process once and for all its threads. Generated code that uses them calls it first. Answers 0, or
 * reports calotype_error_code_unimplemented and answers it where there are none. */
extern int calotype_request_matrix_tiles(void *user_context);

#ifdef __cplusplus
}
#endif
