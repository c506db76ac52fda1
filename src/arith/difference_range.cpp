// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// min(p, q) - min(r, s) lies between p - r and q - s, and between p - s and q - r; min(p, q) - b is
// at most p - b and at most q - b. The same holds of maxima, the other way round.
#include "arith/difference_range.h"

#include <algorithm>
#include <optional>

#include "arith/exact_types.h"
#include "arith/linear_form.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/expr_nodes.h"
#include "ir/queries.h"

namespace calotype::internal {

namespace {

/// Nested minima and maxima are looked into so far.
constexpr int most_levels = 2;

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

/// A sum with minima and maxima among its terms.
class SumRange {
public:
    ConstRange of(LinearForm form, int levels) const {
        form.drop_zeros();
        if (!form.is_valid()) {
            return ConstRange::everything();
        }
        if (form.terms.empty()) {
            return ConstRange::single(form.constant);
        }
        ConstRange r = ConstRange::everything();
        for (size_t i = 0; levels > 0 && i < form.terms.size(); i++) {
            if (as_extremum(form.terms[i].value)) {
                r = intersection(r, of_extremum(form, i, levels - 1));
            }
        }
        return r;
    }

private:
    static LinearForm without(LinearForm form, size_t i) {
        form.terms[i].coefficient = 0;
        return form;
    }
    static LinearForm plus(LinearForm form, const Expr &value, int64_t scale) {
        form.add(value, scale);
        return form;
    }

    ConstRange of_extremum(const LinearForm &form, size_t i, int levels) const {
        const Extremum x = *as_extremum(form.terms[i].value);
        const int64_t scale = form.terms[i].coefficient;
        const LinearForm rest = without(form, i);
        for (size_t j = i + 1; j < form.terms.size(); j++) {
            const auto y = as_extremum(form.terms[j].value);
            if (y && y->is_min == x.is_min && form.terms[j].coefficient == -scale) {
                return of_pair(without(rest, j), scale, x, *y, levels);
            }
        }
        const ConstRange a = of(plus(rest, x.a, scale), levels),
                         b = of(plus(rest, x.b, scale), levels);
        return x.is_min == (scale > 0) ? lower(a, b) : upper(a, b);
    }

    /// Of rest + scale * (x - y), both minima or both maxima.
    ConstRange of_pair(const LinearForm &rest, int64_t scale, const Extremum &x, const Extremum &y,
                       int levels) const {
        const auto apart = [&](const Expr &p, const Expr &q) {
            return of(plus(plus(rest, p, scale), q, -scale), levels);
        };
        return intersection(union_of(apart(x.a, y.a), apart(x.b, y.b)),
                            union_of(apart(x.a, y.b), apart(x.b, y.a)));
    }

    /// Of the smaller of two values.
    static ConstRange lower(const ConstRange &a, const ConstRange &b) {
        ConstRange r = union_of(a, b);
        r.max = a.max && b.max ? std::min(*a.max, *b.max) : a.max ? a.max : b.max;
        return r;
    }
    static ConstRange upper(const ConstRange &a, const ConstRange &b) {
        const ConstRange zero = ConstRange::single(0);
        return zero - lower(zero - a, zero - b);
    }
};

}  // namespace

ConstantInterval sum_range(const Expr &e) {
    const Type t = e.type();
    if (!is_exact_int(t) || !is_pure(e)) {
        return ConstRange::everything();
    }
    return SumRange().of(LinearForm(e), most_levels + 1);
}

ConstantInterval difference_range(const Expr &a, const Expr &b) {
    const Type t = a.type();
    if (!is_exact_int(t)) {
        return ConstRange::everything();
    }
    return range_of(a, b, most_levels);
}

}  // namespace calotype::internal
