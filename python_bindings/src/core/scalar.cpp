// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "scalar.h"

#include <cstring>

#include "call.h"

namespace calotype::python {

namespace {

template<typename T>
T value_of(uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

bool is_beyond_64_bits(nb::handle number) {
    int overflow = 0;
    PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    return overflow != 0;
}

}  // namespace

uint64_t scalar_bits(nb::handle value, const Type &type, const std::string &what) {
    const uint64_t bits = number_bits(value.ptr(), type.to_abi(), {"", what, ""});
    return type.bits() >= 64 ? bits : bits & ((uint64_t(1) << type.bits()) - 1);
}

nb::object scalar_object(uint64_t bits, const Type &type) {
    if (type.is_bool()) {
        return nb::bool_((bits & 1) != 0);
    }
    if (type.is_bfloat()) {
        return nb::float_(double(bfloat16_t::make_from_bits(uint16_t(bits))));
    }
    if (type.is_float()) {
        return nb::float_(type.bits() == 64   ? value_of<double>(bits)
                          : type.bits() == 32 ? double(value_of<float>(bits))
                                              : double(float16_t::make_from_bits(uint16_t(bits))));
    }
    if (type.is_int()) {
        const int unused = 64 - type.bits();
        return nb::int_(int64_t(bits << unused) >> unused);
    }
    return nb::int_(type.bits() >= 64 ? bits : bits & ((uint64_t(1) << type.bits()) - 1));
}

std::optional<Expr> float_literal(nb::handle value, const Type &type) {
    const bool is_literal =
        type.is_float() &&
        (PyFloat_Check(value.ptr()) || (PyLong_Check(value.ptr()) && is_beyond_64_bits(value)));
    return is_literal ? std::optional(float_constant(nb::cast<double>(nb::float_(value)), type))
                      : std::nullopt;
}

Expr scalar_expr(nb::handle object, const Type &type) {
    const nb::object value = plain_number(object);
    if (const std::optional<Expr> literal = float_literal(value, type)) {
        return *literal;
    }
    if (PyLong_Check(value.ptr()) && !PyBool_Check(value.ptr()) && type.is_int_or_uint()) {
        return int_constant(value, type);
    }
    call_assert(is_expr_like(value)) << describe(value) << " is no expression";
    const Expr e = to_expr(value);
    return e.type() == type ? e : cast(type, e);
}

}  // namespace calotype::python
