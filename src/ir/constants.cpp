// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/constants.h"

#include <cmath>
#include <limits>

#include "ir/expr_nodes.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

/// Float to integer as a Cast does it: truncated; outside of the 64-bit range the value is
/// unspecified, here the bound.
template<typename T>
T truncate_to(double x) {
    constexpr double limit = double(std::numeric_limits<T>::max());
    if (std::isnan(x)) {
        return 0;
    }
    if (x >= limit) {
        return std::numeric_limits<T>::max();
    }
    return x <= double(std::numeric_limits<T>::min()) ? std::numeric_limits<T>::min() : T(x);
}

template<typename T>
Expr scalar_const(Type t, T value) {
    if (t.is_bool()) {
        return UIntImm::make(t, value != 0);
    }
    if (t.is_float()) {
        return FloatImm::make(t, double(value));
    }
    if (std::is_same<T, double>::value) {
        return t.is_int()          ? IntImm::make(t, truncate_to<int64_t>(double(value)))
               : double(value) < 0 ? UIntImm::make(t, uint64_t(truncate_to<int64_t>(double(value))))
                                   : UIntImm::make(t, truncate_to<uint64_t>(double(value)));
    }
    return t.is_int() ? IntImm::make(t, int64_t(value)) : UIntImm::make(t, uint64_t(value));
}

template<typename T>
Expr make_any_const(Type t, T value) {
    if (t.is_handle()) {
        return Broadcast::make(
            Cast::make(t.element_of(), UIntImm::make(UInt(64), uint64_t(int64_t(value)))),
            t.lanes());
    }
    internal_assert(t.is_int_or_uint() || t.is_float()) << "constant of type " << t;
    return Broadcast::make(scalar_const(t.element_of(), value), t.lanes());
}

/// The scalar that a broadcast of any depth repeats.
const Expr &strip_broadcasts(const Expr &e) {
    const Expr *inner = &e;
    while (const Broadcast *b = inner->as<Broadcast>()) {
        inner = &b->value;
    }
    return *inner;
}

}  // namespace

Expr make_const(Type t, int64_t value) {
    return make_any_const(t, value);
}

Expr make_const(Type t, uint64_t value) {
    return make_any_const(t, value);
}

Expr make_const(Type t, double value) {
    return make_any_const(t, value);
}

Expr make_bool(bool value, int lanes) {
    return make_const(Bool(lanes), value);
}

Expr make_zero(Type t) {
    return make_const(t, 0);
}

Expr make_one(Type t) {
    return make_const(t, 1);
}

Expr const_true(int lanes) {
    return make_one(Bool(lanes));
}

Expr const_false(int lanes) {
    return make_zero(Bool(lanes));
}

bool is_const(const Expr &e) {
    const Expr &s = strip_broadcasts(e);
    if (const Cast *c = s.as<Cast>()) {
        return c->type.is_handle() && is_const(c->value);
    }
    return s.as<IntImm>() || s.as<UIntImm>() || s.as<FloatImm>() || s.as<StringImm>();
}

bool is_const(const Expr &e, int64_t value) {
    const Expr &s = strip_broadcasts(e);
    if (const IntImm *i = s.as<IntImm>()) {
        return i->value == value;
    }
    if (const UIntImm *u = s.as<UIntImm>()) {
        return value >= 0 && u->value == uint64_t(value);
    }
    if (const FloatImm *f = s.as<FloatImm>()) {
        return f->value == double(value);
    }
    const Cast *c = s.as<Cast>();
    return c && c->type.is_handle() && is_const(c->value, value);
}

bool is_const_zero(const Expr &e) {
    return is_const(e, 0);
}

bool is_const_one(const Expr &e) {
    return is_const(e, 1);
}

bool is_positive_const(const Expr &e) {
    const Expr &s = strip_broadcasts(e);
    if (const IntImm *i = s.as<IntImm>()) {
        return i->value > 0;
    }
    if (const UIntImm *u = s.as<UIntImm>()) {
        return u->value > 0;
    }
    const FloatImm *f = s.as<FloatImm>();
    return f && f->value > 0;
}

bool is_negative_const(const Expr &e) {
    const Expr &s = strip_broadcasts(e);
    if (const IntImm *i = s.as<IntImm>()) {
        return i->value < 0;
    }
    const FloatImm *f = s.as<FloatImm>();
    return f && f->value < 0;
}

bool is_trivially_true(const Expr &e) {
    return !e.defined() || (e.type().is_bool() && is_const_one(e));
}

std::optional<int64_t> as_const_int(const Expr &e) {
    const Expr &s = strip_broadcasts(e);
    if (const IntImm *i = s.as<IntImm>()) {
        return i->value;
    }
    const UIntImm *u = s.as<UIntImm>();
    if (u && u->value <= uint64_t(INT64_MAX)) {
        return int64_t(u->value);
    }
    return std::nullopt;
}

std::optional<uint64_t> as_const_uint(const Expr &e) {
    const Expr &s = strip_broadcasts(e);
    if (const UIntImm *u = s.as<UIntImm>()) {
        return u->value;
    }
    const IntImm *i = s.as<IntImm>();
    if (i && i->value >= 0) {
        return uint64_t(i->value);
    }
    return std::nullopt;
}

std::optional<double> as_const_float(const Expr &e) {
    const FloatImm *f = strip_broadcasts(e).as<FloatImm>();
    return f ? std::optional<double>(f->value) : std::nullopt;
}

std::optional<int> as_const_power_of_two(const Expr &e) {
    const std::optional<uint64_t> value = as_const_uint(e);
    if (!value || *value == 0 || (*value & (*value - 1)) != 0) {
        return std::nullopt;
    }
    int bits = 0;
    while (uint64_t(1) << bits != *value) {
        bits++;
    }
    return bits;
}

}  // namespace calotype::internal

namespace calotype {

using namespace internal;

Expr Type::max() const {
    if (is_float()) {
        return make_const(*this, double(std::numeric_limits<double>::infinity()));
    }
    return is_int() ? make_const(*this, imax()) : make_const(*this, umax());
}

Expr Type::min() const {
    if (is_float()) {
        return make_const(*this, -std::numeric_limits<double>::infinity());
    }
    return is_int() ? make_const(*this, imin()) : make_const(*this, 0);
}

}  // namespace calotype
