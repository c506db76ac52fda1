// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random expressions for property tests: typed, small, from a fixed seed.
#pragma once

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ir/constants.h"
#include "ir/expr_nodes.h"
#include "ir/operators.h"

namespace calotype::test {

using namespace internal;

class RandomExpr {
public:
    explicit RandomExpr(uint32_t seed) : random_(seed) {
    }

    /// Leaves, by type. Types without one get constants or casts.
    std::vector<std::pair<std::string, Type>> variables;
    /// Types that casts may come from.
    std::vector<Type> types = {Int(32)};
    bool with_lets = true;
    bool with_intrinsics = true;
    int largest_constant = 12;
    /// Some constants are ends of the type, and powers of two and their neighbours.
    bool any_constants = false;

    int below(int n) {
        return int(random_() % uint32_t(n));
    }

    /// A scalar expression of integer or Bool type t.
    Expr make(Type t, int depth) {
        if (t.is_bool()) {
            return depth <= 0 ? make_const(t, int64_t(below(2))) : condition(depth);
        }
        if (depth <= 0) {
            return leaf(t);
        }
        switch (below(with_intrinsics ? 16 : 13)) {
        case 0:
        case 1:
            return make(t, depth - 1) + make(t, depth - 1);
        case 2:
        case 3:
            return make(t, depth - 1) - make(t, depth - 1);
        case 4:
            return make(t, depth - 1) * (below(2) ? constant(t) : make(t, depth - 1));
        case 5:
            return Div::make(make(t, depth - 1), below(3) ? constant(t) : make(t, depth - 1));
        case 6:
            return Mod::make(make(t, depth - 1), below(3) ? constant(t) : make(t, depth - 1));
        case 7:
            return min(make(t, depth - 1), make(t, depth - 1));
        case 8:
            return max(make(t, depth - 1), make(t, depth - 1));
        case 9:
            return select(make(Bool(), depth - 1), make(t, depth - 1), make(t, depth - 1));
        case 10:
            return Cast::make(t, make(types[below(int(types.size()))], depth - 1));
        case 11:
            return with_lets ? let(t, depth) : leaf(t);
        case 12:
            return leaf(t);
        default:
            return intrinsic(t, depth);
        }
    }

    Expr constant(Type t) {
        if (any_constants && below(3) == 0) {
            return far_constant(t);
        }
        const int64_t least = t.is_uint() ? 0 : -largest_constant / 2;
        return make_const(t, least + below(largest_constant));
    }

private:
    Expr far_constant(Type t) {
        const int bits = t.bits() - t.is_int();
        const uint64_t most = ~uint64_t(0) >> (64 - bits), power = uint64_t(2) << below(bits - 1);
        const uint64_t x = (below(2) ? most : power) - uint64_t(below(3));
        return t.is_uint() ? make_const(t, x)
                           : make_const(t, below(2) ? int64_t(x) : -1 - int64_t(x));
    }

    Expr leaf(Type t) {
        std::vector<std::string> names;
        for (const auto &[name, type] : variables) {
            if (type == t) {
                names.push_back(name);
            }
        }
        if (names.empty() || below(4) == 0) {
            return constant(t);
        }
        return Variable::make(t, names[below(int(names.size()))]);
    }

    Expr condition(int depth) {
        const Type t = types[below(int(types.size()))];
        switch (below(9)) {
        case 0:
            return make(Bool(), depth - 1) && make(Bool(), depth - 1);
        case 1:
            return make(Bool(), depth - 1) || make(Bool(), depth - 1);
        case 2:
            return !make(Bool(), depth - 1);
        case 3:
            return EQ::make(make(t, depth - 1), make(t, depth - 1));
        case 4:
            return NE::make(make(t, depth - 1), make(t, depth - 1));
        case 5:
            return LE::make(make(t, depth - 1), make(t, depth - 1));
        case 6:
            return GE::make(make(t, depth - 1), make(t, depth - 1));
        case 7:
            return GT::make(make(t, depth - 1), make(t, depth - 1));
        default:
            return LT::make(make(t, depth - 1), make(t, depth - 1));
        }
    }

    Expr let(Type t, int depth) {
        const std::string name = "let" + std::to_string(lets_++);
        const Type value_type = types[below(int(types.size()))];
        const Expr value = make(value_type, depth - 1);
        variables.emplace_back(name, value_type);
        const Expr body = make(t, depth - 1);
        variables.pop_back();
        return Let::make(name, value, body);
    }

    Expr intrinsic(Type t, int depth) {
        const auto arg = [&] {
            return make(t, depth - 1);
        };
        const auto bits = [&] {
            return make_const(t, below(t.bits()));
        };
        const auto call = [&](Intrinsic id, std::vector<Expr> args) {
            return Call::make(t, id, std::move(args));
        };
        switch (below(t.bits() < 64 ? 17 : 10)) {
        case 0:
            return call(Intrinsic::bitwise_and, {arg(), arg()});
        case 1:
            return call(Intrinsic::bitwise_or, {arg(), arg()});
        case 2:
            return call(Intrinsic::bitwise_xor, {arg(), arg()});
        case 3:
            return call(Intrinsic::bitwise_not, {arg()});
        case 4:
            return call(Intrinsic::shift_right, {arg(), bits()});
        case 5:
            // Only narrow types wrap here; elsewhere too large a shift is taken not to occur.
            return t.can_overflow() ? call(Intrinsic::shift_left, {arg(), bits()}) : arg();
        case 6:
            return call(Intrinsic::popcount, {arg()});
        case 7:
            return call(Intrinsic::likely, {arg()});
        case 8:
            return t.is_uint() ? call(Intrinsic::abs, {make(t.with_code(Type::Int), depth - 1)})
                               : arg();
        case 9:
            return t.is_uint() ? call(Intrinsic::absd, {arg(), arg()}) : arg();
        case 10:
            return call(Intrinsic::halving_add, {arg(), arg()});
        case 11:
            return call(Intrinsic::halving_sub, {arg(), arg()});
        case 12:
            return call(Intrinsic::rounding_halving_add, {arg(), arg()});
        case 13:
            return call(Intrinsic::saturating_add, {arg(), arg()});
        case 14:
            return call(Intrinsic::saturating_sub, {arg(), arg()});
        case 15:
            return call(Intrinsic::saturating_cast,
                        {make(types[below(int(types.size()))], depth - 1)});
        default: {
            const Type half = t.narrow();
            if (half.bits() < 8) {
                return arg();
            }
            const Expr a = make(half, depth - 1), b = make(half, depth - 1);
            const int which = below(3);
            return which == 0                  ? call(Intrinsic::widening_add, {a, b})
                   : which == 1 || t.is_uint() ? call(Intrinsic::widening_mul, {a, b})
                                               : call(Intrinsic::widening_sub, {a, b});
        }
        }
    }

    std::mt19937 random_;
    int lets_ = 0;
};

}  // namespace calotype::test
