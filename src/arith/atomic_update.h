// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the lowering of kernels and every back end ask of a store inside of Atomic:
//
//     f[i] = f[i] + x     one instruction, where the machine has it
//     f[i] = e(f[i])      the value is repeated with the old one known until nobody came between
//
// Vectors go lane by lane, as two lanes may mean the same element.
#pragma once

#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// The Variable that stands for the old value of the element.
constexpr const char *old_value = ".old";

/// The load of f[i] in the value stored to f[i]; undefined if that does not read f[i]. It is an
/// internal error if it may do so in another form: others' updates would be lost.
Expr replaced_value(const Store *op);

/// For a value that combines a and b: x if one of them is f[i] and the other, x, does not read f.
Expr other_operand(const Store *op, const Expr &a, const Expr &b);

/// A lane of the value stored, with `old_value` in the place of the load `replaced`.
Expr updated_lane(const Store *op, const Expr &replaced, int lane);

}  // namespace calotype::internal
