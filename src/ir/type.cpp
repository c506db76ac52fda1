// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/type.h"

#include <cmath>
#include <ostream>
#include <tuple>

#include "support/error.h"

namespace calotype {

using namespace internal;

namespace {

/// Digits of the significand, the hidden one included.
int float_digits(const Type &t) {
    if (t.is_bfloat()) {
        return 8;
    }
    return t.bits() == 16 ? 11 : t.bits() == 32 ? 24 : 53;
}

double round_to(const Type &t, double x) {
    if (t.is_bfloat()) {
        return double(bfloat16_t(x));
    }
    return t.bits() == 16 ? double(float16_t(x)) : t.bits() == 32 ? double(float(x)) : x;
}

const std::string &handle_name(const Type &t) {
    static const std::string untyped = "void *";
    return t.handle_type ? t.handle_type->cpp_name : untyped;
}

}  // namespace

calotype_type_t Type::to_abi() const {
    return calotype_type_t(code_, bits_, lanes_);
}

bool Type::same_handle_type(const Type &other) const {
    return handle_type == other.handle_type || handle_name(*this) == handle_name(other);
}

bool Type::operator<(const Type &o) const {
    const auto key = [](const Type &t) {
        return std::make_tuple(int(t.code()), t.bits(), t.lanes());
    };
    if (key(*this) != key(o)) {
        return key(*this) < key(o);
    }
    return is_handle() && handle_name(*this) < handle_name(o);
}

bool Type::can_represent(Type other) const {
    if (lanes() != other.lanes()) {
        return false;
    }
    if (*this == other) {
        return true;
    }
    if (is_int()) {
        return (other.is_int() && other.bits() <= bits()) ||
               (other.is_uint() && other.bits() < bits());
    }
    if (is_uint()) {
        return other.is_uint() && other.bits() <= bits();
    }
    if (!is_float()) {
        return false;
    }
    if (other.is_float()) {
        return other.bits() < bits();
    }
    // The lowest value of a signed type is a power of two, so its sign bit needs no digit.
    return other.is_int_or_uint() && other.bits() - int(other.is_int()) <= float_digits(*this);
}

bool Type::can_represent(int64_t x) const {
    if (is_int()) {
        return imin() <= x && x <= imax();
    }
    if (is_uint()) {
        return x >= 0 && uint64_t(x) <= umax();
    }
    const double d = double(x);
    return is_float() && d < std::ldexp(1.0, 63) && int64_t(d) == x && round_to(*this, d) == d;
}

bool Type::can_represent(uint64_t x) const {
    if (is_int()) {
        return x <= uint64_t(imax());
    }
    if (is_uint()) {
        return x <= umax();
    }
    const double d = double(x);
    return is_float() && d < std::ldexp(1.0, 64) && uint64_t(d) == x && round_to(*this, d) == d;
}

bool Type::can_represent(double x) const {
    if (is_int()) {
        return x == std::trunc(x) && std::fabs(x) <= std::ldexp(1.0, 63) &&
               x < std::ldexp(1.0, 63) && can_represent(int64_t(x));
    }
    if (is_uint()) {
        return x == std::trunc(x) && x >= 0 && x < std::ldexp(1.0, 64) &&
               can_represent(uint64_t(x));
    }
    return is_float() && (std::isnan(x) || round_to(*this, x) == x);
}

bool Type::is_max(int64_t x) const {
    return x >= 0 && is_max(uint64_t(x));
}

bool Type::is_max(uint64_t x) const {
    return (is_int() && x == uint64_t(imax())) || (is_uint() && x == umax());
}

bool Type::is_min(int64_t x) const {
    return (is_int() && x == imin()) || (is_uint() && x == 0);
}

bool Type::is_min(uint64_t x) const {
    return is_uint() && x == 0;
}

int64_t Type::imax() const {
    internal_assert(is_int() && bits() >= 1) << "imax of " << *this;
    return int64_t(~uint64_t(0) >> (65 - bits()));
}

int64_t Type::imin() const {
    return -imax() - 1;
}

uint64_t Type::umax() const {
    internal_assert(is_uint() && bits() >= 1) << "umax of " << *this;
    return ~uint64_t(0) >> (64 - bits());
}

std::string to_string(const Type &t) {
    std::string text;
    if (t.is_bool()) {
        text = "bool";
    } else if (t.is_handle()) {
        text = t.bits() == 64 ? "handle" : "handle" + std::to_string(t.bits());
    } else {
        text = (t.is_int()      ? "int"
                : t.is_uint()   ? "uint"
                : t.is_bfloat() ? "bfloat"
                                : "float") +
               std::to_string(t.bits());
    }
    return t.lanes() == 1 ? text : text + "x" + std::to_string(t.lanes());
}

std::ostream &operator<<(std::ostream &out, const Type &t) {
    return out << to_string(t);
}

namespace {

/// Reads a decimal number at `pos`; -1 if there is none or it is over 65535.
int read_number(const std::string &text, size_t &pos) {
    int value = 0;
    const size_t begin = pos;
    for (; pos < text.size() && text[pos] >= '0' && text[pos] <= '9' && value <= 65535; pos++) {
        value = value * 10 + (text[pos] - '0');
    }
    return pos == begin || value > 65535 ? -1 : value;
}

}  // namespace

bool internal::parse_type(const std::string &text, Type *result) {
    struct Word {
        const char *word;
        calotype_type_code_t code;
        int bits;  ///< 0: a number follows
    };
    static const Word words[] = {{"int", Type::Int, 0},     {"uint", Type::UInt, 0},
                                 {"float", Type::Float, 0}, {"bfloat", Type::BFloat, 0},
                                 {"bool", Type::UInt, 1},   {"handle", Type::Handle, 64}};
    for (const Word &w : words) {
        const std::string word = w.word;
        if (text.compare(0, word.size(), word) != 0) {
            continue;
        }
        size_t pos = word.size();
        int bits = w.bits;
        if (bits == 0 || (w.code == Type::Handle && pos < text.size() && text[pos] != 'x')) {
            bits = read_number(text, pos);
        }
        int lanes = 1;
        if (pos < text.size() && text[pos] == 'x') {
            lanes = read_number(text, ++pos);
        }
        if (bits < 0 || bits > 64 || (bits == 0 && w.code != Type::Handle) || lanes < 0 ||
            pos != text.size()) {
            return false;
        }
        *result = Type(w.code, bits, lanes);
        return true;
    }
    return false;
}

}  // namespace calotype
