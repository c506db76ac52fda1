// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of IEEE halves, by hand: the machine need not have them.
#include <stdint.h>
#include <string.h>

#include "runtime/abi/debug.h"
#include "runtime/host/weak.h"

CALOTYPE_WEAK float calotype_float16_bits_to_float(uint16_t half) {
    const uint32_t sign = uint32_t(half & 0x8000) << 16;
    const uint32_t exponent = (half >> 10) & 0x1f;
    const uint32_t mantissa = half & 0x3ff;
    if (exponent == 0) {
        // Zero or subnormal: the mantissa counts units of 2^-24, which a float holds exactly.
        const float magnitude = float(mantissa) * 0x1p-24f;
        return sign ? -magnitude : magnitude;
    }
    const uint32_t float_exponent = exponent == 0x1f ? 0xff : exponent + (127 - 15);
    const uint32_t bits = sign | float_exponent << 23 | mantissa << 13;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

CALOTYPE_WEAK double calotype_float16_bits_to_double(uint16_t half) {
    return double(calotype_float16_bits_to_float(half));
}
