// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What lies above a sum with min(a, b) in it lies above the sum with a and above that with b, as
// long as the sum grows with its terms; the same for what lies below one with a max.
#include "lower/loops/split_condition.h"

#include <optional>
#include <utility>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/expr_nodes.h"
#include "ir/operators.h"
#include "ir/queries.h"

namespace calotype::internal {

namespace {

constexpr int max_depth = 6;

using Alternatives = std::optional<std::pair<Expr, Expr>>;

class Splitter {
public:
    explicit Splitter(const std::string &var) : var_(var) {
    }

    void add(const Expr &e, int depth) {
        if (const And *both = e.as<And>()) {
            add(both->a, depth);
            add(both->b, depth);
        } else if (!uses_var(e, var_)) {
            result.fixed = result.fixed && e;
        } else if (depth == 0 || !add_comparison(e, depth - 1)) {
            result.moving = result.moving && e;
        }
    }

    SplitCondition result = {const_true(), const_true()};

private:
    /// The sum with each of the two in place of a smallest (largest, if it is to be small) value of
    /// which one does not use the variable.
    template<typename Op>
    Alternatives inside(const Op *op, bool is_large_a, bool is_large_b) const {
        if (const Alternatives a = alternatives(op->a, is_large_a)) {
            return std::pair(Op::make(a->first, op->b), Op::make(a->second, op->b));
        }
        if (const Alternatives b = alternatives(op->b, is_large_b)) {
            return std::pair(Op::make(op->a, b->first), Op::make(op->a, b->second));
        }
        return std::nullopt;
    }

    /// The same of a product with a positive constant, or a quotient by one.
    template<typename Op>
    Alternatives scaled(const Op *op, bool is_large) const {
        const Alternatives a =
            is_positive_const(op->b) ? alternatives(op->a, is_large) : std::nullopt;
        return a ? Alternatives(std::pair(Op::make(a->first, op->b), Op::make(a->second, op->b)))
                 : std::nullopt;
    }

    Alternatives alternatives(const Expr &e, bool is_large) const {
        if (e.type() != Int(32) || !uses_var(e, var_)) {
            return std::nullopt;
        }
        if (const Add *op = e.as<Add>()) {
            return inside(op, is_large, is_large);
        } else if (const Sub *op = e.as<Sub>()) {
            return inside(op, is_large, !is_large);
        } else if (const Mul *op = e.as<Mul>()) {
            return scaled(op, is_large);
        } else if (const Div *op = e.as<Div>()) {
            return scaled(op, is_large);
        } else if (const Min *op = e.as<Min>(); op && is_large) {
            return of_choice(op, is_large);
        } else if (const Max *op = e.as<Max>(); op && !is_large) {
            return of_choice(op, is_large);
        }
        return std::nullopt;
    }

    template<typename Op>
    Alternatives of_choice(const Op *op, bool is_large) const {
        const bool in_a = uses_var(op->a, var_), in_b = uses_var(op->b, var_);
        return in_a != in_b ? Alternatives(std::pair(op->a, op->b))
                            : inside(op, is_large, is_large);
    }

    bool add_comparison(const Expr &e, int depth) {
        if (const LE *op = e.as<LE>()) {
            return add_order(op->a, op->b, false, depth);
        } else if (const LT *op = e.as<LT>()) {
            return add_order(op->a, op->b, true, depth);
        } else if (const GE *op = e.as<GE>()) {
            return add_order(op->b, op->a, false, depth);
        } else if (const GT *op = e.as<GT>()) {
            return add_order(op->b, op->a, true, depth);
        }
        const Not *op = e.as<Not>();
        const LT *less = op ? op->a.as<LT>() : nullptr;
        const LE *at_most = op ? op->a.as<LE>() : nullptr;
        return less      ? add_order(less->b, less->a, false, depth)
               : at_most ? add_order(at_most->b, at_most->a, true, depth)
                         : false;
    }

    bool add_order(const Expr &small, const Expr &large, bool strict, int depth) {
        const auto order = [&](const Expr &a, const Expr &b) {
            add(simplify(strict ? a < b : a <= b), depth);
        };
        if (const Alternatives a = alternatives(large, true)) {
            order(small, a->first);
            order(small, a->second);
            return true;
        }
        if (const Alternatives a = alternatives(small, false)) {
            order(a->first, large);
            order(a->second, large);
            return true;
        }
        return false;
    }

    const std::string &var_;
};

}  // namespace

SplitCondition split_condition(const Expr &condition, const std::string &var) {
    Splitter splitter(var);
    splitter.add(condition, max_depth);
    return {simplify(splitter.result.fixed), simplify(splitter.result.moving)};
}

}  // namespace calotype::internal
