// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/values/split_quotients.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "arith/linear_form.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/walk/search.h"
#include "ir/with.h"

namespace calotype::internal {

namespace {

/// What the names of a loop's body are made of.
struct Loop {
    std::string name;
    /// Lets that are a multiple of the loop's variable and what does not vary.
    std::map<std::string, Expr> sums;
    /// The loop's variable, and other lets that depend on it.
    std::set<std::string> varying;

    bool varies(const Expr &e) const {
        return contains<Variable>(e, [&](const Variable *v) { return varying.count(v->name) > 0; });
    }
    void forget(const std::string &let) {
        sums.erase(let);
        varying.erase(let);
    }
};

/// factor * variable + rest
struct Multiple {
    int64_t factor;
    Expr rest;  ///< the same in all iterations
};

class SplitQuotients : public Mutator {
    using Mutator::visit;

    Stmt visit(const For *op) override {
        const Expr min = mutate(op->min), extent = mutate(op->extent);
        // What leaves a loop over threads is computed as often.
        Loop inner;
        if (!is_gpu(op->for_type)) {
            inner.name = op->name;
            inner.varying = {op->name};
        }
        std::swap(loop_, inner);
        const Stmt body = mutate(op->body);
        std::swap(loop_, inner);
        const bool same =
            min.same_as(op->min) && extent.same_as(op->extent) && body.same_as(op->body);
        return same ? Stmt(op) : with(op, &For::min, min, &For::extent, extent, &For::body, body);
    }

    template<typename LetOrLetStmt>
    auto visit_let(const LetOrLetStmt *op) {
        const Expr value = mutate(op->value);
        const bool is_new = names_.insert(op->name).second;
        std::optional<Loop> around;  // of a name that may have another meaning in what is known
        if (!is_new) {
            around = loop_;
        }
        bind(op->name, value);
        auto body = mutate(op->body);
        if (around) {
            loop_ = *std::move(around);
        } else {
            loop_.forget(op->name);
        }
        const bool same = value.same_as(op->value) && body.same_as(op->body);
        return same ? decltype(body)(op) : LetOrLetStmt::make(op->name, value, body);
    }
    Stmt visit(const LetStmt *op) override {
        return visit_let(op);
    }
    Expr visit(const Let *op) override {
        return visit_let(op);
    }

    Expr visit(const Div *op) override {
        return split(
            op, [](const Expr &quotient, const Expr &multiple) { return quotient + multiple; });
    }
    Expr visit(const Mod *op) override {
        return split(op, [](const Expr &remainder, const Expr &) { return remainder; });
    }

    template<typename T, typename F>
    Expr split(const T *op, const F &join) {
        const Expr a = mutate(op->a);
        const auto divisor = as_const_int(op->b);
        const auto m = multiple_of(base_of(a));
        if (m && divisor && *divisor > 1 && m->factor % *divisor == 0) {
            const Type t = op->type;
            const Expr rest = with_base(a, m->rest);
            const Expr multiple = Variable::make(t.element_of(), loop_.name) *
                                  make_const(t.element_of(), m->factor / *divisor);
            return join(simplify(T::make(rest, op->b)),
                        t.is_scalar() ? multiple : Broadcast::make(multiple, t.lanes()));
        }
        return a.same_as(op->a) ? Expr(op) : T::make(a, op->b);
    }

    /// A scalar itself, the first of consecutive values.
    static Expr base_of(const Expr &e) {
        const auto *ramp = e.as<Ramp>();
        return ramp ? ramp->base : e;
    }
    static Expr with_base(const Expr &e, const Expr &base) {
        const auto *ramp = e.as<Ramp>();
        return ramp ? Ramp::make(base, ramp->stride, ramp->lanes) : base;
    }

    /// e as that, if the loop's variable is in it.
    std::optional<Multiple> multiple_of(const Expr &e) const {
        if (loop_.name.empty() || e.type() != Int(32) || !loop_.varies(e)) {
            return std::nullopt;
        }
        LinearForm form(substitute(loop_.sums, e));
        Multiple result{0, Expr()};
        for (LinearForm::Term &term : form.terms) {
            const auto *v = term.value.as<Variable>();
            if (v && v->name == loop_.name) {
                result.factor = std::exchange(term.coefficient, 0);
            }
        }
        form.drop_zeros();
        result.rest = form.is_valid() ? form.to_expr(e.type()) : Expr();
        const bool is_one =
            result.factor != 0 && result.rest.defined() && !loop_.varies(result.rest);
        return is_one ? std::optional(result) : std::nullopt;
    }

    void bind(const std::string &name, const Expr &value) {
        const auto sum = multiple_of(value);
        const bool varies = loop_.varies(value);
        loop_.forget(name);
        std::erase_if(loop_.sums, [&](const auto &known) { return uses_var(known.second, name); });
        if (varies) {
            loop_.varying.insert(name);
        }
        if (sum && !uses_var(sum->rest, name)) {
            const Type t = value.type();
            loop_.sums[name] =
                Variable::make(t, loop_.name) * make_const(t, sum->factor) + sum->rest;
        }
    }

    Loop loop_;                    ///< the innermost; without a name: none
    std::set<std::string> names_;  ///< of lets that were met
};

}  // namespace

Stmt split_quotients(const Stmt &s, LowerContext &) {
    return SplitQuotients().mutate(s);
}

}  // namespace calotype::internal
