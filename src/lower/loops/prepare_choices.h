// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choices in the form in which steady_state looks for what is likely. Helper of partition_loops.
#pragma once

#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// A program that clamps coordinates by itself says nothing of what is likely. Where lanes of an
/// index are clamped by a value that they share, and nothing is tagged yet, they likely are within
/// it: if all are, the access may be dense.
///
///     f[max(min(ramp(x, 1, 8), broadcast(n, 8)), broadcast(0, 8))]
///     ->
///     f[max(min(likely(ramp(x, 1, 8)), broadcast(n, 8)), broadcast(0, 8))]
///
/// Clamps of what is tagged stay as they are, and clamps within that are treated likewise: a boundary condition may
/// be asked for what the program has clamped before. Lets that indices are made of are treated
/// likewise. Lanes that are read from memory are not: no range of a loop has them within bounds.
///
/// What is likely where none of several conditions holds is so where all of their opposites do, of
/// which each loop may settle those that are about it:
///
///     select(x < 0 || y < 0, 7, likely(f[x + y]))
///     ->
///     select(!(x < 0) && !(y < 0), likely(f[x + y]), 7)
Stmt prepare_choices(const Stmt &s);

}  // namespace calotype::internal
