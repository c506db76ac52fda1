// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/language/match_types.h"

#include <algorithm>

#include "ir/constants.h"
#include "ir/expr_nodes.h"
#include "ir/operators.h"
#include "support/error.h"

namespace calotype::internal {

void check_defined(const char *op, const Expr &a) {
    user_assert(a.defined()) << op << " of an undefined expression";
}

void check_defined(const char *op, const Expr &a, const Expr &b) {
    check_defined(op, a);
    check_defined(op, b);
}

void match_lanes(const char *op, Expr &a, Expr &b) {
    const int lanes_a = a.type().lanes(), lanes_b = b.type().lanes();
    if (lanes_a == lanes_b) {
        return;
    }
    user_assert(lanes_a == 1 || lanes_b == 1)
        << op << " of a vector of " << lanes_a << " lanes and one of " << lanes_b << " lanes";
    if (lanes_a == 1) {
        a = Broadcast::make(std::move(a), lanes_b);
    } else {
        b = Broadcast::make(std::move(b), lanes_a);
    }
}

void match_types(const char *op, Expr &a, Expr &b) {
    check_defined(op, a, b);
    match_lanes(op, a, b);
    const Type ta = a.type(), tb = b.type();
    if (ta == tb) {
        return;
    }
    user_assert(!ta.is_handle() && !tb.is_handle()) << op << " of types " << ta << " and " << tb;
    Type common;
    if (ta.is_float() && tb.is_float()) {
        common = ta.bits() > tb.bits() ? ta : tb.bits() > ta.bits() ? tb : Float(32, ta.lanes());
    } else if (ta.is_float() || tb.is_float()) {
        common = ta.is_float() ? ta : tb;
    } else {
        const bool both_unsigned = ta.is_uint() && tb.is_uint();
        common = Type(both_unsigned ? Type::UInt : Type::Int, std::max(ta.bits(), tb.bits()),
                      ta.lanes());
    }
    a = cast(common, std::move(a));
    b = cast(common, std::move(b));
}

void match_bits(const char *op, Expr &a, Expr &b) {
    check_defined(op, a, b);
    match_lanes(op, a, b);
    for (const Expr *e : {&a, &b}) {
        user_assert(e->type().is_int_or_uint())
            << op << " of type " << e->type() << ", must be an integer";
    }
    const int bits = std::max(a.type().bits(), b.type().bits());
    a = cast(a.type().with_bits(bits), a);
    b = cast(b.type().with_bits(bits), b);
}

Expr literal_like(const char *op, const Expr &other, int64_t value) {
    check_defined(op, other);
    const Type t = other.type();
    user_assert(!t.is_handle()) << op << " of a handle and the constant " << value;
    user_assert(t.can_represent(value)) << op << " of type " << t << " and the constant " << value
                                        << ", which does not fit that type";
    return make_const(t, value);
}

Expr lossless_cast(Type t, const Expr &e) {
    if (!e.defined() || e.type() == t) {
        return e;
    }
    if (t.is_handle() || e.type().is_handle()) {
        return Expr();
    }
    if (e.type().is_scalar() && t.is_vector()) {
        const Expr lane = lossless_cast(t.element_of(), e);
        return lane.defined() ? Broadcast::make(lane, t.lanes()) : Expr();
    }
    if (t.can_represent(e.type())) {
        return cast(t, e);
    }
    if (const Cast *c = e.as<Cast>()) {
        // A cast that kept all values can be taken off.
        return c->type.can_represent(c->value.type()) ? lossless_cast(t, c->value) : Expr();
    }
    if (const Broadcast *same = e.as<Broadcast>()) {
        const Expr value = lossless_cast(t.with_lanes(same->value.type().lanes()), same->value);
        return value.defined() ? Broadcast::make(value, same->lanes) : Expr();
    }
    if (const Shuffle *op = e.as<Shuffle>()) {
        std::vector<Expr> vectors;
        for (const Expr &v : op->vectors) {
            vectors.push_back(lossless_cast(t.with_lanes(v.type().lanes()), v));
            if (!vectors.back().defined()) {
                return Expr();
            }
        }
        return Shuffle::make(vectors, op->indices);
    }
    bool fits = false;
    if (auto f = as_const_float(e)) {
        fits = t.can_represent(*f);
    } else if (auto i = as_const_int(e)) {
        fits = t.can_represent(*i);
    } else if (auto u = as_const_uint(e)) {
        fits = t.can_represent(*u);
    }
    return fits ? cast(t, e) : Expr();
}

Expr as_float(const char *op, Expr e) {
    check_defined(op, e);
    user_assert(!e.type().is_handle()) << op << " of a handle";
    return e.type().is_float() ? e : cast(Float(32, e.type().lanes()), e);
}

}  // namespace calotype::internal
