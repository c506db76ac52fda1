// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Type: code, bits and lanes of a value. Bits and numbers only; anything that needs an Expr lives
// above.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "ir/float16.h"
#include "runtime/abi/buffer.h"

namespace calotype {

class Expr;

namespace internal {

/// The C++ type behind a handle, for headers that we generate. One static instance a pointee type;
/// compared by address and text.
struct HandleType {
    std::string cpp_name;  ///< as written in C++, "struct foo const *"
};

}  // namespace internal

/// The type of a scalar (lanes == 1) or vector value. Bool is UInt(1).
class Type {
public:
    static constexpr calotype_type_code_t Int = calotype_type_int;
    static constexpr calotype_type_code_t UInt = calotype_type_uint;
    static constexpr calotype_type_code_t Float = calotype_type_float;
    static constexpr calotype_type_code_t BFloat = calotype_type_bfloat;
    static constexpr calotype_type_code_t Handle = calotype_type_handle;

    const internal::HandleType *handle_type = nullptr;

    /// Handle(0 bits): the type of an undefined expression.
    Type() = default;
    Type(calotype_type_code_t code, int bits, int lanes,
         const internal::HandleType *handle = nullptr)
        : handle_type(handle), code_(code), bits_(uint8_t(bits)), lanes_(uint16_t(lanes)) {
    }
    Type(const calotype_type_t &t) : Type(calotype_type_code_t(t.code), t.bits, t.lanes) {
    }

    calotype_type_code_t code() const {
        return code_;
    }
    int bits() const {
        return bits_;
    }
    int lanes() const {
        return lanes_;
    }
    /// Bytes of one lane in memory; Bool takes one.
    int bytes() const {
        return (bits_ + 7) / 8;
    }
    calotype_type_t to_abi() const;
    operator calotype_type_t() const {
        return to_abi();
    }

    Type with_code(calotype_type_code_t c) const {
        return Type(c, bits_, lanes_, c == code_ ? handle_type : nullptr);
    }
    Type with_bits(int b) const {
        return Type(code_, b, lanes_, handle_type);
    }
    Type with_lanes(int n) const {
        return Type(code_, bits_, n, handle_type);
    }
    Type element_of() const {
        return with_lanes(1);
    }
    Type widen() const {
        return with_bits(bits_ * 2);
    }
    Type narrow() const {
        return with_bits(bits_ / 2);
    }

    bool is_bool() const {
        return code_ == UInt && bits_ == 1;
    }
    bool is_vector() const {
        return lanes_ > 1;
    }
    bool is_scalar() const {
        return lanes_ == 1;
    }
    bool is_float() const {
        return code_ == Float || code_ == BFloat;
    }
    bool is_bfloat() const {
        return code_ == BFloat;
    }
    bool is_int() const {
        return code_ == Int;
    }
    bool is_uint() const {
        return code_ == UInt;
    }
    bool is_int_or_uint() const {
        return is_int() || is_uint();
    }
    bool is_handle() const {
        return code_ == Handle;
    }
    /// True where arithmetic wraps (unsigned, and signed below 32 bits).
    bool can_overflow() const {
        return is_uint() || (is_int() && bits_ < 32);
    }
    /// True of signed types whose arithmetic wraps.
    bool can_overflow_int() const {
        return is_int() && bits_ <= 16;
    }
    bool same_handle_type(const Type &other) const;

    bool operator==(const Type &o) const {
        return code_ == o.code_ && bits_ == o.bits_ && lanes_ == o.lanes_ &&
               (code_ != Handle || same_handle_type(o));
    }
    bool operator!=(const Type &o) const {
        return !(*this == o);
    }
    // Each converts to the other, so neither may be chosen.
    friend bool operator==(const Type &a, const calotype_type_t &b) {
        return a == Type(b);
    }
    friend bool operator!=(const Type &a, const calotype_type_t &b) {
        return !(a == b);
    }
    friend bool operator==(const calotype_type_t &a, const Type &b) {
        return b == a;
    }
    friend bool operator!=(const calotype_type_t &a, const Type &b) {
        return !(b == a);
    }
    bool operator<(const Type &o) const;

    /// True if every value of `other` (or the given value) is representable without loss.
    bool can_represent(Type other) const;
    bool can_represent(int64_t x) const;
    bool can_represent(uint64_t x) const;
    bool can_represent(double x) const;
    bool can_represent(int x) const {
        return can_represent(int64_t(x));
    }
    /// True if the value is the largest (smallest) of an integer type.
    bool is_max(int64_t x) const;
    bool is_max(uint64_t x) const;
    bool is_min(int64_t x) const;
    bool is_min(uint64_t x) const;
    /// Largest and smallest value of an integer type, as bits: `imax` for signed, `umax` for
    /// unsigned.
    int64_t imax() const;
    int64_t imin() const;
    uint64_t umax() const;
    /// The same as constant expressions, for floats too (infinities); defined with the operators.
    Expr max() const;
    Expr min() const;

private:
    calotype_type_code_t code_ = calotype_type_handle;
    uint8_t bits_ = 0;
    uint16_t lanes_ = 0;
};

inline Type Int(int bits, int lanes = 1) {
    return Type(Type::Int, bits, lanes);
}
inline Type UInt(int bits, int lanes = 1) {
    return Type(Type::UInt, bits, lanes);
}
inline Type Float(int bits, int lanes = 1) {
    return Type(Type::Float, bits, lanes);
}
inline Type BFloat(int bits, int lanes = 1) {
    return Type(Type::BFloat, bits, lanes);
}
inline Type Bool(int lanes = 1) {
    return UInt(1, lanes);
}
inline Type Handle(int lanes = 1, const internal::HandleType *handle = nullptr) {
    return Type(Type::Handle, 64, lanes, handle);
}

/// "int32", "uint8x16", "float16", "bfloat16", "bool", "handle": what the printer writes and the
/// parser reads.
std::string to_string(const Type &t);
std::ostream &operator<<(std::ostream &out, const Type &t);
namespace internal {

/// The inverse of to_string; false if the text names no type.
bool parse_type(const std::string &text, Type *result);

}  // namespace internal

/// The Type of a C++ type: type_of<float>() is Float(32); any pointer is a Handle.
template<typename T>
Type type_of();

}  // namespace calotype

#include "ir/type_of.h"
