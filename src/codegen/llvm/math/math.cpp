// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// exp, log, pow and the hyperbolic functions; the trigonometric ones are in trigonometric.cpp.
//
// Each function brings its argument into a small interval, where a polynomial (coefficients.h)
// suffices. Everything is computed strictly: reassociation would undo the error terms that are
// carried along.
#include "codegen/llvm/math/math.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/Support/MathExtras.h>

#include "codegen/llvm/math/coefficients.h"
#include "ir/intrinsics.h"
#include "support/error.h"
#include "target/registers.h"

namespace calotype::internal {

using llvm::Value;
namespace table = coefficients;

namespace {

constexpr double infinity = __builtin_inf();
constexpr double log2_e = 0x1.71547652b82fep+0, ln2 = 0x1.62e42fefa39efp-1;

/// log(2) in two parts, of which an integer multiple of the first is exact.
struct SplitConstant {
    double high, low;
};
constexpr SplitConstant ln2_32 = {0x1.62cp-1, 0x1.217f7d1cf79acp-12};
constexpr SplitConstant ln2_64 = {0x1.62e42feep-1, 0x1.a39ef35793c76p-33};

/// 2 / log(2) in two parts, the first the nearest number of the type.
constexpr SplitConstant two_log2_e_32 = {0x1.715476p+1, 0x1.4ae0bf85ddf44p-25};
constexpr SplitConstant two_log2_e_64 = {0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55};

}  // namespace

MathEmitter::MathEmitter(FunctionEmitter &f, Type t)
    : f_(f), b_(f.builder()), type_(t), float_type_(f.type(t)),
      int_type_(f.type(t.with_code(Type::UInt))) {
}

Value *MathEmitter::constant(double x) const {
    return llvm::ConstantFP::get(float_type_, x);
}

// Of two lanes.
Value *MathEmitter::of_lanes(double first, double second) const {
    llvm::Type *t = float_type_->getScalarType();
    return llvm::ConstantVector::get(
        {llvm::ConstantFP::get(t, first), llvm::ConstantFP::get(t, second)});
}

Value *MathEmitter::bits_constant(uint64_t x) const {
    return llvm::ConstantInt::get(int_type_, x);
}

Value *MathEmitter::multiply_add(Value *a, Value *b, Value *c) {
    if (f_.machine().has_fused_multiply_add(f_.target())) {
        return f_.call_llvm(llvm::Intrinsic::fma, {a, b, c});
    }
    return b_.CreateFAdd(b_.CreateFMul(a, b), c);
}

// Pairs of terms first, which wait for nothing, then a polynomial of the square with these as its
// coefficients: half the chain, and from six terms on the same number of operations.
Value *MathEmitter::polynomial(Value *x, const double *c, int count) {
    if (count < 4) {
        Value *sum = constant(c[count - 1]);
        for (int i = count - 2; i >= 0; i--) {
            sum = multiply_add(sum, x, constant(c[i]));
        }
        return sum;
    }
    const auto pair = [&](int i) {
        return i + 1 < count ? multiply_add(constant(c[i + 1]), x, constant(c[i])) : constant(c[i]);
    };
    Value *square = b_.CreateFMul(x, x);
    int i = (count - 1) / 2 * 2;
    Value *sum = pair(i);
    for (i -= 2; i >= 0; i -= 2) {
        sum = multiply_add(sum, square, pair(i));
    }
    return sum;
}

Value *MathEmitter::bits_of(Value *x) {
    return b_.CreateBitCast(x, int_type_);
}

Value *MathEmitter::from_bits(Value *x) {
    return b_.CreateBitCast(x, float_type_);
}

Value *MathEmitter::absolute(Value *x) {
    return f_.call_llvm(llvm::Intrinsic::fabs, {x});
}

Value *MathEmitter::with_sign_of(Value *magnitude, Value *sign) {
    return f_.call_llvm(llvm::Intrinsic::copysign, {magnitude, sign});
}

Value *MathEmitter::is_negative(Value *x) {
    llvm::Type *t = f_.type(type_.with_code(Type::Int));
    return b_.CreateICmpSLT(b_.CreateBitCast(x, t), llvm::Constant::getNullValue(t));
}

Value *MathEmitter::by_libm(const char *name, const std::vector<Value *> &args) {
    std::string symbol = std::string(name) + (is_double() ? "" : "f");
    llvm::Type *scalar = f_.type(type_.element_of());
    return f_.by_lanes(args, type_.lanes(), [&](const std::vector<Value *> &lane) {
        return f_.call_c(symbol, scalar, lane);
    });
}

// Of a result in memory there would be nothing to gain, and LLVM would do what in_whole_registers() says.
bool MathEmitter::rare_keeps_registers() const {
    const int most = 4;  // that a function returns a result in
    return f_.machine().preserves_registers() &&
           type_.bits() * type_.lanes() <= most * widest_register_bits(f_.target(), true);
}

// What a function returns that saves all registers but those of its result. If that is narrower than a register, LLVM
// takes the rest of the register for saved, and clears the upper halves of all of AVX after they are restored, as before
// any return without one of these.
Type MathEmitter::in_whole_registers() const {
    if (!rare_keeps_registers()) {
        return type_;
    }
    const int least = widest_register_bits(f_.target(), true) / type_.bits();
    return type_.with_lanes(std::max(int(llvm::PowerOf2Ceil(uint64_t(type_.lanes()))), least));
}

// The function stands by itself, as its call is almost never made: what it takes for granted to be rare does not
// take registers and time in the loop. It saves what it changes: the loop would keep its sums in memory otherwise.
Value *MathEmitter::unless_any(Value *special, Value *usual, const std::string &name,
                               const std::vector<Value *> &args, const OfArguments &any) {
    Value *is_rare = special->getType()->isVectorTy() ? b_.CreateOrReduce(special) : special;
    std::string symbol = "calotype." + name + ".f" + std::to_string(type_.bits()) + "x" +
                         std::to_string(type_.lanes());
    llvm::Function *slow = f_.module().llvm().getFunction(symbol);
    const Type returned = in_whole_registers();
    if (!slow) {
        auto *type = llvm::FunctionType::get(
            f_.type(returned), std::vector<llvm::Type *>(args.size(), float_type_), false);
        slow = f_.module().internal_function(symbol, type);
        if (rare_keeps_registers()) {
            slow->setCallingConv(llvm::CallingConv::PreserveAll);
        }
        slow->addFnAttr(llvm::Attribute::NoInline);
        slow->addFnAttr(llvm::Attribute::Cold);
        slow->setDoesNotAccessMemory();
        llvm::IRBuilderBase::InsertPointGuard guard(b_);
        b_.SetInsertPoint(llvm::BasicBlock::Create(b_.getContext(), "entry", slow));
        std::vector<Value *> parameters;
        for (llvm::Argument &parameter : slow->args()) {
            parameters.push_back(&parameter);
        }
        b_.CreateRet(f_.slice(any(parameters), 0, returned.lanes()));
    }
    llvm::BasicBlock *from = b_.GetInsertBlock();
    auto *call = llvm::BasicBlock::Create(b_.getContext(), "rare", from->getParent());
    auto *after = llvm::BasicBlock::Create(b_.getContext(), "usual", from->getParent());
    b_.CreateCondBr(is_rare, call, after);
    b_.SetInsertPoint(call);
    llvm::CallInst *rare = b_.CreateCall(slow, args);
    rare->setCallingConv(slow->getCallingConv());
    Value *exact = f_.slice(rare, 0, type_.lanes());
    Value *chosen =
        type_.is_scalar() ? exact : b_.CreateSelect(special, exact, usual);  // as in scalars
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
    llvm::PHINode *result = b_.CreatePHI(float_type_, 2);
    result->addIncoming(usual, from);
    result->addIncoming(chosen, call);
    return result;
}

// Adding 1.5 * 2^23 (2^52) pushes the fraction out at the right end and leaves the integer in the
// low bits.
Value *MathEmitter::nearest(Value *x, double factor, Value **bits, int bias) {
    Value *magic = constant((is_double() ? 0x1.8p52 : 0x1.8p23) + bias);
    Value *moved = multiply_add(x, constant(factor), magic);
    if (bits) {
        *bits = bits_of(moved);
    }
    return b_.CreateFSub(moved, magic);
}

// The exponent of a float64 has room for all that an exponential of a float32 is scaled by, and what its mantissa
// loses is lost by rounding to the result. Of lanes these would fill two vectors.
bool MathEmitter::scales_in_double() const {
    return !is_double() && !type_.is_vector();
}

int MathEmitter::bias_of_scale() const {
    return scales_in_double() ? 1023 : 2 * exponent_bias();
}

Value *MathEmitter::scale_in_double(Value *x, const Power &power, Value *is_zero) {
    MathEmitter wide(f_, type_.with_bits(64));
    Value *bits = b_.CreateZExt(power.bits, wide.int_type_);
    Value *scale = wide.from_bits(b_.CreateShl(bits, wide.mantissa_bits()));
    scale = b_.CreateSelect(is_zero, wide.constant(0.0), scale);
    x = b_.CreateFPExt(x, wide.float_type_);
    return b_.CreateFPTrunc(wide.multiply_add(x, scale, scale), float_type_);
}

// (1 + x) * 2^n, n up to 1500 (190) away from zero: in two steps, so that the only rounding after that of the
// sum is that of a subnormal result. Each is by about half of n; twice the bias of an exponent has been added to
// n's bits, so that these halves are exponents already. Zero is chosen first: a product that underflows takes
// a processor a hundred cycles and more.
Value *MathEmitter::scale_one_plus(Value *x, const Power &power, Value *is_zero) {
    Value *zero = constant(0.0), *whole = b_.CreateFAdd(x, constant(1.0));
    if (Value *scaled =
            f_.machine().scaled(f_, b_.CreateSelect(is_zero, zero, whole), power.n, type_)) {
        return scaled;
    }
    if (scales_in_double()) {
        return scale_in_double(x, power, is_zero);
    }
    Value *half = b_.CreateLShr(power.bits, 1);
    Value *first = from_bits(b_.CreateShl(half, mantissa_bits()));
    Value *second = from_bits(b_.CreateShl(b_.CreateSub(power.bits, half), mantissa_bits()));
    first = b_.CreateSelect(is_zero, zero, first);
    return b_.CreateFMul(multiply_add(x, first, first), second);
}

Value *MathEmitter::clamp(Value *x, double low, double high) {
    x = b_.CreateSelect(b_.CreateFCmpOGT(x, constant(high)), constant(high), x);
    return b_.CreateSelect(b_.CreateFCmpOLT(x, constant(low)), constant(low), x);
}

// exp(x) * 2^exponent. x = n log(2) + r, exp(x) = 2^n exp(r).
Value *MathEmitter::exp_scaled(Value *x, int exponent) {
    // Beyond these limits the result is infinity or zero; NaN passes through. It is zero also where exp() would be
    // subnormal: the weights of a softmax have many of these, and each takes some processors 150 cycles.
    const double high_limit = is_double() ? 711.0 : 90.0;
    const double low_limit = is_double() ? -708.396418532264 : -87.33654;
    Power power;
    Value *p = exp_less_one(clamp(x, low_limit, high_limit), bias_of_scale() + exponent, &power);
    power.n = exponent ? b_.CreateFAdd(power.n, constant(exponent)) : power.n;
    return scale_one_plus(p, power, b_.CreateFCmpOLT(x, constant(low_limit)));
}

// x = n log(2) + r, and exp(r) - 1.
Value *MathEmitter::exp_less_one(Value *x, int bias, Power *power) {
    power->n = nearest(x, log2_e, &power->bits, bias);
    SplitConstant parts = is_double() ? ln2_64 : ln2_32;
    Value *r = multiply_add(power->n, constant(-parts.high), x);
    r = multiply_add(power->n, constant(-parts.low), r);
    return multiply_add(b_.CreateFMul(r, r), kernel(r, table::exp32, table::exp64), r);
}

// Without a branch for results near zero, as those are not rare: most weights of a softmax are.
Value *MathEmitter::exp(Value *x) {
    return exp_scaled(x, 0);
}

bool MathEmitter::split_by_instructions(Value *x, Value **m, Value **e) {
    if (!f_.machine().split_exponent(f_, x, type_, m, e)) {
        return false;
    }
    if (!is_double()) {
        return true;
    }
    Value *is_above =
        b_.CreateFCmpOGE(*m, b_.CreateFMul(constant(2.0), from_bits(least_mantissa())));
    *m = b_.CreateSelect(is_above, b_.CreateFMul(*m, constant(0.5)), *m);
    *e = b_.CreateSelect(is_above, b_.CreateFAdd(*e, constant(1.0)), *e);
    return true;
}

// Without instructions for it, the exponent is shifted out; the least mantissa is moved to where one
// begins before.
void MathEmitter::split_exponent(Value *x, Value **m, Value **e) {
    if (split_by_instructions(x, m, e)) {
        return;
    }
    const bool d = is_double();
    double up = d ? 0x1p54 : 0x1p25, down = d ? -54 : -25;
    Value *subnormal = b_.CreateFCmpOLT(x, smallest_normal());
    Value *scaled = b_.CreateSelect(subnormal, b_.CreateFMul(x, constant(up)), x);
    Value *exponent;
    split_normal_exponent(scaled, m, &exponent);
    exponent = b_.CreateFAdd(exponent, b_.CreateSelect(subnormal, constant(down), constant(0.0)));
    exponent = b_.CreateSelect(b_.CreateFCmpOLT(x, constant(infinity)), exponent, x);
    *e = b_.CreateSelect(b_.CreateFCmpOEQ(x, constant(0.0)), constant(-infinity), exponent);
}

void MathEmitter::split_normal_exponent(Value *x, Value **m, Value **e) {
    if (!is_double()) {
        Value *exponent =
            b_.CreateAShr(b_.CreateSub(bits_of(x), least_mantissa()), mantissa_bits());
        *m = from_bits(b_.CreateSub(bits_of(x), b_.CreateShl(exponent, mantissa_bits())));
        *e = b_.CreateSIToFP(exponent, float_type_);
        return;
    }
    // Few machines convert vectors of 64-bit integers. The biased exponent below the leading bit of 2^52 is
    // that integer plus 2^52.
    Value *base = constant(0x1p52);
    Value *shifted =
        b_.CreateAdd(bits_of(x), b_.CreateSub(bits_of(constant(1.0)), least_mantissa()));
    Value *fraction = b_.CreateAnd(shifted, bits_constant((uint64_t(1) << mantissa_bits()) - 1));
    *m = from_bits(b_.CreateAdd(fraction, least_mantissa()));
    Value *biased = b_.CreateOr(b_.CreateLShr(shifted, mantissa_bits()), bits_of(base));
    *e = b_.CreateFSub(from_bits(biased), constant(0x1p52 + exponent_bias()));
}

// sqrt(1/2), or for float32 3/4: instructions give mantissas from there to 3/2, and a polynomial of as many terms
// suffices.
Value *MathEmitter::least_mantissa() const {
    return bits_constant(is_double() ? 0x3fe6a09e667f3bcd : 0x3f400000);
}

Value *MathEmitter::smallest_normal() const {
    return constant(is_double() ? 0x1p-1022 : 0x1p-126);
}

// Of positive numbers integers are in the same order as the floats whose bits they are; those of negative ones,
// of zero and of subnormal numbers are less, and those of infinity and NaN more. With its sign changed the difference
// is compared as a signed number, which every machine has an instruction for.
Value *MathEmitter::is_not_normal(Value *x) {
    Value *least = bits_of(smallest_normal()), *sign = bits_of(constant(-0.0));
    Value *count = b_.CreateSub(bits_of(constant(infinity)), least);
    Value *moved = b_.CreateSub(bits_of(x), b_.CreateAdd(least, sign));
    return b_.CreateICmpSGE(moved, b_.CreateAdd(count, sign));
}

// log(2^e (1 + f)) of float64, with s = f / (2 + f): log(1 + f) = 2 s + s^3 P(s^2), written as f minus
// small terms, since f is exact:  f - (h - s (h + s^2 P)), h = f^2 / 2.
Value *MathEmitter::log_by_quotient(Value *f, Value *e) {
    Value *s = b_.CreateFDiv(f, b_.CreateFAdd(constant(2.0), f));
    Value *z = b_.CreateFMul(s, s);
    Value *r = b_.CreateFMul(z, polynomial(z, table::log64));
    Value *h = b_.CreateFMul(constant(0.5), b_.CreateFMul(f, f));
    Value *small = multiply_add(s, b_.CreateFAdd(h, r), b_.CreateFMul(e, constant(ln2_64.low)));
    Value *log_m = b_.CreateFSub(b_.CreateFSub(h, small), f);
    return b_.CreateFSub(b_.CreateFMul(e, constant(ln2_64.high)), log_m);
}

// Of float32 a polynomial of f itself is short enough to take less time than a quotient. The exponent, which is
// zero or the larger part, is added to f while the polynomial is computed; log(2) is nearer to a float32 than most
// numbers, so that one product loses a fifteenth of the last place.
Value *MathEmitter::log_by_polynomial(Value *f, Value *e) {
    Value *sum = multiply_add(e, constant(ln2), f);
    return multiply_add(b_.CreateFMul(f, f), polynomial(f, table::log32), sum);
}

Value *MathEmitter::log_of_parts(Value *m, Value *e) {
    Value *f = b_.CreateFSub(m, constant(1.0));
    return is_double() ? log_by_quotient(f, e) : log_by_polynomial(f, e);
}

Value *MathEmitter::unless_negative(Value *x, Value *result) {
    return b_.CreateSelect(b_.CreateFCmpOLT(x, constant(0.0)), constant(__builtin_nan("")), result);
}

Value *MathEmitter::log_of_any(Value *x) {
    Value *m, *e;
    split_exponent(x, &m, &e);
    return unless_negative(x, log_of_parts(m, e));
}

Value *MathEmitter::log(Value *x) {
    Value *m, *e;
    if (split_by_instructions(x, &m, &e)) {
        return unless_negative(x, log_of_parts(m, e));
    }
    split_normal_exponent(x, &m, &e);
    return unless_any(is_not_normal(x), log_of_parts(m, e), "log", {x},
                      [&](const std::vector<Value *> &args) { return log_of_any(args[0]); });
}

// a * b exactly. Without a fused multiply-add the factors are cut in halves whose products are
// exact.
MathEmitter::Pair MathEmitter::two_product(Value *a, Value *b) {
    Value *high = b_.CreateFMul(a, b);
    if (f_.machine().has_fused_multiply_add(f_.target())) {
        return {high, f_.call_llvm(llvm::Intrinsic::fma, {a, b, b_.CreateFNeg(high)})};
    }
    auto top = [&](Value *v) {
        uint64_t mask = is_double() ? ~uint64_t(0x7ffffff) : ~uint64_t(0xfff);
        return from_bits(b_.CreateAnd(bits_of(v), bits_constant(mask)));
    };
    Value *ah = top(a), *al = b_.CreateFSub(a, ah), *bh = top(b), *bl = b_.CreateFSub(b, bh);
    Value *low = b_.CreateFSub(b_.CreateFMul(ah, bh), high);
    low = b_.CreateFAdd(low, b_.CreateFMul(ah, bl));
    low = b_.CreateFAdd(low, b_.CreateFMul(al, bh));
    return {high, b_.CreateFAdd(low, b_.CreateFMul(al, bl))};
}

// c - a * b, where that is a number of the type.
Value *MathEmitter::exact_difference(Value *c, Value *a, Value *b) {
    if (f_.machine().has_fused_multiply_add(f_.target())) {
        return f_.call_llvm(llvm::Intrinsic::fma, {b_.CreateFNeg(a), b, c});
    }
    Pair product = two_product(a, b);
    return b_.CreateFSub(b_.CreateFSub(c, product.high), product.low);
}

// log2(x) of x >= 0 to six bits more than the type has, as log() but with the errors of s and of the
// sums kept. The second part is what is left of no rounded sum: it may be a fiftieth of the first.
MathEmitter::Pair MathEmitter::log2_pair(Value *m, Value *e) {
    Value *one = constant(1.0), *f = b_.CreateFSub(m, one), *d = b_.CreateFAdd(m, one);
    Value *d_low = b_.CreateFSub(m, b_.CreateFSub(d, one));
    Value *inverse = b_.CreateFDiv(one, d);
    Value *s = b_.CreateFMul(f, inverse);
    Value *rest = multiply_add(b_.CreateFNeg(s), d_low, exact_difference(f, s, d));
    Value *s_low = b_.CreateFMul(rest, inverse);
    Value *z = b_.CreateFMul(s, s);
    // 2 / log(2) s, of which the rounding error is kept; its slope with the cubic term is that and
    // z times as much.
    SplitConstant factor = is_double() ? two_log2_e_64 : two_log2_e_32;
    Value *high_factor = constant(factor.high);
    Pair linear = two_product(s, high_factor);
    Value *low = multiply_add(s, constant(factor.low), linear.low);
    low = multiply_add(s_low, multiply_add(z, high_factor, high_factor), low);
    low = multiply_add(b_.CreateFMul(s, z), kernel(z, table::log2_32, table::log2_64), low);
    // The exponent is larger than that, or zero.
    Value *high = b_.CreateFAdd(e, linear.high);
    Value *lost = b_.CreateFAdd(b_.CreateFSub(e, high), linear.high);
    return {high, b_.CreateFAdd(lost, low)};
}

Value *MathEmitter::through_double(const std::function<Value *(MathEmitter &, Value *)> &f,
                                   Value *x) {
    MathEmitter wide(f_, type_.with_bits(64));
    return b_.CreateFPTrunc(f(wide, b_.CreateFPExt(x, wide.float_type_)), float_type_);
}

// The sign and the exceptions of x^y, given |x|^y.
Value *MathEmitter::pow_specials(Value *magnitude, Value *x, Value *y) {
    Value *one = constant(1.0);
    Value *is_integer = b_.CreateFCmpOEQ(f_.call_llvm(llvm::Intrinsic::floor, {y}), y);
    Value *half = b_.CreateFMul(y, constant(0.5));
    Value *is_even = b_.CreateFCmpOEQ(f_.call_llvm(llvm::Intrinsic::floor, {half}), half);
    Value *is_odd = b_.CreateAnd(is_integer, b_.CreateNot(is_even));
    Value *result =
        b_.CreateSelect(b_.CreateAnd(is_odd, is_negative(x)), b_.CreateFNeg(magnitude), magnitude);
    // Finite and below zero: as integers these follow on -0.
    const uint64_t zero = uint64_t(1) << (type_.bits() - 1),
                   end = is_double() ? 0xfff0000000000000 : 0xff800000;
    Value *below_zero = b_.CreateICmpULT(b_.CreateSub(bits_of(x), bits_constant(zero + 1)),
                                         bits_constant(end - zero - 1));
    Value *no_value = b_.CreateAnd(below_zero, b_.CreateNot(is_integer));
    result = b_.CreateSelect(no_value, constant(__builtin_nan("")), result);
    // Of y = 0, and of 1 to the power of anything, and -1 to that of infinity, it is 1. For most y
    // that comes out by itself.
    Value *size = absolute(y);
    Value *is_special = b_.CreateNot(b_.CreateFCmpOLT(size, constant(infinity)));
    Value *to_infinity = b_.CreateFCmpOEQ(size, constant(infinity));
    Value *is_one = b_.CreateAnd(b_.CreateFCmpOEQ(x, one), is_special);
    Value *is_minus_one = b_.CreateAnd(b_.CreateFCmpOEQ(x, constant(-1.0)), to_infinity);
    is_one = b_.CreateOr(b_.CreateOr(is_one, is_minus_one), b_.CreateFCmpOEQ(y, constant(0.0)));
    return b_.CreateSelect(is_one, one, result);
}

// y (l + l'), the product to twice the digits.
MathEmitter::Pair MathEmitter::times(Value *y, const Pair &l) {
    Pair product = two_product(y, l.high);
    return {product.high, multiply_add(y, l.low, product.low)};
}

// 2^(x + low), with low up to a fiftieth of x, or any if x is out of range.
Value *MathEmitter::exp2(Value *x, Value *low) {
    const double limit = is_double() ? 1100.0 : 160.0;
    Value *clamped = clamp(x, -limit, limit);
    low = b_.CreateSelect(b_.CreateFCmpOEQ(clamped, x), low, constant(0.0));
    Power power;
    Value *p = exp2_less_one(clamped, low, bias_of_scale(), &power);
    return scale_one_plus(p, power, b_.CreateFCmpOLT(x, constant(-limit)));
}

// x + low = n + r, and 2^r - 1.
Value *MathEmitter::exp2_less_one(Value *x, Value *low, int bias, Power *power) {
    Value *sum = b_.CreateFAdd(x, low);
    power->n = nearest(sum, 1.0, &power->bits, bias);
    Value *r = b_.CreateFAdd(b_.CreateFSub(x, power->n), low);
    Value *p = multiply_add(r, kernel(r, table::exp2_32, table::exp2_64), constant(ln2));
    return b_.CreateFMul(r, p);
}

Value *MathEmitter::pow_of_any(Value *x, Value *y) {
    Value *m, *e;
    split_exponent(absolute(x), &m, &e);
    const Pair product = times(y, log2_pair(m, e));
    return pow_specials(exp2(product.high, product.low), x, y);
}

// |x|^y = 2^(y log2|x|). Where x is positive and normal and so is the result, nothing else is to be asked; images
// have many zeros, whose powers are zero if y is positive.
Value *MathEmitter::pow(Value *x, Value *y) {
    Value *zero = constant(0.0), *m, *e;
    Value *is_zero = b_.CreateICmpEQ(bits_of(x), bits_constant(0));  // and not -0
    Value *base = b_.CreateSelect(is_zero, constant(1.0), x);
    Value *is_unusual = b_.CreateAnd(is_zero, b_.CreateFCmpULE(y, zero));
    is_unusual = b_.CreateOr(is_unusual, is_not_normal(base));
    split_normal_exponent(base, &m, &e);
    const Pair product = times(y, log2_pair(m, e));
    Power power;
    Value *p = exp2_less_one(product.high, product.low, exponent_bias(), &power);
    Value *scale = from_bits(b_.CreateShl(power.bits, mantissa_bits()));
    const double limit = exponent_bias() * 31.0 / 32;  // the second part may add a fiftieth
    Value *is_far = b_.CreateFCmpUGT(absolute(product.high), constant(limit));
    Value *power_of_x = b_.CreateSelect(is_zero, zero, multiply_add(p, scale, scale));
    return unless_any(
        b_.CreateOr(is_unusual, is_far), power_of_x, "pow", {x, y},
        [&](const std::vector<Value *> &args) { return pow_of_any(args[0], args[1]); });
}

// h - 1 / (4 h) with h = exp(|x|) / 2; near zero by its own polynomial.
Value *MathEmitter::sinh(Value *x) {
    Value *a = absolute(x);
    Value *h = exp_scaled(a, -1);
    Value *large = b_.CreateFSub(h, b_.CreateFDiv(constant(0.25), h));
    Value *small = odd_kernel(a, table::sinh32, table::sinh64);
    return with_sign_of(b_.CreateSelect(b_.CreateFCmpOLT(a, constant(1.0)), small, large), x);
}

Value *MathEmitter::cosh(Value *x) {
    Value *h = exp_scaled(absolute(x), -1);
    return b_.CreateFAdd(h, b_.CreateFDiv(constant(0.25), h));
}

// 1 - 2 / (exp(2 |x|) + 1); near zero by its own polynomial.
Value *MathEmitter::tanh(Value *x) {
    Value *a = absolute(x);
    Value *e = exp(b_.CreateFAdd(a, a));
    Value *quotient = b_.CreateFDiv(constant(2.0), b_.CreateFAdd(e, constant(1.0)));
    Value *large = b_.CreateFSub(constant(1.0), quotient);
    Value *small = odd_kernel(a, table::tanh32, table::tanh64);
    return with_sign_of(b_.CreateSelect(b_.CreateFCmpOLT(a, constant(0.625)), small, large), x);
}

// log(u) for u = 1 + z rounded, and to first order what was lost by that; z >= -1.
Value *MathEmitter::log_of_one_plus(Value *z) {
    Value *u = b_.CreateFAdd(constant(1.0), z);
    Value *lost = b_.CreateFSub(z, b_.CreateFSub(u, constant(1.0)));
    Value *correction = b_.CreateFDiv(lost, u);
    Value *is_infinite = b_.CreateFCmpOEQ(u, constant(__builtin_inf()));
    return b_.CreateFAdd(log(u), b_.CreateSelect(is_infinite, constant(0.0), correction));
}

// float32 through float64, where 1 + z is exact enough.
Value *MathEmitter::in_double(Value *(MathEmitter::*f)(Value *), Value *x) {
    return is_double()
               ? (this->*f)(x)
               : through_double([&](MathEmitter &wide, Value *v) { return (wide.*f)(v); }, x);
}

// log1p(a + a^2 / (1 + sqrt(a^2 + 1))); from 2^28 on, log(2 a).
Value *MathEmitter::asinh(Value *x) {
    return in_double(&MathEmitter::asinh_double, x);
}

Value *MathEmitter::asinh_double(Value *x) {
    Value *a = absolute(x), *one = constant(1.0);
    Value *is_large = b_.CreateFCmpOGT(a, constant(0x1p28));
    Value *v = b_.CreateSelect(is_large, one, a);
    Value *square = b_.CreateFMul(v, v);
    Value *root = f_.call_llvm(llvm::Intrinsic::sqrt, {b_.CreateFAdd(square, one)});
    Value *z = b_.CreateFAdd(v, b_.CreateFDiv(square, b_.CreateFAdd(one, root)));
    Value *large = b_.CreateFAdd(log(a), constant(0x1.62e42fefa39efp-1));
    return with_sign_of(b_.CreateSelect(is_large, large, log_of_one_plus(z)), x);
}

// With t = x - 1: log1p(t + sqrt(t) sqrt(t + 2)); two roots, so that below 1 there is none.
Value *MathEmitter::acosh(Value *x) {
    return in_double(&MathEmitter::acosh_double, x);
}

Value *MathEmitter::acosh_double(Value *x) {
    Value *is_large = b_.CreateFCmpOGT(x, constant(0x1p28));
    Value *t = b_.CreateSelect(is_large, constant(1.0), b_.CreateFSub(x, constant(1.0)));
    Value *low = f_.call_llvm(llvm::Intrinsic::sqrt, {t});
    Value *high = f_.call_llvm(llvm::Intrinsic::sqrt, {b_.CreateFAdd(t, constant(2.0))});
    Value *z = b_.CreateFAdd(t, b_.CreateFMul(low, high));
    Value *large = b_.CreateFAdd(log(x), constant(0x1.62e42fefa39efp-1));
    return b_.CreateSelect(is_large, large, log_of_one_plus(z));
}

// log1p(2 a / (1 - a)) / 2
Value *MathEmitter::atanh(Value *x) {
    return in_double(&MathEmitter::atanh_double, x);
}

Value *MathEmitter::atanh_double(Value *x) {
    Value *a = absolute(x);
    Value *z = b_.CreateFDiv(b_.CreateFAdd(a, a), b_.CreateFSub(constant(1.0), a));
    return with_sign_of(b_.CreateFMul(constant(0.5), log_of_one_plus(z)), x);
}

// 1 - exp(P(|x|)) where |x| > 1, up to where it is 1. Of float32 an eighth power is enough, as what is
// subtracted is below 1/6 there.
Value *MathEmitter::erf(Value *x) {
    Value *a = absolute(x), *end = constant(is_double() ? 6.0 : 3.95);
    Value *limited = b_.CreateSelect(b_.CreateFCmpOGT(a, end), end, a);
    Value *small = b_.CreateFMul(a, kernel(b_.CreateFMul(a, a), table::erf32, table::erf64));
    Value *tail;
    if (is_double()) {
        tail = exp(polynomial(limited, table::erfc64));
    } else {
        tail = multiply_add(limited, polynomial(limited, table::erfc32), constant(1.0));
        for (int power = 1; power < 8; power *= 2) {
            tail = b_.CreateFMul(tail, tail);
        }
    }
    Value *large = b_.CreateFSub(constant(1.0), tail);
    return with_sign_of(b_.CreateSelect(b_.CreateFCmpOLT(a, constant(1.0)), small, large), x);
}

}  // namespace calotype::internal
