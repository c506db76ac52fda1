/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * calotype_type_t: the element type of a buffer, a scalar argument or a traced value, in 32 bits.
 */
#pragma once

#include <stdint.h>

#include "attributes.h"

#ifdef __cplusplus
#define CALOTYPE_ENUM_BASE(t) : t
#else
#define CALOTYPE_ENUM_BASE(t)
#endif

/** What the bits of one element mean. */
typedef enum calotype_type_code_t CALOTYPE_ENUM_BASE(uint8_t){
    calotype_type_int = 0,    /**< signed integer, two's complement */
    calotype_type_uint = 1,   /**< unsigned integer; one bit is a bool */
    calotype_type_float = 2,  /**< IEEE 754 floating point */
    calotype_type_handle = 3, /**< opaque pointer, 64 bits */
    calotype_type_bfloat = 4  /**< float with 8 bits of exponent and 7 of mantissa */
} calotype_type_code_t;

/** A type: code, bits of one lane, number of vector lanes (1 for a scalar). */
typedef struct calotype_type_t {
#ifdef __cplusplus
    calotype_type_code_t code;
#else
    uint8_t code; /**< a calotype_type_code_t */
#endif
    uint8_t bits;
    uint16_t lanes;

#ifdef __cplusplus
    constexpr calotype_type_t() : code(calotype_type_int), bits(0), lanes(0) {
    }
    constexpr calotype_type_t(calotype_type_code_t code, uint8_t bits, uint16_t lanes = 1)
        : code(code), bits(bits), lanes(lanes) {
    }
    /** The same element with another number of lanes. */
    constexpr calotype_type_t with_lanes(uint16_t new_lanes) const {
        return {code, bits, new_lanes};
    }
    /** The type of one lane. */
    constexpr calotype_type_t element_of() const {
        return with_lanes(1);
    }
    /** Size of one lane in memory, in whole bytes. */
    constexpr int bytes() const {
        return (bits + 7) >> 3;
    }
    /** The three fields in one word, as they lie in memory on a little-endian machine. */
    constexpr uint32_t as_u32() const {
        return uint32_t(code) | uint32_t(bits) << 8 | uint32_t(lanes) << 16;
    }
    /** The same, so that a switch may have types as its cases. */
    constexpr operator uint32_t() const {
        return as_u32();
    }
    constexpr bool operator==(const calotype_type_t &other) const {
        return code == other.code && bits == other.bits && lanes == other.lanes;
    }
    constexpr bool operator!=(const calotype_type_t &other) const {
        return !(*this == other);
    }
    /** An arbitrary total order, for use as a key. */
    constexpr bool operator<(const calotype_type_t &other) const {
        return as_u32() < other.as_u32();
    }
#endif
} calotype_type_t;
