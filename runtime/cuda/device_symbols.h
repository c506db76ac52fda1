// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which functions and variables an image of device code defines for others: nvJitLink takes two
// definitions of one name without failing, so they are looked for before it is called.
#pragma once

#include <stddef.h>

#include "runtime/abi/kernels.h"
#include "runtime/host/function_ref.h"

namespace calotype::runtime {

/** Called for each name; answers whether to go on. */
using FoundSymbol = FunctionRef<bool(const char *name, size_t length)>;

/** The strong definitions in PTX and in a cubin; of other kinds none are known. False: ended early.
 */
bool for_each_definition(const calotype_image &image, FoundSymbol found);
/** TextKind::find_kernels for PTX: the entries that have a body, in their order. */
void find_ptx_kernels(const char *text, void (*found)(const char *, size_t, void *), void *data);

}  // namespace calotype::runtime
