// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// min(p, q) - min(r, s) lies between p - r and q - s, and between p - s and q - r; min(p, q) - b is
// at most p - b and at most q - b. The same holds of maxima, the other way round.
#include "arith/difference_range.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "arith/linear_form.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/expr_nodes.h"
#include "ir/queries.h"

namespace calotype::internal {

namespace {

/// Nested minima and maxima are looked into so far.
constexpr int most_levels = 2;
/// Of difference_of_nested: so many values are compared.
constexpr size_t most_leaves = 8;

/// A value and a constant that is added to it.
struct Shifted {
    Expr value;
    int64_t by = 0;
};

Shifted shifted(const Expr &e) {
    if (const Add *op = e.as<Add>()) {
        if (const auto c = as_const_int(op->b)) {
            return {op->a, *c};
        }
    }
    if (const auto c = as_const_int(e)) {
        return {make_zero(e.type()), *c};
    }
    return {e, 0};
}

/// The operands of a minimum or maximum.
struct Extremum {
    Expr a, b;
    bool is_min;
};

std::optional<Extremum> as_extremum(const Expr &e) {
    if (const Min *op = e.as<Min>()) {
        return Extremum{op->a, op->b, true};
    }
    if (const Max *op = e.as<Max>()) {
        return Extremum{op->a, op->b, false};
    }
    return std::nullopt;
}

ConstRange range_of(const Expr &e, const Expr &f, int levels);

/// Of x - b.
ConstRange of_extremum(const Extremum &x, const Expr &b, int levels) {
    const ConstRange first = range_of(x.a, b, levels), second = range_of(x.b, b, levels);
    ConstRange both = union_of(first, second);
    const auto &p = x.is_min ? first.max : first.min, &q = x.is_min ? second.max : second.min;
    auto &end = x.is_min ? both.max : both.min;
    end = p && q ? std::optional(x.is_min ? std::min(*p, *q) : std::max(*p, *q)) : p ? p : q;
    return both;
}

ConstRange range_of(const Expr &e, const Expr &f, int levels) {
    const Shifted a = shifted(e), b = shifted(f);
    const ConstRange apart = ConstRange::single(a.by) - ConstRange::single(b.by);
    if (equal(a.value, b.value) && is_pure(a.value)) {
        return apart;
    }
    const auto x = as_extremum(a.value), y = as_extremum(b.value);
    if (levels == 0 || (!x && !y)) {
        return ConstRange::everything();
    }
    ConstRange r = ConstRange::everything();
    if (x) {
        r = intersection(r, of_extremum(*x, b.value, levels - 1));
    }
    if (y) {
        r = intersection(r, ConstRange::single(0) - of_extremum(*y, a.value, levels - 1));
    }
    if (x && y && x->is_min == y->is_min) {
        r = intersection(
            r, union_of(range_of(x->a, y->a, levels - 1), range_of(x->b, y->b, levels - 1)));
        r = intersection(
            r, union_of(range_of(x->a, y->b, levels - 1), range_of(x->b, y->a, levels - 1)));
    }
    return r + apart;
}

/// The values whose minimum (or maximum) an expression is, as sums of multiples.
class Leaves {
public:
    Leaves(const Expr &e, bool is_min) : is_min_(is_min) {
        collect(e, 1, {});
    }
    std::vector<LinearForm> forms;

private:
    using Addends = std::vector<std::pair<Expr, int64_t>>;

    std::optional<Extremum> extremum(const Expr &e) const {
        const auto x = as_extremum(e);
        return x && x->is_min == is_min_ ? x : std::nullopt;
    }

    /// Whether there is one below sums and products with positive constants.
    bool has_extremum(const Expr &e) const {
        if (const Add *op = e.as<Add>()) {
            return has_extremum(op->a) || has_extremum(op->b);
        }
        const Mul *op = e.as<Mul>();
        return op ? is_positive_const(op->b) && has_extremum(op->a) : extremum(e).has_value();
    }

    void collect(const Expr &e, int64_t scale, Addends rest) {
        if (const auto x = extremum(e); x && forms.size() < most_leaves) {
            collect(x->a, scale, rest);
            collect(x->b, scale, std::move(rest));
            return;
        }
        const Add *sum = e.as<Add>();
        if (sum && has_extremum(e)) {
            const bool first = has_extremum(sum->a);
            rest.emplace_back(first ? sum->b : sum->a, scale);
            collect(first ? sum->a : sum->b, scale, std::move(rest));
            return;
        }
        const Mul *product = e.as<Mul>();
        if (product && has_extremum(e)) {
            const auto by = checked_mul(scale, *as_const_int(product->b));
            if (by) {
                collect(product->a, *by, std::move(rest));
                return;
            }
        }
        LinearForm form;
        form.add(e, scale);
        for (const auto &[addend, times] : rest) {
            form.add(addend, times);
        }
        forms.push_back(std::move(form));
    }

    const bool is_min_;
};

/// a - b, if it is a constant.
std::optional<int64_t> constant_difference(LinearForm a, const LinearForm &b) {
    for (const LinearForm::Term &term : b.terms) {
        a.add(term.value, -term.coefficient);
    }
    a.drop_zeros();
    return a.is_valid() && b.is_valid() && a.terms.empty() ? checked_sub(a.constant, b.constant)
                                                           : std::nullopt;
}

/// Of a - b, both minima: the largest that it can be. It is the difference from some value of b,
/// and at most that of any value of a from it. With maxima the smallest, likewise.
std::optional<int64_t> end_of_difference(const Expr &a, const Expr &b, bool is_min) {
    const Leaves from(a, is_min), to(b, is_min);
    std::optional<int64_t> end;
    for (const LinearForm &t : to.forms) {
        std::optional<int64_t> best;
        for (const LinearForm &f : from.forms) {
            const auto d = constant_difference(f, t);
            best = !d ? best : !best ? d : is_min ? std::min(*best, *d) : std::max(*best, *d);
        }
        if (!best) {
            return std::nullopt;
        }
        end = !end ? best : is_min ? std::max(*end, *best) : std::min(*end, *best);
    }
    return end;
}

}  // namespace

ConstantInterval difference_of_nested(const Expr &a, const Expr &b) {
    const Type t = a.type();
    ConstRange result = ConstRange::everything();
    if (t.is_int() && !t.can_overflow() && t.is_scalar()) {
        result.max = end_of_difference(a, b, true);
        result.min = end_of_difference(a, b, false);
    }
    return result;
}

ConstantInterval difference_range(const Expr &a, const Expr &b) {
    const Type t = a.type();
    if (!t.is_int() || t.can_overflow()) {
        return ConstRange::everything();
    }
    return range_of(a, b, most_levels);
}

}  // namespace calotype::internal
