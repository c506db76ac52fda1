// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choices between floating-point numbers that share a condition.
#pragma once

namespace llvm {
class Module;
}

namespace calotype::internal {

/// A choice between two single floats whose condition others ask for, too, becomes one of lane 0:
///
///     c = fcmp a < b;  select c, x, y;  select c, z, w
///         ->   cs = fcmp <4 x float> a < b;  (select <4 x i1> cs, x, y)[0];  (select <4 x i1> cs, z, w)[0]
///
/// Of one that is asked for once code generation makes a comparison in a vector register. Of others it makes a branch, or
/// with AVX-512 a byte of a register, whose other bytes it does not need but the processor waits for.
void choose_floats_by_lanes(llvm::Module &module);

}  // namespace calotype::internal
