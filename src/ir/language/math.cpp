// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fast_ functions reduce their operand to a small interval and evaluate a polynomial there. The
// coefficients were fitted to minimise the largest relative error over that interval and then
// rounded to float32.
#include "ir/language/math.h"

#include <initializer_list>

#include "ir/constants.h"
#include "ir/expr_nodes.h"
#include "ir/language/match_types.h"
#include "ir/operators.h"
#include "support/error.h"

namespace calotype {

using namespace internal;

using internal::as_float;
using internal::check_defined;

namespace {

Expr unary(const char *op, Intrinsic id, Expr x) {
    x = as_float(op, std::move(x));
    const Type t = x.type();
    return Call::make(t, id, {std::move(x)});
}

/// Of bfloat16, which no machine has these functions for, the result is what they give: float32.
Expr unary_wide(const char *op, Intrinsic id, const Expr &x) {
    check_defined(op, x);
    const bool narrow = x.type().is_bfloat();
    return unary(op, id, narrow ? cast(Float(32, x.type().lanes()), x) : x);
}

Expr classify(const char *op, Intrinsic id, Expr x) {
    x = as_float(op, std::move(x));
    const int lanes = x.type().lanes();
    return Call::make(Bool(lanes), id, {std::move(x)});
}

Expr binary(const char *op, Intrinsic id, Expr x, Expr y) {
    x = as_float(op, std::move(x));
    y = as_float(op, std::move(y));
    internal::match_types(op, x, y);
    const Type t = x.type();
    return Call::make(t, id, {std::move(x), std::move(y)});
}

}  // namespace

#define UNARY(name)                                                                                \
    Expr name(Expr x) {                                                                            \
        return unary(#name, Intrinsic::name, std::move(x));                                        \
    }
#define UNARY_WIDE(name)                                                                           \
    Expr name(Expr x) {                                                                            \
        return unary_wide(#name, Intrinsic::name, x);                                              \
    }
#define CLASSIFY(name)                                                                             \
    Expr name(Expr x) {                                                                            \
        return classify(#name, Intrinsic::name, std::move(x));                                     \
    }
UNARY_WIDE(sin)
UNARY_WIDE(cos)
UNARY_WIDE(tan)
UNARY_WIDE(asin)
UNARY_WIDE(acos)
UNARY_WIDE(atan)
UNARY_WIDE(sinh)
UNARY_WIDE(cosh)
UNARY_WIDE(tanh)
UNARY_WIDE(asinh)
UNARY_WIDE(acosh)
UNARY_WIDE(atanh)
UNARY_WIDE(sqrt)
UNARY_WIDE(exp)
UNARY_WIDE(log)
UNARY(floor)
UNARY(ceil)
UNARY(round)
UNARY(trunc)
CLASSIFY(is_nan)
CLASSIFY(is_inf)
CLASSIFY(is_finite)
#undef UNARY
#undef UNARY_WIDE
#undef CLASSIFY

Expr erf(const Expr &x) {
    return unary("erf", Intrinsic::erf, x);
}

Expr atan2(Expr y, Expr x) {
    return binary("atan2", Intrinsic::atan2, std::move(y), std::move(x));
}

Expr hypot(const Expr &x, const Expr &y) {
    return sqrt(x * x + y * y);
}

Expr fma(Expr a, Expr b, Expr c) {
    a = as_float("fma", std::move(a));
    b = as_float("fma", std::move(b));
    c = as_float("fma", std::move(c));
    // Twice over the pairs brings all three to the widest type.
    internal::match_types("fma", a, b);
    internal::match_types("fma", b, c);
    internal::match_types("fma", a, b);
    const Type t = a.type();
    return Call::make(t, Intrinsic::fma, {std::move(a), std::move(b), std::move(c)});
}

Expr fract(const Expr &x) {
    const Expr y = as_float("fract", x);
    return y - trunc(y);
}

namespace {

/// x to the power n by repeated squaring; the squares are shared.
Expr integer_power(const Expr &x, int64_t n) {
    if (n < 0) {
        return make_one(x.type()) / integer_power(x, -n);
    }
    Expr result, square = x;
    for (; n > 0; n >>= 1) {
        if (n & 1) {
            result = result.defined() ? result * square : square;
        }
        if (n > 1) {
            square = square * square;
        }
    }
    return result.defined() ? result : make_one(x.type());
}

/// The value of an integer constant small enough to expand the power.
bool is_expandable(const Expr &y, int64_t *n) {
    const auto value = as_const_int(y);
    const bool fits = value && *value >= -(int64_t(1) << 31) && *value < (int64_t(1) << 31);
    *n = fits ? *value : 0;
    return fits;
}

}  // namespace

Expr pow(Expr x, Expr y) {
    check_defined("pow", x, y);
    int64_t n;
    if (is_expandable(y, &n)) {
        user_assert(!x.type().is_handle()) << "pow of a handle";
        return integer_power(x, n);
    }
    x = as_float("pow", std::move(x));
    y = cast(x.type(), std::move(y));
    return binary("pow", Intrinsic::pow, std::move(x), std::move(y));
}

namespace {

void check_float32(const char *op, const Expr &x) {
    check_defined(op, x);
    user_assert(x.type().element_of() == Float(32))
        << op << " of type " << x.type() << ", must be float32";
}

/// (c[0] + x * c[1]) + x * x * ((c[2] + x * c[3]) + x * x * (...)): pairs wait for nothing, so that the
/// chain is half as long as one term after the other.
Expr polynomial(const Expr &x, std::initializer_list<float> coefficients) {
    const float *c = coefficients.begin();
    const Expr square = x * x;
    Expr result;
    for (size_t i = (coefficients.size() + 1) / 2 * 2; i > 0;) {
        i -= 2;
        const bool is_pair = i + 1 < coefficients.size();
        const Expr pair = is_pair ? x * c[i + 1] + c[i] : make_const(x.type(), double(c[i]));
        result = result.defined() ? result * square + pair : pair;
    }
    return result;
}

/// x - n * part, which is joined to nothing else.
Expr less_strictly(const Expr &x, const Expr &n, float part) {
    const Type t = x.type();
    const Expr product = Call::make(t, Intrinsic::strict_mul, {n, make_const(t, double(part))});
    return Call::make(t, Intrinsic::strict_sub, {x, product});
}

/// x - n * (high + low), where n * high is exact: in this order, whatever is done with x.
Expr reduced(const Expr &x, const Expr &n, float high, float low) {
    return less_strictly(less_strictly(x, n, high), n, low);
}

/// sin(y) * (-1)^k, where y is x less k half turns, of at most a quarter turn in size. `half_turns`
/// is k, or k + 1/2.
Expr sine_of_rest(const Expr &x, const Expr &half_turns, const Expr &k) {
    const Expr y = reduced(x, half_turns, 3.140625f, 9.67653589793e-4f);
    const Expr z = y * y;
    // The smallest largest error relative to sin(y): 6e-9.
    const Expr sine = y * polynomial(z, {1.0f, -0.16666659712791443f, 0.008333064615726471f,
                                         -0.00019809474179055542f, 2.6054801764985314e-06f});
    const Expr is_odd = (cast(Int(32, x.type().lanes()), k) & 1) == 1;
    return select(is_odd, -sine, sine);
}

constexpr float half_turns_in_one = 0.318309886f;

/// f(x) in float32, of integers, too; as a float of another width if x is one.
template<typename F>
Expr in_float32(const char *op, const Expr &x, const F &f) {
    const Expr y = as_float(op, x);
    const Type single = Float(32, y.type().lanes());
    return y.type() == single ? f(y) : cast(y.type(), f(cast(single, y)));
}

Expr fast_sin_single(const Expr &x) {
    const Expr k = round(x * half_turns_in_one);
    return sine_of_rest(x, k, k);
}

Expr fast_cos_single(const Expr &x) {
    // cos((k + 1/2) pi + y) is -sin(y) * (-1)^k.
    const Expr k = round(x * half_turns_in_one - 0.5f);
    return sine_of_rest(x, k + 0.5f, k + 1.0f);
}

}  // namespace

Expr fast_sin(const Expr &x) {
    return in_float32("fast_sin", x, fast_sin_single);
}

Expr fast_cos(const Expr &x) {
    return in_float32("fast_cos", x, fast_cos_single);
}

// x = m * 2^e with m from sqrt(1/2) to sqrt(2), whose lower end has the bits 0x3f3504f3; log x =
// log m + e log 2: 127 times the error of the latter's constant are a hundredth of a unit in the last place.
Expr fast_log(const Expr &x) {
    check_float32("fast_log", x);
    const Type i32 = Int(32, x.type().lanes()), u32 = UInt(32, x.type().lanes());
    const Expr bits = reinterpret(i32, x);
    // A difference that may wrap, so that it stays in front of the shift.
    const Expr e = reinterpret(i32, reinterpret(u32, x) - make_const(u32, 0x3f3504f3)) >> 23;
    const Expr f = reinterpret(x.type(), bits - (e << 23)) - 1.0f;
    const Expr log_m =
        f * polynomial(f, {1.0f, -0.49999988079071045f, 0.3333418667316437f, -0.25002074241638184f,
                           0.19956833124160767f, -0.16562402248382568f, 0.1495228260755539f,
                           -0.14366787672042847f, 0.08722243458032608f});
    return cast(x.type(), e) * 0.693147181f + log_m;
}

// exp x = 2^(n - 1) * 2 exp r with n = round(x / log 2). The limits of x are where n - 1 has the
// biased exponents of zero and of infinity.
Expr fast_exp(const Expr &x) {
    check_float32("fast_exp", x);
    const Type i32 = Int(32, x.type().lanes());
    const Expr limited = clamp(x, -87.4f, 89.5f);
    const Expr n = round(limited * 1.44269504f);
    // This constant is nearer to log 2 than most would be: a fused product loses a unit in the last place for each 60
    // of n.
    const Expr r = limited - n * 0.693147182f;
    const Expr two_exp_r =
        polynomial(r, {2.0000002384185791f, 1.9999994039535522f, 0.99997788667678833f,
                       0.33335149288177490f, 0.08383086323738098f, 0.01659528911113739f});
    return two_exp_r * reinterpret(x.type(), (cast(i32, n) + 126) << 23);
}

Expr fast_pow(Expr x, Expr y) {
    check_defined("fast_pow", x, y);
    int64_t n;
    if (is_expandable(y, &n)) {
        user_assert(!x.type().is_handle()) << "fast_pow of a handle";
        return integer_power(x, n);
    }
    const Type t = Float(32, x.type().lanes());
    x = cast(t, std::move(x));
    y = cast(t, std::move(y));
    const Expr at_zero = select(y == 0.0f, make_one(t), make_zero(t));
    return select(x == 0.0f, at_zero, fast_exp(fast_log(x) * y));
}

Expr fast_inverse(Expr x) {
    check_float32("fast_inverse", x);
    return unary("fast_inverse", Intrinsic::fast_inverse, std::move(x));
}

Expr fast_inverse_sqrt(Expr x) {
    check_float32("fast_inverse_sqrt", x);
    return unary("fast_inverse_sqrt", Intrinsic::fast_inverse_sqrt, std::move(x));
}

Expr tf32(Expr x) {
    check_float32("tf32", x);
    return unary("tf32", Intrinsic::round_to_tf32, std::move(x));
}

Expr truncate_to_tf32(Expr x) {
    check_float32("truncate_to_tf32", x);
    return unary("truncate_to_tf32", Intrinsic::trunc_to_tf32, std::move(x));
}

Expr lerp(Expr zero_val, Expr one_val, Expr weight) {
    check_defined("lerp", zero_val, one_val);
    check_defined("lerp", weight);
    if (zero_val.type().element_of() == Int(32) && is_const(zero_val)) {
        zero_val = cast(one_val.type(), std::move(zero_val));
    } else if (one_val.type().element_of() == Int(32) && is_const(one_val)) {
        one_val = cast(zero_val.type(), std::move(one_val));
    }
    internal::match_lanes("lerp", zero_val, one_val);
    internal::match_lanes("lerp", weight, zero_val);
    internal::match_lanes("lerp", zero_val, one_val);
    const Type t = zero_val.type();
    user_assert(t == one_val.type() && !t.is_handle())
        << "lerp between types " << t << " and " << one_val.type()
        << ", must be one type of number; cast one of them";
    user_assert((weight.type().is_uint() && weight.type().bits() <= 32) || weight.type().is_float())
        << "the weight of a lerp has type " << weight.type()
        << ", must be a float or an unsigned integer of at most 32 bits";
    if (auto w = as_const_float(weight); w && !t.is_float()) {
        user_assert(*w >= 0 && *w <= 1)
            << "the weight of a lerp of integers is " << *w << ", must be from 0 to 1";
    }
    return Call::make(t, Intrinsic::lerp,
                      {std::move(zero_val), std::move(one_val), std::move(weight)});
}

}  // namespace calotype
