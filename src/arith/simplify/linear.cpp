// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of many terms. Rules see two or three terms in fixed places; here a whole tree of +, - and
// multiplication by constants is taken as
//
//     coefficient * term + coefficient * term + ... + constant
//
// and equal terms are merged wherever they stand. An expression is rebuilt only if a term
// disappears or a coefficient shrinks, which is what makes this end. For int32 and int64 alone,
// which do not wrap.

#include <algorithm>

#include "arith/exact_types.h"
#include "arith/linear_form.h"
#include "arith/simplify/const_range.h"
#include "arith/simplify/simplifier.h"
#include "ir/constants.h"
#include "ir/equality.h"

namespace calotype::internal {

namespace {

using Term = LinearForm::Term;

Expr scaled(Simplifier &s, Type t, const Expr &e, int64_t by) {
    return t.can_represent(by) ? s.mul(e, make_const(t, by)) : Expr();
}

// The sum in type t, simplified; coefficients that t cannot hold give undefined.
Expr rebuild(const LinearForm &form, Simplifier &s, Type t) {
    Expr sum;
    for (const Term &term : form.terms) {
        if (term.coefficient > 0) {
            Expr part = scaled(s, t, term.value, term.coefficient);
            sum = sum.defined() && part.defined() ? s.add(sum, part) : part;
            if (!sum.defined()) {
                return sum;
            }
        }
    }
    if (!t.can_represent(form.constant)) {
        return Expr();
    }
    int64_t rest = form.constant;
    if (!sum.defined()) {
        sum = make_const(t, rest);
        rest = 0;
    }
    for (const Term &term : form.terms) {
        if (term.coefficient < 0) {
            Expr part = scaled(s, t, term.value, -term.coefficient);
            if (!part.defined()) {
                return part;
            }
            sum = s.sub(sum, part);
        }
    }
    return rest == 0 ? sum : s.add(sum, make_const(t, rest));
}

// Puts the values of lets in place of their names; true if there was one.
bool expand_lets(LinearForm *form, const Facts &facts) {
    std::vector<Term> old = std::move(form->terms);
    form->terms.clear();
    bool expanded = false;
    for (const Term &t : old) {
        const auto *v = t.value.as<Variable>();
        const Expr value = v ? facts.value_of(v->name) : Expr();
        expanded = expanded || value.defined();
        form->add(value.defined() ? value : t.value, t.coefficient);
    }
    return expanded;
}

// True if the sum of all coefficients is zero, as it is for the difference of two places.
bool is_balanced(const LinearForm &form) {
    int64_t sum = 0;
    for (const Term &t : form.terms) {
        if (__builtin_add_overflow(sum, t.coefficient, &sum)) {
            return false;
        }
    }
    return sum == 0;
}

LinearForm difference_of(const Expr &a, const Expr &b) {
    LinearForm difference(a);
    difference.add(b, -1);
    return difference;
}

template<typename T>
bool operands_parallel(const Expr &p, const Expr &q, Expr *x, Expr *z) {
    const T *a = p.as<T>(), *b = q.as<T>();
    if (!a || !b) {
        return false;
    }
    for (bool turned : {false, true}) {
        const Expr &c = turned ? b->b : b->a, &d = turned ? b->a : b->b;
        LinearForm difference = difference_of(a->a, a->b);
        difference.add(c, -1);
        difference.add(d, 1);
        if (difference.is_zero()) {
            *x = a->a;
            *z = c;
            return true;
        }
    }
    return false;
}

// True if p and q are both min or both max, of operands as far from each other; x and z become
// operands that correspond.
bool are_parallel(const Expr &p, const Expr &q, Expr *x, Expr *z) {
    return operands_parallel<Min>(p, q, x, z) || operands_parallel<Max>(p, q, x, z);
}

// min(a, b) - min(c, d) is a - c, wherever it stands, if a - b == c - d; the same for max. True if
// such a pair was found and has gone.
bool cancel_extrema(LinearForm *form) {
    std::vector<Term> &terms = form->terms;
    for (size_t i = 0; i < terms.size(); i++) {
        for (size_t j = i + 1; j < terms.size(); j++) {
            Expr x, z;
            if (terms[i].coefficient == -terms[j].coefficient &&
                are_parallel(terms[i].value, terms[j].value, &x, &z)) {
                const int64_t scale = terms[i].coefficient;
                terms.erase(terms.begin() + long(j));
                terms.erase(terms.begin() + long(i));
                form->add(x, scale);
                form->add(z, -scale);
                return true;
            }
        }
    }
    return false;
}

// p / d and q / d, with the same d > 0: the numerators, and d.
struct Quotients {
    Expr p, q;
    int64_t divisor;
};

std::optional<Quotients> quotients(const Expr &a, const Expr &b) {
    const auto *p = a.as<Div>(), *q = b.as<Div>();
    const int64_t divisor = p ? as_const_int(p->b).value_or(0) : 0;
    return q && divisor > 0 && is_const(q->b, divisor) && is_exact_int(a.type())
               ? std::optional<Quotients>({p->a, q->a, divisor})
               : std::nullopt;
}

// All cancellations there are.
void cancel(LinearForm *form) {
    while (form->is_valid() && cancel_extrema(form)) {
    }
    form->drop_zeros();
}

bool is_sum(const Expr &e) {
    return e.as<Add>() || e.as<Sub>();
}

// Also a sum below a constant factor.
bool may_hold_sum(const Expr &e) {
    const auto *mul = e.as<Mul>();
    return is_sum(e) || (mul && is_sum(mul->a) && is_const(mul->b));
}

bool is_extremum(const Expr &e) {
    const auto *mul = e.as<Mul>();
    const Expr &inner = mul && is_const(mul->b) ? mul->a : e;
    return inner.kind() == NodeKind::Min || inner.kind() == NodeKind::Max;
}

// A difference of minima or maxima, or of their multiples.
bool are_extrema(NodeKind op, const Expr &a, const Expr &b) {
    return op == NodeKind::Sub && a.kind() == b.kind() && is_extremum(a) && is_extremum(b);
}

// Names of lets hide what two sums have in common. Looks into them, several levels deep, for the
// form of `sum` with the fewest terms; true if there is one with fewer terms than `sum` has.
bool shrink_by_lets(LinearForm *sum, const Facts &facts) {
    constexpr int max_levels = 4;
    LinearForm form = *sum;
    size_t fewest = form.terms.size();
    bool shrunk = false;
    for (int level = 0; level < max_levels && !form.terms.empty() && expand_lets(&form, facts);
         level++) {
        cancel(&form);
        if (!form.is_valid()) {
            break;
        }
        if (form.terms.size() < fewest) {
            fewest = form.terms.size();
            *sum = form;
            shrunk = true;
        }
    }
    return shrunk;
}

}  // namespace

// a - b where it is a constant, if need be by looking into lets.
std::optional<int64_t> Simplifier::difference_by_lets(const Expr &a, const Expr &b) {
    const bool sums = may_hold_sum(a) || may_hold_sum(b);
    if (!is_exact_int(a.type()) || a.type().is_vector() || !(sums || facts_.has_values())) {
        return std::nullopt;
    }
    LinearForm difference = difference_of(a, b);
    cancel(&difference);
    if (!difference.is_valid() || !is_balanced(difference)) {
        return std::nullopt;
    }
    if (!difference.terms.empty()) {
        shrink_by_lets(&difference, facts_);
    }
    return difference.terms.empty() ? std::optional(difference.constant) : std::nullopt;
}

// The same for a - b that keeps some terms, but fewer.
Expr Simplifier::shorter_by_lets(const Expr &a, const Expr &b) {
    if (!facts_.has_values()) {
        return Expr();
    }
    LinearForm difference = difference_of(a, b);
    cancel(&difference);
    const bool promising = difference.is_valid() && is_balanced(difference) && a.type().is_scalar();
    return promising && shrink_by_lets(&difference, facts_) ? rebuild(difference, *this, a.type())
                                                            : Expr();
}

Expr Simplifier::cancel_in_sum(NodeKind op, const Expr &a, const Expr &b) {
    const bool sums = may_hold_sum(a) || may_hold_sum(b),
               pairs = are_extrema(op, a, b) || (op == NodeKind::Sub && quotients(a, b));
    if (!is_exact_int(a.type())) {
        return Expr();
    }
    if (op == NodeKind::Sub) {
        if (Expr shorter = shorter_by_lets(a, b); shorter.defined()) {
            return shorter;
        }
    }
    if (!(sums || pairs)) {
        return Expr();
    }
    LinearForm sum(a);
    sum.add(b, op == NodeKind::Add ? 1 : -1);
    if (!shorten(&sum)) {
        return Expr();
    }
    return rebuild(sum, *this, a.type());
}

// True if terms have met, or a pair of them has become less.
bool Simplifier::shorten(LinearForm *form) {
    if (!form->is_valid() ||
        !(cancel_extrema(form) || join_quotients(form) || form->has_merged()) ||
        !form->is_valid()) {
        return false;
    }
    form->drop_zeros();
    return true;
}

// (q + c) / d - q / d is (q % d + c) / d, and so has a small range: numerators that are a constant
// apart may have nothing in common that one sees, as min(x + c, y) and min(x, y - c).
bool Simplifier::join_quotients(LinearForm *sum) {
    std::vector<Term> &terms = sum->terms;
    for (size_t i = 0; i < terms.size(); i++) {
        for (size_t j = i + 1; j < terms.size(); j++) {
            const auto pair = quotients(terms[i].value, terms[j].value);
            if (!pair || terms[i].coefficient != -terms[j].coefficient) {
                continue;
            }
            LinearForm apart = difference_of(pair->p, pair->q);
            cancel(&apart);
            if (!apart.is_valid() || !apart.terms.empty() || apart.constant == INT64_MIN) {
                continue;
            }
            const bool first = apart.constant >= 0;
            const Type t = pair->p.type();
            const int64_t distance = std::abs(apart.constant), scale = terms[i].coefficient;
            if (!t.can_represent(distance)) {
                continue;
            }
            const Expr divisor = make_const(t, pair->divisor),
                       rest = binary(NodeKind::Mod, first ? pair->q : pair->p, divisor);
            terms.erase(terms.begin() + long(j));
            terms.erase(terms.begin() + long(i));
            sum->add(binary(NodeKind::Div, add(rest, make_const(t, distance)), divisor),
                     first ? scale : -scale);
            return true;
        }
    }
    return false;
}

Expr Simplifier::cancel_in_comparison(NodeKind op, const Expr &a, const Expr &b) {
    const Type t = a.type();
    const bool sums = may_hold_sum(a) || may_hold_sum(b),
               extrema = are_extrema(NodeKind::Sub, a, b);
    if (!is_exact_int(t)) {
        return Expr();
    }
    if (const auto difference = difference_by_lets(a, b)) {
        return make_const(Bool(), op == NodeKind::LT ? *difference < 0 : *difference == 0);
    }
    if (!(sums || extrema)) {
        return Expr();
    }
    LinearForm difference = difference_of(a, b);
    if (!shorten(&difference)) {
        return Expr();
    }
    LinearForm left, right;
    for (const Term &term : difference.terms) {
        if (term.coefficient > 0) {
            left.terms.push_back(term);
        } else {
            right.terms.push_back({term.value, -term.coefficient});
        }
    }
    if (difference.constant == INT64_MIN) {
        return Expr();
    }
    (difference.constant > 0 ? left : right).constant = std::abs(difference.constant);
    const Expr x = rebuild(left, *this, t), y = rebuild(right, *this, t);
    const bool are_values = x.defined() && y.defined() && !may_overflow(x) && !may_overflow(y);
    return are_values ? binary(op, x, y) : Expr();
}

// ramp(x + c0, s) < broadcast(x + c1) = ramp(c0 - c1, s) < 0, so that masks of the first lanes of a vector are constants.
Expr Simplifier::cancel_in_lanes(NodeKind op, const Expr &a, const Expr &b) {
    const bool is_first = a.as<Ramp>() != nullptr;
    const Ramp *lanes = (is_first ? a : b).as<Ramp>();
    const Broadcast *other = (is_first ? b : a).as<Broadcast>();
    if (!lanes || !other || lanes->base.type() != other->value.type() || is_const(other->value) ||
        !is_exact_int(other->value.type())) {
        return Expr();
    }
    std::optional<int64_t> difference = difference_by_lets(lanes->base, other->value);
    difference = difference ? difference : as_const_int(sub(lanes->base, other->value));
    const Type t = other->value.type();
    if (!difference || !t.can_represent(*difference)) {
        return Expr();
    }
    const Expr rest = ramp(make_const(t, *difference), lanes->stride, lanes->lanes),
               zero = Broadcast::make(make_zero(t), lanes->lanes);
    return is_first ? binary(op, rest, zero) : binary(op, zero, rest);
}

namespace {

// numerator = divisor * quotient + rest, with as little as possible in rest.
struct Split {
    LinearForm quotient, rest;
    bool useful = false;
};

Split split_by(const LinearForm &numerator, int64_t divisor) {
    Split s;
    for (const Term &t : numerator.terms) {
        if (t.coefficient % divisor == 0) {
            s.quotient.terms.push_back({t.value, t.coefficient / divisor});
            s.useful = true;
        } else {
            s.rest.terms.push_back(t);
        }
    }
    s.quotient.constant = euclidean_div(numerator.constant, divisor);
    s.rest.constant = euclidean_mod(numerator.constant, divisor);
    s.useful = s.useful || s.quotient.constant != 0;
    return s;
}

bool has_multiple(const LinearForm &sum, int64_t divisor) {
    return std::any_of(sum.terms.begin(), sum.terms.end(), [&](const Term &t) {
        return t.coefficient != 0 && t.coefficient % divisor == 0;
    });
}

// In let x = i * 2 + b, the name hides that x / 2 is i + b / 2, and that x % 2 is the same for all i.
void look_for_multiples(LinearForm *numerator, int64_t divisor, const Facts &facts) {
    constexpr size_t max_terms = 4;
    if (has_multiple(*numerator, divisor)) {
        return;
    }
    LinearForm expanded = *numerator;
    if (!expand_lets(&expanded, facts) || !expanded.is_valid()) {
        return;
    }
    expanded.drop_zeros();
    if (expanded.terms.size() <= max_terms && has_multiple(expanded, divisor)) {
        *numerator = expanded;
    }
}

// Of a sum, or a name that may stand for one.
std::optional<LinearForm> numerator_of(const Expr &a, int64_t divisor, const Facts &facts) {
    const bool is_name = a.as<Variable>() && facts.has_values();
    if (divisor <= 1 || !(may_hold_sum(a) || is_name)) {
        return std::nullopt;
    }
    LinearForm numerator(a);
    if (!numerator.is_valid()) {
        return std::nullopt;
    }
    numerator.drop_zeros();
    if (facts.has_values()) {
        look_for_multiples(&numerator, divisor, facts);
    }
    return numerator;
}

}  // namespace

// ramp(d*q + r, s) % d = ramp(r, s) % d, which a loop over q need not compute again.
Expr Simplifier::remainder_of_ramp(const Ramp &ramp, const Expr &b) {
    const int64_t divisor = as_const_int(b).value_or(0);
    const auto base = numerator_of(ramp.base, divisor, facts_);
    if (!base) {
        return Expr();
    }
    const Split s = split_by(*base, divisor);
    const Expr rest = s.useful ? rebuild(s.rest, *this, ramp.base.type()) : Expr();
    return rest.defined() && !may_overflow(rest)
               ? binary(NodeKind::Mod, this->ramp(rest, ramp.stride, ramp.lanes), b)
               : Expr();
}

// (d*q + r) / d = q + r/d and (d*q + r) % d = r % d; where the terms of r and d share the factor g,
// (g*k + c) / (g*m) = (k + c/g) / m and (g*k + c) % (g*m) = g * ((k + c/g) % m) + c % g.
Expr Simplifier::divide_terms(NodeKind op, const Expr &a, const Expr &b) {
    const Type t = a.type();
    const auto divisor = as_const_int(b);
    if (!is_exact_int(t) || !divisor) {
        return Expr();
    }
    if (const Ramp *ramp = a.as<Ramp>()) {
        return op == NodeKind::Mod ? remainder_of_ramp(*ramp, b) : Expr();
    }
    auto sum = numerator_of(a, *divisor, facts_);
    if (!sum) {
        return Expr();
    }
    LinearForm &numerator = *sum;
    const Split s = split_by(numerator, *divisor);
    if (s.useful) {
        const Expr rest = rebuild(s.rest, *this, t);
        if (!rest.defined() || may_overflow(rest)) {
            return Expr();
        }
        if (op == NodeKind::Mod) {
            return binary(op, rest, b);
        }
        const Expr quotient = rebuild(s.quotient, *this, t);
        return quotient.defined() ? add(binary(op, rest, b), quotient) : Expr();
    }
    int64_t g = *divisor;
    for (const Term &term : numerator.terms) {
        g = greatest_common_divisor(g, term.coefficient);
    }
    if (g <= 1 || numerator.terms.empty()) {
        return Expr();
    }
    for (Term &term : numerator.terms) {
        term.coefficient /= g;
    }
    const int64_t left_over = euclidean_mod(numerator.constant, g);
    numerator.constant = euclidean_div(numerator.constant, g);
    const Expr reduced = rebuild(numerator, *this, t);
    if (!reduced.defined()) {
        return Expr();
    }
    const Expr result = binary(op, reduced, make_const(t, *divisor / g));
    return op == NodeKind::Div ? result
                               : add(mul(result, make_const(t, g)), make_const(t, left_over));
}

}  // namespace calotype::internal
