// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Part of Halide.h: rewrites of expressions and code that programs call by themselves.
#pragma once

#include "calotype.h"
#include "halide_ir.h"

namespace calotype {
namespace Internal {

/// -e as the type has it, for integers of which that is known to be exact; undefined otherwise.
Expr lossless_negate(const Expr &e);
/// Float arithmetic as it is written, in all of e.
inline Expr strictify_float(const Expr &e) {
    return strict_float(e);
}
/// Parameters, and the ends of buffers, that have an estimate are replaced by it.
Expr substitute_var_estimates(const Expr &e);
/// Lanes 0, 2, ... and 1, 3, ... of a vector.
Expr extract_even_lanes(const Expr &e);
Expr extract_odd_lanes(const Expr &e);
/// Lets and loops that would hide a name get another one: x, x_1, x_2.
Stmt uniquify_variable_names(const Stmt &s);

}  // namespace Internal
}  // namespace calotype
