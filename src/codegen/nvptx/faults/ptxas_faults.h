// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions that ptxas makes wrong code of are replaced by others of the same value.
#pragma once

#include <llvm/IR/Module.h>

namespace calotype::internal {

/// To be called after all optimisation, right before instruction selection:
///
///     min, max of 16 bits   ->  the same in 32 bits, truncated
///     saturating sums of up to 16 bits  ->  sums of 32 bits, clamped and truncated
///     -x of up to 32 bits   ->  ~x + 1, as inline assembly, which LLVM does not turn back
///     sums and products of vectors of up to 16 bits  ->  lane by lane
///     lanes that a masked load leaves out, and values that are undefined on some way: zero
///
/// ptxas of CUDA 13.0 makes wrong code for sm_90 of some sequences with min.s16, max.s16, min.u16
/// and max.u16 (a negated operand counts as if it were not; comparisons of the result are taken as
/// known), and loses a negation whose result goes to minima or maxima of three values. Of registers
/// that ld.global.nc sets on one way alone and that have no value on the other it uses values that
/// were not loaded (an unrolled sum over a window that a mask guards). Where one half of an operand of
/// add.s16x2 has no value and the other operand is a constant, the constant is lost for the half that has
/// one (nvJitLink, sm_90a: the third of three lanes of a histogram).
void avoid_ptxas_faults(llvm::Module &module);

}  // namespace calotype::internal
