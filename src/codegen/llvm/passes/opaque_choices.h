// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What LLVM is kept from knowing of values: what they are made of, or that they may be undefined.
#pragma once

#include <llvm/IR/Module.h>

namespace calotype::internal {

/// The bounds of loops and the corners of regions are minima, maxima and quotients of one another.
/// Loop strength reduction takes all that an address is made of for one formula, and expands it once
/// more before each loop: most of the time that code generation took, and instructions for nothing.
/// So such integers, where another block uses them, are frozen: a value of which nothing is known but
/// that it is the same in the loop. Last of all, as other optimisations should see through them.
void make_choices_opaque(llvm::Module &module);

/// Sums that a loop does not change are computed before it, and loop strength reduction takes them apart
/// again: where an innermost loop adds something to such a sum, it weighs all ways to divide the terms
/// between registers, most of a second of the processor for a pyramid, and moves some back into the loop. So the
/// loop gets a frozen one, and what differs from it by a constant is that and the constant, as
/// addresses that share a register are. One that grows by the same in each iteration of the loop around is a variable of
/// that loop, as strength reduction, which does not see through what is frozen, would have made it. Last of all.
void make_sums_opaque(llvm::Module &module);

/// Storage in the frame that was not written is undefined to LLVM: another value at each use, so that
/// a clamp of what is read there (clamp_unsafe_accesses) may be folded as if it held whatever it is, and
/// the index made of it is anywhere. So such values that indices are made of are frozen: they become one
/// value, which the clamp then bounds. First of all, before an optimisation sees the storage.
void decide_indices(llvm::Module &module);

}  // namespace calotype::internal
