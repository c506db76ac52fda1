// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/correlated_differences.h"

#include <map>
#include <set>

#include "arith/ends.h"
#include "arith/monotonic.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/field_walk.h"
#include "ir/mutator.h"
#include "ir/queries.h"

namespace calotype::internal {

namespace {

/// Larger expressions are not looked at.
constexpr int largest = 256;

/// How often each variable occurs in e, taken as a tree.
void count_variables(const Expr &e, std::map<std::string, int> *counts) {
    if (!e.defined()) {
        return;
    }
    if (const Variable *v = e.as<Variable>()) {
        (*counts)[v->name]++;
        return;
    }
    dispatch(e.get(), [&](const auto *node) {
        for_each_child(*node, [&](const auto &child) {
            if constexpr (std::is_same_v<std::decay_t<decltype(child)>, Expr>) {
                count_variables(child, counts);
            }
        });
    });
}

std::map<std::string, int> variable_counts(const Expr &e) {
    std::map<std::string, int> counts;
    if (ends::tree_size(e, largest) < largest) {
        count_variables(e, &counts);
    }
    return counts;
}

Movement reversed(Movement d) {
    return d == Up ? Down : d == Down ? Up : Either;
}

Movement times(Movement d, const Expr &factor) {
    return is_positive_const(factor) ? d : is_negative_const(factor) ? reversed(d) : Either;
}

/// Collects the directions of all occurrences of each variable.
void collect_directions(const Expr &e, Movement d, Directions *result) {
    if (!e.defined()) {
        return;
    }
    const auto both = [&](const auto *op, Movement of_b) {
        collect_directions(op->a, d, result);
        collect_directions(op->b, of_b, result);
    };
    if (const Variable *op = e.as<Variable>()) {
        (*result)[op->name] |= d;
    } else if (const Add *op = e.as<Add>()) {
        both(op, d);
    } else if (const Sub *op = e.as<Sub>()) {
        both(op, reversed(d));
    } else if (const Min *op = e.as<Min>()) {
        both(op, d);
    } else if (const Max *op = e.as<Max>()) {
        both(op, d);
    } else if (const Mul *op = e.as<Mul>()) {
        collect_directions(op->a, times(d, op->b), result);
        collect_directions(op->b, times(d, op->a), result);
    } else if (const Div *op = e.as<Div>()) {
        collect_directions(op->a, times(d, op->b), result);
        collect_directions(op->b, Either, result);
    } else {
        dispatch(e.get(), [&](const auto *node) {
            for_each_child(*node, [&](const auto &child) {
                if constexpr (std::is_same_v<std::decay_t<decltype(child)>, Expr>) {
                    collect_directions(child, Either, result);
                }
            });
        });
    }
}

bool mentions_any(const Expr &e, const Scope<Interval> &vars) {
    for (const std::string &name : free_variables(e)) {
        if (vars.contains(name)) {
            return true;
        }
    }
    return false;
}

/// True if the interval's ends can stand in for the variable.
bool is_usable(const Interval *i, const Scope<Interval> &vars) {
    return i && i->is_bounded() && !i->is_single_point() && !mentions_any(i->min, vars) &&
           !mentions_any(i->max, vars);
}

bool is_exact_int(Type t) {
    return t.is_int() && !t.can_overflow() && t.is_scalar();
}

/// The terms of a sum with their factors; equal terms together.
struct Terms {
    std::map<Expr, int64_t, ExprDeepLess> factors;
    size_t count = 0;
    bool overflow = false;

    void add(const Expr &e, int64_t factor) {
        const Add *add_op = e.as<Add>();
        const Sub *sub_op = e.as<Sub>();
        const Mul *mul_op = e.as<Mul>();
        if (add_op) {
            add(add_op->a, factor);
            add(add_op->b, factor);
        } else if (sub_op) {
            add(sub_op->a, factor);
            add(sub_op->b, -factor);
        } else if (const auto k = mul_op ? as_const_int(mul_op->b) : std::nullopt) {
            const auto product = checked_mul(factor, *k);
            overflow = overflow || !product || *product == INT64_MIN;
            add(mul_op->a, overflow ? 0 : *product);
        } else {
            count++;
            int64_t &sum = factors[e];
            const auto next = checked_add(sum, factor);
            overflow = overflow || !next;
            sum = next.value_or(0);
        }
    }
};

}  // namespace

Expr cancel_like_terms(const Expr &e) {
    if (!is_exact_int(e.type())) {
        return e;
    }
    Terms terms;
    terms.add(e, 1);
    if (terms.count == terms.factors.size()) {
        return e;
    }
    Expr result;
    for (const auto &[term, factor] : terms.factors) {
        if (terms.overflow || !e.type().can_represent(factor)) {
            return e;
        }
        if (factor == 0) {
            continue;
        }
        const Expr part = factor == 1 ? term : Mul::make(term, make_const(e.type(), factor));
        result = result.defined() ? Add::make(result, part) : part;
    }
    return result.defined() ? result : make_zero(e.type());
}

Directions variable_directions(const Expr &e) {
    Directions result;
    if (ends::tree_size(e, largest) < largest) {
        collect_directions(e, Up, &result);
    }
    return result;
}

bool has_opposed_variable(const Expr &e, const Scope<Interval> &vars) {
    if (!is_exact_int(e.type())) {
        return false;
    }
    for (const auto &[name, directions] : variable_directions(e)) {
        if (directions == Either && is_usable(vars.find(name), vars)) {
            return true;
        }
    }
    return false;
}

namespace {

/// The bounds of a sum whose opposed variables occur in a min or max and beside it:
///   max(p, q) + rest  =  max(p + rest, q + rest), where terms may cancel.
class CorrelatedBounds {
public:
    CorrelatedBounds(const Scope<Interval> &vars, const FuncValueBounds &funcs)
        : vars_(vars), funcs_(funcs) {
    }

    Interval find(const Expr &e, int depth) const {
        const Expr like = cancel_like_terms(e);
        if (depth > 0 && has_opposed_variable(like, vars_)) {
            Interval split;
            if (split_choice(like, depth, &split)) {
                return split;
            }
        }
        return by_monotonic_variables(simplify(like));
    }

private:
    /// Pull a min or max to the outside of a sum.
    bool split_choice(const Expr &e, int depth, Interval *result) const {
        Terms terms;
        terms.add(e, 1);
        for (const auto &[term, factor] : terms.factors) {
            const Min *min = term.as<Min>();
            const Max *max = term.as<Max>();
            if ((!min && !max) || factor == 0 || terms.factors.size() < 2) {
                continue;
            }
            const Expr &p = min ? min->a : max->a, &q = min ? min->b : max->b;
            const Expr k = make_const(e.type(), factor);
            const Expr rest = Sub::make(e, Mul::make(term, k));
            const Interval a = find(Add::make(rest, Mul::make(p, k)), depth - 1);
            const Interval b = find(Add::make(rest, Mul::make(q, k)), depth - 1);
            *result = (factor > 0) == (max != nullptr) ? larger(a, b) : smaller(a, b);
            return true;
        }
        return false;
    }

    static Interval larger(const Interval &a, const Interval &b) {
        return {ends::max_or_other(a.min, b.min), ends::max(a.max, b.max)};
    }
    static Interval smaller(const Interval &a, const Interval &b) {
        return {ends::min(a.min, b.min), ends::min_or_other(a.max, b.max)};
    }

    Interval by_monotonic_variables(const Expr &e) const {
        Expr low = e, high = e;
        for (const auto &[name, directions] : variable_directions(e)) {
            const Interval *i = vars_.find(name);
            if (directions != Either || !is_usable(i, vars_)) {
                continue;
            }
            const Monotonic m = is_monotonic(e, name);
            if (m == Monotonic::Unknown) {
                continue;
            }
            // Monotonic for any value of the others, so ends can be put in one variable at a time.
            const bool falls = m == Monotonic::Decreasing;
            low = substitute(name, falls ? i->max : i->min, low);
            high = substitute(name, falls ? i->min : i->max, high);
        }
        if (low.same_as(e) && high.same_as(e)) {
            return bounds_of_expr(e, vars_, funcs_);
        }
        return {bounds_of_expr(simplify(low), vars_, funcs_).min,
                bounds_of_expr(simplify(high), vars_, funcs_).max};
    }

    const Scope<Interval> &vars_;
    const FuncValueBounds &funcs_;
};

}  // namespace

Interval bounds_of_correlated(const Expr &e, const Scope<Interval> &vars,
                              const FuncValueBounds &funcs) {
    if (!has_opposed_variable(e, vars)) {
        return bounds_of_expr(e, vars, funcs);
    }
    return CorrelatedBounds(vars, funcs).find(e, 3);
}

namespace {

class Canceller : public Mutator {
public:
    using Mutator::mutate;

protected:
    using Mutator::visit;

    Expr visit(const Add *op) override {
        return cancel(op);
    }
    Expr visit(const Sub *op) override {
        return cancel(op);
    }

    Expr visit(const Let *op) override {
        const Expr value = mutate(op->value);
        auto hidden = bind(op->name, value);
        const Expr body = mutate(op->body);
        unbind(op->name, std::move(hidden));
        const bool same = value.same_as(op->value) && body.same_as(op->body);
        return same ? Expr(op) : Let::make(op->name, value, body);
    }

    Stmt visit(const LetStmt *op) override {
        const Expr value = mutate(op->value);
        auto hidden = bind(op->name, value);
        const Stmt body = mutate(op->body);
        unbind(op->name, std::move(hidden));
        const bool same = value.same_as(op->value) && body.same_as(op->body);
        return same ? Stmt(op) : LetStmt::make(op->name, value, body);
    }

    Stmt visit(const For *op) override {
        const Expr min = mutate(op->min), extent = mutate(op->extent);
        auto hidden = bind(op->name, Expr());
        const Stmt body = mutate(op->body);
        unbind(op->name, std::move(hidden));
        const bool same =
            min.same_as(op->min) && extent.same_as(op->extent) && body.same_as(op->body);
        return same ? Stmt(op)
                    : For::make(op->name, min, extent, op->for_type, op->partition, op->device_api,
                                body);
    }

private:
    using Values = std::map<std::string, Expr>;

    /// What to put back when a binding ends: all values, if some had to be forgotten.
    struct Hidden {
        bool is_all = false;
        Values values;
    };

    /// Make `name` known (with a value, if it can be put in place of the name), and forget the
    /// values that mean another variable of this name.
    Hidden bind(const std::string &name, const Expr &value) {
        Hidden hidden;
        if (values_.count(name) || mentioned_.count(name)) {
            hidden = {true, values_};
            for (auto it = values_.begin(); it != values_.end();) {
                const bool stale = it->first == name || uses_var(it->second, name);
                it = stale ? values_.erase(it) : std::next(it);
            }
        }
        if (value.defined() && is_exact_int(value.type()) && ends::tree_size(value, 32) < 32 &&
            is_pure(value) && !uses_var(value, name) && !contains_kind(value, NodeKind::Load)) {
            values_.emplace(name, value);
            for (const std::string &used : free_variables(value)) {
                mentioned_.insert(used);
            }
        }
        return hidden;
    }

    void unbind(const std::string &name, Hidden hidden) {
        values_.erase(name);
        if (hidden.is_all) {
            values_ = std::move(hidden.values);
        }
    }

    template<typename T>
    Expr cancel(const T *op) {
        if (!is_exact_int(op->type) || values_.empty()) {
            return Mutator::visit(op);
        }
        const Expr expanded = expand(op);
        if (!expanded.same_as(op)) {
            int before = 0, after = 0;
            const Expr simple = simplify(expanded);
            for (const auto &[name, count] : variable_counts(expanded)) {
                before += count;
            }
            for (const auto &[name, count] : variable_counts(simple)) {
                after += count;
            }
            if (after < before) {
                return simple;
            }
        }
        return Mutator::visit(op);
    }

    /// With lets replaced by their values, and those of the lets in there.
    Expr expand(const Expr &e) const {
        Expr result = e;
        for (int depth = 0; depth < 8; depth++) {
            Values found;
            for (const std::string &name : free_variables(result)) {
                if (auto it = values_.find(name); it != values_.end()) {
                    found.insert(*it);
                }
            }
            const Expr next = found.empty() ? result : substitute(found, result);
            if (found.empty() || ends::tree_size(next, largest) == largest) {
                break;
            }
            result = next;
        }
        return result;
    }

    Values values_;
    std::set<std::string> mentioned_;  ///< free in some value so far
};

}  // namespace

Expr cancel_correlated_differences(const Expr &e) {
    return Canceller().mutate(e);
}

Stmt cancel_correlated_differences(const Stmt &s) {
    return Canceller().mutate(s);
}

}  // namespace calotype::internal
