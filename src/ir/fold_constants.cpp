// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/fold_constants.h"

#include <algorithm>

#include "ir/constants.h"

namespace calotype::internal {

int64_t div_imp(int64_t a, int64_t b) {
    if (b == 0) {
        return 0;
    }
    if (b == -1) {
        return int64_t(-uint64_t(a));
    }
    const int64_t quotient = a / b, remainder = a % b;
    return remainder >= 0 ? quotient : b > 0 ? quotient - 1 : quotient + 1;
}

int64_t mod_imp(int64_t a, int64_t b) {
    if (b == 0 || b == -1) {
        return 0;
    }
    const int64_t remainder = a % b;
    return remainder >= 0 ? remainder : b > 0 ? remainder + b : remainder - b;
}

namespace {

/// The exact value in 64 bits, or nothing where it does not fit.
std::optional<int64_t> fold_signed(NodeKind kind, int64_t a, int64_t b) {
    int64_t result;
    switch (kind) {
    case NodeKind::Add:
        return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case NodeKind::Sub:
        return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case NodeKind::Mul:
        return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case NodeKind::Div:
        return a == INT64_MIN && b == -1 ? std::nullopt : std::optional(div_imp(a, b));
    case NodeKind::Mod:
        return mod_imp(a, b);
    case NodeKind::Min:
        return std::min(a, b);
    case NodeKind::Max:
        return std::max(a, b);
    default:
        return std::nullopt;
    }
}

/// The value modulo 2^64; the caller takes it modulo 2^bits.
std::optional<uint64_t> fold_unsigned(NodeKind kind, uint64_t a, uint64_t b) {
    switch (kind) {
    case NodeKind::Add:
        return a + b;
    case NodeKind::Sub:
        return a - b;
    case NodeKind::Mul:
        return a * b;
    case NodeKind::Div:
        return b == 0 ? 0 : a / b;
    case NodeKind::Mod:
        return b == 0 ? 0 : a % b;
    case NodeKind::Min:
        return std::min(a, b);
    case NodeKind::Max:
        return std::max(a, b);
    default:
        return std::nullopt;
    }
}

template<typename T>
std::optional<bool> fold_comparison(NodeKind kind, T a, T b) {
    switch (kind) {
    case NodeKind::EQ:
        return a == b;
    case NodeKind::NE:
        return a != b;
    case NodeKind::LT:
        return a < b;
    case NodeKind::LE:
        return a <= b;
    case NodeKind::GT:
        return a > b;
    case NodeKind::GE:
        return a >= b;
    case NodeKind::And:
        return a != 0 && b != 0;
    case NodeKind::Or:
        return a != 0 || b != 0;
    default:
        return std::nullopt;
    }
}

}  // namespace

std::optional<int64_t> fold_int64(NodeKind kind, int64_t a, int64_t b) {
    const auto truth = fold_comparison(kind, a, b);
    return truth ? std::optional(int64_t(*truth)) : fold_signed(kind, a, b);
}

Expr fold_binary(NodeKind kind, const Expr &a, const Expr &b) {
    const Type t = a.type();
    if (t.is_int()) {
        const auto x = as_const_int(a), y = as_const_int(b);
        if (!x || !y) {
            return Expr();
        }
        if (auto truth = fold_comparison(kind, *x, *y)) {
            return make_const(Bool(t.lanes()), int64_t(*truth));
        }
        const auto value = fold_signed(kind, *x, *y);
        return value && (t.bits() < 32 || t.can_represent(*value)) ? make_const(t, *value) : Expr();
    }
    if (t.is_uint()) {
        const auto x = as_const_uint(a), y = as_const_uint(b);
        if (!x || !y) {
            return Expr();
        }
        if (auto truth = fold_comparison(kind, *x, *y)) {
            return make_const(Bool(t.lanes()), int64_t(*truth));
        }
        const auto value = fold_unsigned(kind, *x, *y);
        return value ? make_const(t, *value) : Expr();
    }
    return Expr();
}

}  // namespace calotype::internal
