// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/known_bits.h"

#include <algorithm>
#include <bit>

#include "support/error.h"

namespace calotype::internal {

namespace {

constexpr uint64_t sign_bit = uint64_t(1) << 63;

/// The lowest n bits.
uint64_t low_bits(int n) {
    return n >= 64 ? ~uint64_t(0) : (uint64_t(1) << n) - 1;
}

/// The bits above those that a value of at most `max` needs.
uint64_t bits_above(uint64_t max) {
    return ~low_bits(64 - std::countl_zero(max));
}

}  // namespace

KnownBits known_bits(const IntegerInfo &info, Type t) {
    KnownBits bits;
    const ConstRange &r = info.range;
    if (r.is_single() && (t.is_int() || t.bits() < 64 || *r.min < INT64_MAX)) {
        return {~uint64_t(*r.min), uint64_t(*r.min)};
    }
    if (t.is_uint()) {
        bits.zeros |= ~low_bits(t.bits());
    }
    if (r.min && *r.min >= 0 && (t.is_int() || t.bits() < 64 || r.max)) {
        bits.zeros |= r.max ? bits_above(uint64_t(*r.max)) : sign_bit;
    } else if (t.is_int() && r.max && *r.max < 0) {
        bits.ones |= r.min ? bits_above(~uint64_t(*r.min)) : sign_bit;
    }
    const Alignment &a = info.alignment;
    const uint64_t low =
        a.modulus == 0 ? ~uint64_t(0) : low_bits(std::countr_zero(uint64_t(a.modulus)));
    bits.ones |= uint64_t(a.remainder) & low;
    bits.zeros |= ~uint64_t(a.remainder) & low;
    return bits;
}

KnownBits combine(Intrinsic op, const KnownBits &a, const KnownBits &b) {
    switch (op) {
    case Intrinsic::bitwise_and:
        return {a.zeros | b.zeros, a.ones & b.ones};
    case Intrinsic::bitwise_or:
        return {a.zeros & b.zeros, a.ones | b.ones};
    default:
        internal_assert(op == Intrinsic::bitwise_xor) << "no operation on bits";
        const uint64_t known = a.known() & b.known(), value = a.ones ^ b.ones;
        return {known & ~value, known & value};
    }
}

IntegerInfo info_of_bits(const KnownBits &bits, Type t) {
    IntegerInfo info{ConstRange::of_type(t), {}};
    if ((bits.zeros & bits.ones) != 0) {  // no value is like that: the code is not reached
        return info;
    }
    const uint64_t unknown = ~bits.known();
    if (t.is_int()) {
        // Bits above the type's own are copies of its sign, so that one of them says it.
        const uint64_t signs = ~low_bits(t.bits() - 1);
        const bool negative = (bits.ones & signs) != 0, positive = (bits.zeros & signs) != 0;
        const uint64_t rest = unknown & ~signs, value = bits.ones & ~signs;
        const ConstRange r = ConstRange::of(int64_t(value | (positive ? 0 : signs)),
                                            int64_t(value | rest | (negative ? signs : 0)));
        info.range = r;
    } else if (((bits.ones | unknown) & sign_bit) == 0) {
        info.range = ConstRange::of(int64_t(bits.ones), int64_t(bits.ones | unknown));
    }
    // Moduli up to 2^62 fit.
    const int run = std::min(std::countr_one(bits.known()), 62);
    info.alignment = {int64_t(1) << run, int64_t(bits.ones & low_bits(run))};
    if (info.range.is_single()) {
        info.alignment = {0, *info.range.min};
    }
    return info;
}

}  // namespace calotype::internal
