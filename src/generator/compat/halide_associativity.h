// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Part of Halide.h: what is known of updates that combine values by an associative operator.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "halide_ir.h"

namespace calotype {
namespace Internal {

using FunctionPtr = SymbolPtr;

/// An operator on Tuples of one or more values, in Variables for both sides.
struct AssociativePattern {
    std::vector<Expr> ops;         ///< one a value; empty: there is none
    std::vector<Expr> identities;  ///< the values that leave the other side as it is
    bool is_commutative = false;

    AssociativePattern() = default;
    AssociativePattern(std::vector<Expr> ops, std::vector<Expr> identities, bool is_commutative)
        : ops(std::move(ops)), identities(std::move(identities)), is_commutative(is_commutative) {
    }
    AssociativePattern(const Expr &op, const Expr &identity, bool is_commutative)
        : AssociativePattern(std::vector<Expr>{op}, {identity}, is_commutative) {
    }
    size_t size() const {
        return ops.size();
    }
};

/// The pattern and what its Variables stand for in an update.
struct AssociativeOp {
    struct Replacement {
        std::string var;
        Expr expr;
        Replacement() = default;
        Replacement(const std::string &var, const Expr &expr) : var(var), expr(expr) {
        }
    };
    AssociativePattern pattern;
    std::vector<Replacement> xs;  ///< the old values
    std::vector<Replacement> ys;  ///< what is combined in; no name: nothing is
    bool is_associative = false;

    AssociativeOp() = default;
    AssociativeOp(const AssociativePattern &pattern, const std::vector<Replacement> &xs,
                  const std::vector<Replacement> &ys, bool is_associative)
        : pattern(pattern), xs(xs), ys(ys), is_associative(is_associative) {
    }
    bool associative() const {
        return is_associative;
    }
    bool commutative() const {
        return pattern.is_commutative;
    }
    size_t size() const {
        return pattern.size();
    }
};

/// What an update f(args) = exprs does, if an associative operator is seen in it. Its ops have the
/// old value on the left; a saturating addition stays in the form in which the update has it.
AssociativeOp prove_associativity(const std::string &f, const std::vector<Expr> &args,
                                  const std::vector<Expr> &exprs);

}  // namespace Internal
}  // namespace calotype
