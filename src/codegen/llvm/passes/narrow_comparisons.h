// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparisons of lane numbers, in lanes as narrow as what is chosen by them.
#pragma once

#include <llvm/IR/Module.h>

#include "target/target.h"

namespace calotype::internal {

/// Lanes that are constants apart are compared with one value by how far that is from the first of them, saturated to lanes of 8
/// or 16 bits, if all that is chosen by the result is as narrow:
///
///     select (x + <0, 1, ... 31>) < splat(end), <32 x i8> %a, %b
///     ->
///     select <0, 1, ... 31> < splat(saturated to i8(end - x)), <32 x i8> %a, %b
///
/// Masks of the last vector of a row are such, and what depends on coordinates. As it stands, each comparison takes a
/// register for every few lanes, of which the results are then packed.
///
/// After all other optimisation, and after what looks for ranges in masks of accesses.
void compare_lanes_narrowly(llvm::Module &module, const Target &target);

}  // namespace calotype::internal
