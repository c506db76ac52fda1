// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sin, cos, tan and their inverses.
//
// x = q pi/2 + r with |r| <= pi/4; q modulo 4 says which of +-sin(r), +-cos(r) it is. The reduction
// must keep the digits of r when x is near a multiple of pi/2: float32 does it in float64, float64
// with pi/2 in three parts. Beyond the reach of that (|x| > 2^19) the C library is asked.
#include <llvm/IR/Intrinsics.h>

#include "codegen/llvm/math/coefficients.h"
#include "codegen/llvm/math/math.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Value;
namespace table = coefficients;

namespace {

constexpr double infinity = __builtin_inf();
constexpr double two_over_pi = 0x1.45f306dc9c883p-1;
/// pi/2 in parts; small multiples of the first two are exact.
constexpr double half_pi_1 = 0x1.921fb544p+0, half_pi_2 = 0x1.0b4611a6p-34,
                 half_pi_3 = 0x1.3198a2e037073p-69;
constexpr double half_pi_rest = 0x1.0b4611a626331p-34;  // of the first part alone
constexpr double max_reduced = 0x1p19;

constexpr double tan_pi_8 = 0x1.a827999fcef32p-2;

/// A constant nearest to pi/2 in each type, and what is left.
struct HalfPi {
    double high, low;
};
constexpr HalfPi half_pi_32 = {0x1.921fb6p+0, -0x1.777a5cp-25},
                 half_pi_64 = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};

}  // namespace

// Lanes with |x| > limit are the C library's.
Value *MathEmitter::unless_large(Value *x, double limit, Value *fast, const char *name) {
    Value *large = b_.CreateFCmpOGT(absolute(x), constant(limit));
    return unless_any(large, fast, name, {x}, [&](const std::vector<Value *> &args) {
        return f_.machine().has_c_library()
                   ? by_libm(name, args)
                   : f_.by_lanes(args, type_.lanes(), [&](const std::vector<Value *> &lane) {
                         return MathEmitter(f_, type_.element_of()).of_large_angle(name, lane[0]);
                     });
    });
}

// Of a float32 in float64, to the digits that a result of float32 needs.
void MathEmitter::reduce_narrow_angle(Value *x, Value **r, Value **quadrant) {
    Value *q = nearest(x, two_over_pi, quadrant);
    Value *part = multiply_add(q, constant(-half_pi_1), x);
    *r = multiply_add(q, constant(-half_pi_rest), part);
}

void MathEmitter::reduce_angle(Value *x, Value **r, Value **quadrant) {
    if (!is_double()) {
        MathEmitter wide(f_, type_.with_bits(64));
        Value *wide_r, *wide_quadrant;
        wide.reduce_narrow_angle(b_.CreateFPExt(x, wide.float_type_), &wide_r, &wide_quadrant);
        *r = b_.CreateFPTrunc(wide_r, float_type_);
        *quadrant = b_.CreateTrunc(wide_quadrant, int_type_);
        return;
    }
    Value *q = nearest(x, two_over_pi, quadrant);
    Value *part = multiply_add(q, constant(-half_pi_1), x);
    part = multiply_add(q, constant(-half_pi_2), part);
    *r = multiply_add(q, constant(-half_pi_3), part);
}

// The sum gives +0 for r = -0; otherwise it has the sign of r.
Value *MathEmitter::sine_kernel(Value *r) {
    Value *sign = b_.CreateAnd(bits_of(r), bits_constant(uint64_t(1) << (type_.bits() - 1)));
    Value *sum = odd_kernel(r, table::sin32, table::sin64);
    return from_bits(b_.CreateOr(bits_of(sum), sign));
}

Value *MathEmitter::cosine_kernel(Value *r) {
    Value *z = b_.CreateFMul(r, r);
    Value *p = kernel(z, table::cos32, table::cos64);
    // 1 - z / 2 with the error of that difference.
    Value *h = b_.CreateFMul(z, constant(0.5));
    Value *w = b_.CreateFSub(constant(1.0), h);
    Value *lost = b_.CreateFSub(b_.CreateFSub(constant(1.0), w), h);
    return b_.CreateFAdd(w, multiply_add(b_.CreateFMul(z, z), p, lost));
}

// sin(x + quadrants pi/2)
Value *MathEmitter::sine_or_cosine(Value *x, int quadrants) {
    // Devices have few units for float64.
    if (!is_double() && f_.machine().has_c_library()) {
        if (type_.is_scalar()) {
            MathEmitter pair(f_, type_.with_bits(64).with_lanes(2));
            Value *wide = f_.splat(b_.CreateFPExt(x, pair.float_type_->getScalarType()), 2);
            Value *both =
                b_.CreateFPTrunc(pair.narrow_sine_and_cosine(wide), f_.type(type_.with_lanes(2)));
            return b_.CreateExtractElement(both, uint64_t(quadrants));
        }
        return through_double(
            [&](MathEmitter &wide, Value *v) { return wide.narrow_sine_or_cosine(v, quadrants); },
            x);
    }
    Value *r, *q;
    reduce_angle(x, &r, &q);
    return of_quadrant(sine_kernel(r), cosine_kernel(r), q, quadrants);
}

// The same of a float32, which is in float64 for the reduction already: it stays there, where no
// rounding error has to be kept. r (1 + ...) has the sign of zeros.
Value *MathEmitter::narrow_sine_or_cosine(Value *x, int quadrants) {
    Value *r, *q, *one = constant(1.0);
    reduce_narrow_angle(x, &r, &q);
    Value *z = b_.CreateFMul(r, r);
    Value *sine = b_.CreateFMul(r, multiply_add(z, polynomial(z, table::sin32), one));
    Value *cosine = multiply_add(z, polynomial(z, table::cos32), constant(-0.5));
    return of_quadrant(sine, multiply_add(z, cosine, one), q, quadrants);
}

// Both, of a number that is in both of two lanes: each has one polynomial, and they change places after an odd number
// of quarter turns. Where a program needs one alone that takes no longer, and where it needs both LLVM finds that they are
// the same. Each is what narrow_sine_or_cosine() gives.
Value *MathEmitter::narrow_sine_and_cosine(Value *x) {
    Value *r, *q;
    reduce_narrow_angle(x, &r, &q);
    Value *z = b_.CreateFMul(r, r);
    const double(&s)[3] = table::sin32, (&c)[3] = table::cos32;
    Value *sum = multiply_add(of_lanes(0, c[2]), z, of_lanes(s[2], c[1]));
    sum = multiply_add(sum, z, of_lanes(s[1], c[0]));
    sum = multiply_add(sum, z, of_lanes(s[0], -0.5));
    Value *factor = b_.CreateShuffleVector(r, constant(1.0), {0, 3});
    Value *both = b_.CreateFMul(factor, multiply_add(z, sum, constant(1.0)));
    Value *is_odd = b_.CreateIsNotNull(b_.CreateAnd(q, bits_constant(1)));
    both = b_.CreateSelect(is_odd, b_.CreateShuffleVector(both, {1, 0}), both);
    llvm::Type *bits = int_type_->getScalarType();
    Value *quarters = b_.CreateAdd(q, llvm::ConstantVector::get({llvm::ConstantInt::get(bits, 0),
                                                                 llvm::ConstantInt::get(bits, 1)}));
    Value *sign = b_.CreateShl(b_.CreateAnd(quarters, bits_constant(2)), 62);
    return from_bits(b_.CreateXor(bits_of(both), sign));
}

// The one that it is after so many quarter turns, with its sign.
Value *MathEmitter::of_quadrant(Value *sine, Value *cosine, Value *q, int more_quadrants) {
    q = more_quadrants ? b_.CreateAdd(q, bits_constant(uint64_t(more_quadrants))) : q;
    Value *is_cosine = b_.CreateIsNotNull(b_.CreateAnd(q, bits_constant(1)));
    Value *v = b_.CreateSelect(is_cosine, cosine, sine);
    Value *sign = b_.CreateShl(b_.CreateAnd(q, bits_constant(2)), uint64_t(type_.bits() - 2));
    return from_bits(b_.CreateXor(bits_of(v), sign));
}

Value *MathEmitter::sin(Value *x) {
    return unless_large(x, max_reduced, sine_or_cosine(x, 0), "sin");
}

Value *MathEmitter::cos(Value *x) {
    return unless_large(x, max_reduced, sine_or_cosine(x, 1), "cos");
}

Value *MathEmitter::tan(Value *x) {
    Value *r, *q;
    reduce_angle(x, &r, &q);
    Value *s = sine_kernel(r), *c = cosine_kernel(r);
    Value *inverted = b_.CreateIsNotNull(b_.CreateAnd(q, bits_constant(1)));
    Value *numerator = b_.CreateSelect(inverted, b_.CreateFNeg(c), s);
    Value *v = b_.CreateFDiv(numerator, b_.CreateSelect(inverted, s, c));
    return unless_large(x, max_reduced, v, "tan");
}

// atan(small / large) for 0 <= small <= large, not both zero: of (small - large) / (small + large)
// and pi/4 more where the ratio is above tan(pi/8).
Value *MathEmitter::arc_tangent_of_ratio(Value *small, Value *large) {
    Value *moved = b_.CreateFCmpOGT(small, b_.CreateFMul(large, constant(tan_pi_8)));
    Value *numerator = b_.CreateSelect(moved, b_.CreateFSub(small, large), small);
    Value *denominator = b_.CreateSelect(moved, b_.CreateFAdd(small, large), large);
    Value *t = b_.CreateFDiv(numerator, denominator);
    Value *v = odd_kernel(t, table::atan32, table::atan64);
    HalfPi half_pi = is_double() ? half_pi_64 : half_pi_32;
    Value *high = constant(half_pi.high / 2), *low = constant(half_pi.low / 2);
    return b_.CreateSelect(moved, b_.CreateFAdd(high, b_.CreateFAdd(v, low)), v);
}

Value *MathEmitter::atan(Value *x) {
    Value *a = absolute(x), *one = constant(1.0);
    Value *above = b_.CreateFCmpOGT(a, one);
    Value *is_infinite = b_.CreateFCmpOEQ(a, constant(infinity));
    Value *small = b_.CreateSelect(above, one, a);
    Value *large = b_.CreateSelect(is_infinite, constant(is_double() ? 0x1p1000 : 0x1p120), a);
    Value *v = arc_tangent_of_ratio(small, b_.CreateSelect(above, large, one));
    HalfPi half_pi = is_double() ? half_pi_64 : half_pi_32;
    Value *rest = b_.CreateFAdd(b_.CreateFSub(constant(half_pi.high), v), constant(half_pi.low));
    return with_sign_of(b_.CreateSelect(above, rest, v), x);
}

Value *MathEmitter::atan2(Value *y, Value *x) {
    Value *ax = absolute(x), *ay = absolute(y);
    Value *swapped = b_.CreateFCmpOGT(ay, ax);
    Value *small = b_.CreateSelect(swapped, ax, ay), *large = b_.CreateSelect(swapped, ay, ax);
    Value *one = constant(1.0), *zero = constant(0.0), *inf = constant(infinity);
    // Both zero: the angle is that of (1, 0). Infinities count as 1, what is finite beside them as
    // 0.
    Value *infinite = b_.CreateFCmpOEQ(large, inf);
    Value *small_at_infinity = b_.CreateSelect(b_.CreateFCmpOEQ(small, inf), one, zero);
    Value *is_nan = b_.CreateFCmpUNO(x, y);
    small = b_.CreateSelect(infinite, small_at_infinity, small);
    large = b_.CreateSelect(b_.CreateOr(infinite, b_.CreateFCmpOEQ(large, zero)), one, large);
    // The sum of the two must not overflow.
    Value *huge = b_.CreateFCmpOGT(large, constant(is_double() ? 0x1p1000 : 0x1p120));
    Value *down = b_.CreateSelect(huge, constant(0x1p-20), one);
    Value *v = arc_tangent_of_ratio(b_.CreateFMul(small, down), b_.CreateFMul(large, down));
    HalfPi half_pi = is_double() ? half_pi_64 : half_pi_32;
    Value *complement =
        b_.CreateFAdd(b_.CreateFSub(constant(half_pi.high), v), constant(half_pi.low));
    v = b_.CreateSelect(swapped, complement, v);
    Value *beyond =
        b_.CreateFAdd(b_.CreateFSub(constant(2 * half_pi.high), v), constant(2 * half_pi.low));
    v = with_sign_of(b_.CreateSelect(is_negative(x), beyond, v), y);
    return b_.CreateSelect(is_nan, constant(__builtin_nan("")), v);
}

// From |x| = 1/2 on, pi/2 - 2 asin(sqrt((1 - |x|) / 2)).
Value *MathEmitter::asin(Value *x) {
    Value *a = absolute(x);
    Value *near_one = b_.CreateFCmpOGT(a, constant(0.5));
    Value *z = b_.CreateFMul(b_.CreateFSub(constant(1.0), a), constant(0.5));
    Value *root = f_.call_llvm(llvm::Intrinsic::sqrt, {z});
    Value *t = b_.CreateSelect(near_one, root, a);
    Value *square = b_.CreateSelect(near_one, z, b_.CreateFMul(a, a));
    Value *p = kernel(square, table::asin32, table::asin64);
    Value *v = multiply_add(b_.CreateFMul(t, square), p, t);
    HalfPi half_pi = is_double() ? half_pi_64 : half_pi_32;
    Value *folded =
        b_.CreateFSub(constant(half_pi.high),
                      b_.CreateFSub(b_.CreateFMul(constant(2.0), v), constant(half_pi.low)));
    return with_sign_of(b_.CreateSelect(near_one, folded, v), x);
}

// pi/2 - asin(x) for small |x|; else 2 asin(sqrt((1 - |x|) / 2)), or pi minus that where x is
// negative.
Value *MathEmitter::acos(Value *x) {
    Value *a = absolute(x);
    Value *near_one = b_.CreateFCmpOGT(a, constant(0.5));
    Value *z = b_.CreateFMul(b_.CreateFSub(constant(1.0), a), constant(0.5));
    Value *root = f_.call_llvm(llvm::Intrinsic::sqrt, {z});
    Value *t = b_.CreateSelect(near_one, root, x);
    Value *square = b_.CreateSelect(near_one, z, b_.CreateFMul(x, x));
    Value *p = kernel(square, table::asin32, table::asin64);
    Value *v = multiply_add(b_.CreateFMul(t, square), p, t);
    HalfPi half_pi = is_double() ? half_pi_64 : half_pi_32;
    Value *middle = b_.CreateFSub(constant(half_pi.high), b_.CreateFSub(v, constant(half_pi.low)));
    Value *twice = b_.CreateFMul(constant(2.0), v);
    Value *left =
        b_.CreateFSub(constant(2 * half_pi.high), b_.CreateFSub(twice, constant(2 * half_pi.low)));
    Value *outer = b_.CreateSelect(is_negative(x), left, twice);
    return b_.CreateSelect(near_one, outer, middle);
}

}  // namespace calotype::internal
