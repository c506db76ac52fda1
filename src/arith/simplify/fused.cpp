// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop that was made of two by fuse() has their variables as remainder and quotient of its own:
//
//     let x = xy % w
//     let y = xy / w + m
//     f[(y - m) * w + x]       ->   f[xy]
//
// wherever the rows of what is indexed follow each other without a gap. The lets and the promises
// within which the variables lie are looked into; w must be known not to be 0, as it is inside of
// the loop over xy. For int32 and int64 alone, which do not wrap.
#include <algorithm>

#include "arith/constant_interval.h"
#include "arith/linear_form.h"
#include "arith/simplify/simplifier.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/operators.h"
#include "ir/queries.h"

namespace calotype::internal {

/// whole / divisor + rest, or whole % divisor + rest.
struct Simplifier::FusedPart {
    Expr whole, divisor;
    LinearForm rest;
};

namespace {

void add_form(LinearForm *form, const LinearForm &other, Type t) {
    for (const LinearForm::Term &term : other.terms) {
        form->add(term.value, term.coefficient);
    }
    if (other.constant != 0) {
        form->add(make_const(t, other.constant), 1);
    }
}

LinearForm without_term(const LinearForm &form, size_t term) {
    LinearForm rest = form;
    rest.terms.erase(rest.terms.begin() + std::ptrdiff_t(term));
    return rest;
}

/// The other factor of `scale` times the divisor, if the term is such; else undefined.
Expr multiplied(const LinearForm::Term &term, const Expr &divisor, int64_t scale) {
    if (const auto c = as_const_int(divisor)) {
        const auto product = checked_mul(*c, scale);
        return product && *product == term.coefficient ? term.value : Expr();
    }
    const auto *mul = term.value.as<Mul>();
    if (!mul || term.coefficient != scale) {
        return Expr();
    }
    return equal(mul->b, divisor) ? mul->a : equal(mul->a, divisor) ? mul->b : Expr();
}

}  // namespace

bool is_promise(const Expr &e) {
    const auto *call = e.as<Call>();
    return call &&
           call->is_intrinsic({Intrinsic::promise_clamped, Intrinsic::unsafe_promise_clamped});
}

/// What stands behind the name of a let or within a promise; undefined if e is neither.
Expr Simplifier::unwrapped(const Expr &e) const {
    if (is_promise(e)) {
        return e.as<Call>()->args[0];
    }
    const auto *v = e.as<Variable>();
    return v ? facts_.value_of(v->name) : Expr();
}

/// The first quotient (kind Div) or remainder (Mod) that is a term of e.
std::optional<Simplifier::FusedPart> Simplifier::find_part(const Expr &e, NodeKind kind,
                                                           int levels) const {
    const LinearForm form(e);
    if (!form.is_valid()) {
        return std::nullopt;
    }
    for (size_t i = 0; i < form.terms.size(); i++) {
        const Expr &value = form.terms[i].value;
        if (form.terms[i].coefficient != 1) {
            continue;
        }
        if (value.kind() == kind) {
            const auto *div = value.as<Div>();
            const auto *mod = value.as<Mod>();
            return FusedPart{div ? div->a : mod->a, div ? div->b : mod->b, without_term(form, i)};
        }
        const Expr inner = levels > 0 ? unwrapped(value) : Expr();
        auto part = inner.defined() ? find_part(inner, kind, levels - 1) : std::nullopt;
        if (part) {
            add_form(&part->rest, without_term(form, i), e.type());
            return part;
        }
    }
    return std::nullopt;
}

Expr Simplifier::join_fused(const Expr &a, const Expr &b) {
    constexpr int levels = 3;  // a let, a promise, a let
    const Type t = a.type();
    const bool is_exact = t.is_int() && t.bits() >= 32 && t.is_scalar();
    if (!is_exact || is_const(b) || !(facts_.has_values() || a.as<Mod>() || b.as<Mod>())) {
        return Expr();
    }
    LinearForm sum(a);
    sum.add(b, 1);
    for (size_t i = 0; sum.is_valid() && i < sum.terms.size(); i++) {
        const int64_t scale = sum.terms[i].coefficient;
        const auto remainder =
            scale == 0 ? std::nullopt : find_part(sum.terms[i].value, NodeKind::Mod, levels);
        for (size_t j = 0; remainder && j < sum.terms.size(); j++) {
            const Expr factor =
                i == j ? Expr() : multiplied(sum.terms[j], remainder->divisor, scale);
            const auto quotient =
                factor.defined() ? find_part(factor, NodeKind::Div, levels) : std::nullopt;
            if (!quotient || !belong_together(*quotient, *remainder)) {
                continue;
            }
            const Expr others =
                without_term(without_term(sum, std::max(i, j)), std::min(i, j)).to_expr(t);
            const Expr rest = remainder->rest.to_expr(t), rows = quotient->rest.to_expr(t);
            if (!others.defined() || !rest.defined() || !rows.defined() ||
                !t.can_represent(scale)) {
                return Expr();
            }
            const Expr whole = remainder->whole + rest + rows * remainder->divisor;
            return mutate(others + whole * make_const(t, scale));
        }
    }
    return Expr();
}

/// True if they are of one value and of one divisor, which is not 0.
bool Simplifier::belong_together(const FusedPart &quotient, const FusedPart &remainder) {
    const Expr &divisor = remainder.divisor;
    return equal(quotient.whole, remainder.whole) && equal(quotient.divisor, divisor) &&
           is_pure(remainder.whole) &&
           is_const_zero(binary(NodeKind::EQ, divisor, make_zero(divisor.type())));
}

}  // namespace calotype::internal
