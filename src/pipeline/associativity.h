// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// prove_associative: whether an update combines its old value with new ones by an associative
// operator.
#pragma once

#include <string>
#include <vector>

#include "pipeline/definition.h"

namespace calotype::internal {

/// An update f(args) = op(f(args), y), a Tuple of one or more values. In `ops` the Variables
/// old_value(i) stand for the present values and new_value(i) for y[i].
struct AssociativeUpdate {
    std::vector<Expr> ops;         ///< empty: not shown to be associative
    std::vector<Expr> identities;  ///< op(identity, y) == y
    std::vector<Expr> ys;          ///< what is combined in; free of f
    bool commutative = true;

    bool associative() const {
        return !ops.empty();
    }
    static Expr old_value(Type t, size_t i);
    static Expr new_value(Type t, size_t i);
    /// The ops with these values put in.
    std::vector<Expr> apply(const std::vector<Expr> &old_values,
                            const std::vector<Expr> &new_values) const;
};

/// Recognises + - * min max && || & | ^, saturating addition of unsigned values, what means these
/// (selects, and wider sums that are cut off), and the Tuples of argmin and argmax. Floating-point
/// addition and multiplication are taken as associative. A predicate that reads the Func makes an
/// update what it is not.
AssociativeUpdate prove_associative(const std::string &func, const Definition &update);

}  // namespace calotype::internal
