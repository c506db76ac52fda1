// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A value is compared in a form that has all lets in it, simplified and without its constant term.
// Values that are large in this form stand for themselves: what uses them sees their names only.
// Marks of what is likely do not count, but none is lost.
#include "lower/loops/relate_lets.h"

#include <map>
#include <utility>
#include <vector>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/with.h"
#include "lower/loops/propagate_likely.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

/// Nodes of a value that others are expanded with.
constexpr int max_nodes = 64;

class CountNodes : public Visitor {
public:
    int nodes = 0;
    using Visitor::operator();
    void operator()(const Expr &e) override {
        if (e.defined() && ++nodes <= max_nodes) {
            Visitor::operator()(e);
        }
    }
};

bool is_small(const Expr &e) {
    CountNodes count;
    count(e);
    return count.nodes <= max_nodes;
}

/// Whether the value is the same wherever it stands.
bool is_comparable(const Expr &e) {
    return e.type() == Int(32) && is_pure(e) && !contains_kind(e, NodeKind::Load) &&
           !contains_kind(e, NodeKind::Let);
}

/// A value as a sum of an expression and a constant.
struct Parts {
    Expr rest;
    int64_t constant;
};

Parts parts(const Expr &e);

/// `min(a + 3, b + 5)` is `min(a, b + 2) + 3`, and so is `min(b + 5, a + 3)`.
template<typename T>
Parts parts_of_one_of(const T *op) {
    Parts a = parts(op->a), b = parts(op->b);
    if (compare(b.rest, a.rest) < 0) {
        std::swap(a, b);
    }
    const auto distance = __int128(b.constant) - a.constant;
    if (distance != int(distance)) {
        return {op, 0};
    }
    return {T::make(a.rest, distance == 0 ? b.rest : b.rest + int(distance)), a.constant};
}

/// Of equal values less a constant the same rest, wherever in sums and choices the constants stand.
Parts parts(const Expr &e) {
    if (const Add *add = e.as<Add>()) {
        if (const auto constant = as_const_int(add->b)) {
            const Parts a = parts(add->a);
            return {a.rest, a.constant + *constant};
        }
        const Parts a = parts(add->a), b = parts(add->b);
        return {a.rest + b.rest, a.constant + b.constant};
    }
    const Min *min = e.as<Min>();
    const Max *max = e.as<Max>();
    return min ? parts_of_one_of(min) : max ? parts_of_one_of(max) : Parts{e, 0};
}

class RelateLets : public Mutator {
public:
    bool changed = false;

    using Mutator::mutate;
    /// Of expressions lets alone are looked at: the others belong to statements.
    Expr mutate(const Expr &e) override {
        if (in_kernel_ || !contains_kind(e, NodeKind::Let)) {
            return e;
        }
        const Expr related = RelateInner(*this).mutate(e);
        changed = changed || !related.same_as(e);
        return related;
    }

private:
    using Mutator::visit;

    /// A let around, by its value without the constant term.
    struct Named {
        std::string name;
        int64_t constant;
        size_t place;  ///< in open_
        Expr tagged;   ///< what its value is to be, if a relative's is known to be likely
    };

    /// A value in terms of what no let names, unmarked; undefined if that is not to be looked at.
    Expr expanded(const Expr &e) const {
        if (!is_comparable(e) || !is_small(e)) {
            return Expr();
        }
        std::map<std::string, Expr> replacements;
        for (const std::string &name : free_variables(e)) {
            if (const Expr *value = values_.find(name)) {
                replacements[name] = *value;
            }
        }
        const Expr plain = remove_likelies(e);
        return replacements.empty() && plain.same_as(e) ? e
                                                        : simplify(substitute(replacements, plain));
    }

    Expr constant_or(const Expr &e) {
        if (is_const(e)) {
            return e;
        }
        const Expr known = expanded(e);
        if (!known.defined() || !is_const(known)) {
            return e;
        }
        changed = true;
        return known;
    }

    /// A let around from which the value differs by a constant; null if there is none. Where only
    /// the value is tagged, the let becomes so: no tag is lost.
    const Named *relative_of(const Expr &value, const Expr &known) {
        const auto [rest, constant] = parts(known);
        auto it = named_.find(rest);
        if (it == named_.end()) {
            return nullptr;
        }
        Named &relative = it->second;
        if (contains_likely(value)) {
            const Expr there = at(relative.place, value);
            if (!there.defined()) {
                return nullptr;
            }
            relative.tagged = simplify(there - int(constant - relative.constant));
        }
        return &relative;
    }

    /// An expanded value as a let around and a constant, if it is that; else as it is. A let whose
    /// value is too large to expand others with stands for itself in them.
    Expr by_relative(const Expr &known) const {
        if (!known.defined()) {
            return known;
        }
        const auto [rest, constant] = parts(known);
        const auto it = rest.as<Variable>() ? named_.end() : named_.find(rest);
        return it == named_.end() ? known
                                  : simplify(Variable::make(Int(32), it->second.name) +
                                             int(constant - it->second.constant));
    }

    /// Lets in an expression whose values are those of lets around, or differ by a constant.
    class RelateInner : public GraphMutator {
    public:
        explicit RelateInner(const RelateLets &relate) : relate_(relate) {
        }

    private:
        using GraphMutator::visit;
        Expr visit(const Let *op) override {
            const Expr known = contains_likely(op->value) ? Expr() : relate_.expanded(op->value);
            const Expr related = relate_.by_relative(known);
            return related.same_as(known) ? GraphMutator::visit(op)
                                          : Let::make(op->name, related, mutate(op->body));
        }
        const RelateLets &relate_;
    };

    /// A value in terms of what is known where the let at that place in open_ stands; undefined if
    /// it cannot be.
    Expr at(size_t place, Expr value) const {
        for (size_t i = open_.size(); i-- > place;) {
            if (uses_var(value, open_[i].first)) {
                if (!open_[i].second.defined() || i == place) {
                    return Expr();
                }
                value = substitute(open_[i].first, open_[i].second, value);
            }
        }
        return value;
    }

    /// The ends of regions are smallest and largest of several: those that are alike count once.
    Expr without_alike(const Expr &e) const {
        const Min *min = e.as<Min>();
        const Max *max = e.as<Max>();
        return min ? one_or_both(min, e) : max ? one_or_both(max, e) : e;
    }

    template<typename T>
    Expr one_or_both(const T *op, const Expr &e) const {
        const Expr a = without_alike(op->a), b = without_alike(op->b);
        const Expr known_a = by_relative(expanded(a)), known_b = by_relative(expanded(b));
        if (known_a.defined() && known_b.defined() && equal(known_a, known_b)) {
            return contains_likely(a) ? a : b;
        }
        return a.same_as(op->a) && b.same_as(op->b) ? e : T::make(a, b);
    }

    /// Of the smallest and largest of two in a value of a kernel, the one that it always is: regions
    /// that cannot be smaller than a block need no clamp.
    class DropOtherSides : public Mutator {
    public:
        explicit DropOtherSides(const RelateLets &relate) : relate_(relate) {
        }

    private:
        using Mutator::visit;
        Expr visit(const Min *op) override {
            return relate_.is_never_more(op->a, op->b)   ? mutate(op->a)
                   : relate_.is_never_more(op->b, op->a) ? mutate(op->b)
                                                         : Mutator::visit(op);
        }
        Expr visit(const Max *op) override {
            return relate_.is_never_more(op->a, op->b)   ? mutate(op->b)
                   : relate_.is_never_more(op->b, op->a) ? mutate(op->a)
                                                         : Mutator::visit(op);
        }
        const RelateLets &relate_;
    };

    bool is_never_more(const Expr &a, const Expr &b) const {
        const Expr known_a = expanded(a), known_b = expanded(b);
        return known_a.defined() && known_b.defined() && can_prove(known_a <= known_b, ranges_);
    }

    Stmt visit(const LetStmt *op) override {
        Expr own = is_comparable(op->value) ? without_alike(op->value) : op->value;
        if (in_kernel_ && is_comparable(own)) {
            own = DropOtherSides(*this).Mutator::mutate(own);
        }
        const Expr known = expanded(own);
        if (!known.defined()) {
            return with_body(op, own);
        }
        if (is_const(known)) {
            return with_body(op, known);
        }
        if (in_kernel_) {
            ScopedBinding<Expr> bind(is_small(known), values_, op->name, known);
            return with_body(op, own);
        }
        const auto [rest, constant] = parts(known);
        if (const Named *relative = relative_of(own, known)) {
            const Expr value =
                Variable::make(Int(32), relative->name) + int(constant - relative->constant);
            // In the form that the relative has in others.
            const Expr *form = values_.find(relative->name);
            const Expr same = form ? simplify(*form + int(constant - relative->constant)) : value;
            ScopedBinding<Expr> bind(values_, op->name, same);
            return with_body(op, value);
        }
        ScopedBinding<Expr> bind(is_small(known), values_, op->name, known);
        // One that is not related only because tags would be lost gives way.
        const auto outer = named_.extract(rest);
        named_[rest] = {op->name, constant, open_.size(), Expr()};
        const Stmt result = with_body(op, own);
        const Expr tagged = named_.at(rest).tagged;
        named_.erase(rest);
        if (outer) {
            named_[rest] = outer.mapped();
        }
        const LetStmt *let = result.as<LetStmt>();
        return tagged.defined() && !contains_likely(own)
                   ? LetStmt::make(let->name, tagged, let->body)
                   : result;
    }

    Stmt with_body(const LetStmt *op, const Expr &value) {
        open_.emplace_back(op->name, value);
        const Stmt body = mutate(op->body);
        open_.pop_back();
        changed = changed || !value.same_as(op->value);
        return value.same_as(op->value) && body.same_as(op->body)
                   ? Stmt(op)
                   : LetStmt::make(op->name, value, body);
    }

    Stmt visit(const For *op) override {
        const Expr extent = constant_or(op->extent);
        open_.emplace_back(op->name, Expr());
        const bool around =
            std::exchange(in_kernel_, in_kernel_ || op->for_type == ForType::GPUBlock);
        const auto first = as_const_int(op->min), number = as_const_int(extent);
        const bool is_known = first && number && *number > 0 && ranges_.bounds.count(op->name) == 0;
        if (is_known) {
            ranges_.bound(op->name, *first, *first + *number - 1);
        }
        const Stmt body = mutate(op->body);
        if (is_known) {
            ranges_.bounds.erase(op->name);
        }
        in_kernel_ = around;
        open_.pop_back();
        return extent.same_as(op->extent) && body.same_as(op->body)
                   ? Stmt(op)
                   : with(op, &For::extent, extent, &For::body, body);
    }

    Stmt visit(const Allocate *op) override {
        std::vector<Expr> extents;
        bool same = true;
        for (const Expr &extent : op->extents) {
            extents.push_back(constant_or(extent));
            same = same && extents.back().same_as(extent);
        }
        const Stmt body = mutate(op->body);
        return same && body.same_as(op->body)
                   ? Stmt(op)
                   : with(op, &Allocate::extents, extents, &Allocate::body, body);
    }

    bool in_kernel_ = false;
    SimplifyContext ranges_;  ///< of loops around
    Scope<Expr> values_;
    /// Lets with their values, and loops without, around; outermost first.
    std::vector<std::pair<std::string, Expr>> open_;
    std::map<Expr, Named, ExprDeepLess> named_;
};

}  // namespace

Stmt relate_lets(const Stmt &s, LowerContext &ctx) {
    RelateLets relate;
    const Stmt related = relate.mutate(s);
    const Stmt result = relate.changed ? simplify(related) : s;
    return ctx.target.has_gpu_feature() ? result : propagate_likely(result);
}

}  // namespace calotype::internal
