// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/param.h"

#include "ir/constants.h"
#include "ir/conventions/names.h"
#include "ir/expr_nodes.h"
#include "ir/printer.h"
#include "support/error.h"
#include "support/text.h"
#include "support/user_text.h"

namespace calotype {

using namespace internal;

namespace internal {

Parameter make_scalar_parameter(const Type &t, const std::string &name) {
    user_assert(!name.empty()) << "the name of a Param is empty";
    user_assert(name != names::user_context) << "the name " << name << " of a Param is reserved";
    check_name("Param", name);
    // Funcs that are made later do not get this name.
    unique_name(name);
    return Parameter(t, false, 0, name);
}

Parameter make_scalar_parameter(const Type &t) {
    return Parameter(t, false, 0);
}

void check_scalar_type(const Parameter &p, const Type &t) {
    user_assert(p.type() == t) << "parameter " << p.name() << " has type " << p.type()
                               << " and is used as one of type " << t;
}

namespace {

// A value of any type up to 64 bits as a number, then as the bits of another type.
struct Number {
    bool is_float, is_signed;
    double f;
    int64_t i;
    uint64_t u;
};

template<typename T>
T read(const void *value) {
    T t;
    std::memcpy(&t, value, sizeof(t));
    return t;
}

Number integer(int64_t i) {
    return {false, true, double(i), i, uint64_t(i)};
}

Number natural(uint64_t u) {
    return {false, false, double(u), int64_t(u), u};
}

Number real(double f) {
    return {true, true, f, 0, 0};
}

Number read_number(const Type &t, const void *value) {
    if (t.is_bool()) {
        return natural(read<uint8_t>(value) != 0);
    }
    if (t.is_float()) {
        return real(t.bits() == 64   ? read<double>(value)
                    : t.bits() == 32 ? double(read<float>(value))
                    : t.is_bfloat()  ? double(bfloat16_t::make_from_bits(read<uint16_t>(value)))
                                     : double(float16_t::make_from_bits(read<uint16_t>(value))));
    }
    switch (t.bits()) {
    case 8:
        return t.is_int() ? integer(read<int8_t>(value)) : natural(read<uint8_t>(value));
    case 16:
        return t.is_int() ? integer(read<int16_t>(value)) : natural(read<uint16_t>(value));
    case 32:
        return t.is_int() ? integer(read<int32_t>(value)) : natural(read<uint32_t>(value));
    default:
        return t.is_int() ? integer(read<int64_t>(value)) : natural(read<uint64_t>(value));
    }
}

template<typename T>
uint64_t bits_of(T value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(value));
    return bits;
}

uint64_t float_bits(const Type &t, double f) {
    if (t.bits() == 64) {
        return bits_of(f);
    }
    if (t.bits() == 32) {
        return bits_of(float(f));
    }
    return t.is_bfloat() ? bfloat16_t(f).to_bits() : float16_t(f).to_bits();
}

bool fits(const Type &t, const Number &n) {
    if (t.is_float()) {
        return true;
    }
    if (n.is_float) {
        return t.can_represent(n.f);
    }
    return n.is_signed ? t.can_represent(n.i) : t.can_represent(n.u);
}

}  // namespace

void refuse_scalar_value(const Parameter &p, const std::string &value) {
    user_error << "parameter " << p.name() << " has type " << p.type()
               << " and cannot hold the value " << value;
}

void set_scalar_value(const Parameter &p, const Type &t, const void *value) {
    const Type own = p.type();
    if (own.is_handle() || t.is_handle()) {
        user_assert(own.is_handle() && t.is_handle())
            << "parameter " << p.name() << " has type " << own << " and is set to a " << t;
        p.set_value_bits(read<uint64_t>(value));
        return;
    }
    const Number n = read_number(t, value);
    if (!fits(own, n)) {
        refuse_scalar_value(p, n.is_float    ? std::to_string(n.f)
                               : n.is_signed ? std::to_string(n.i)
                                             : std::to_string(n.u));
    }
    if (own.is_float()) {
        p.set_value_bits(float_bits(own, n.f));
        return;
    }
    const uint64_t bits = n.is_float ? uint64_t(int64_t(n.f)) : n.u;
    p.set_value_bits(own.bits() < 64 ? bits & ((uint64_t(1) << own.bits()) - 1) : bits);
}

uint64_t get_scalar_bits(const Parameter &p) {
    return p->value.value_or(0);
}

Argument scalar_argument(const Parameter &p) {
    return Argument(p.name(), Argument::InputScalar, p.type(), 0, p.get_argument_estimates());
}

}  // namespace internal

Expr user_context_value() {
    const Parameter p(type_of<void *>(), false, 0, names::user_context);
    return p.as_expr();
}

}  // namespace calotype
