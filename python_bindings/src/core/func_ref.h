// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f[x] += e, which Python carries out in two steps: a sum is made, and then assigned to f[x].
#pragma once

#include "args.h"

namespace calotype::python {

enum class UpdateOp { Add, Sub, Mul, Div };

/// The first step: `ref op= value`, not yet done. Used as an expression it is `ref op value`, which
/// must be defined then.
struct PendingUpdate {
    FuncRef ref;
    UpdateOp op;
    std::vector<Expr> values;
    bool defines = false;  ///< the Func had no definition yet

    Expr as_expr() const;
    Stage apply(FuncRef target) const;
};

/// A float32 constant, with a warning where it is not what was written.
Expr checked_float32(double value);

/// A CallError if one is no coordinate: here, where it is written, rather than where the value is used.
void check_coordinates(const Func &f, const std::vector<Expr> &coordinates);

/// f[coordinates] = value.
void assign(const Func &f, nb::handle coordinates, nb::handle value);

}  // namespace calotype::python
