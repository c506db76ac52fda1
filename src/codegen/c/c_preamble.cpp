// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/c/c_writer.h"

namespace calotype::internal {

const char *const c_preamble = R"preamble(
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <type_traits>

struct calotype_type_t { uint8_t code, bits; uint16_t lanes; };
struct calotype_dimension_t { int32_t min, extent, stride; uint32_t flags; };
struct calotype_buffer_t {
    uint64_t device;
    const void *device_interface;
    uint8_t *host;
    uint64_t flags;
    calotype_type_t type;
    int32_t dimensions;
    calotype_dimension_t *dim;
    void *padding;
};
struct calotype_filter_argument_t {
    const char *name;
    int32_t kind, dimensions;
    calotype_type_t type;
    const void *scalar_def, *scalar_min, *scalar_max, *scalar_estimate;
    const int64_t *const *buffer_estimates;
};
struct calotype_filter_metadata_t {
    int32_t version, num_arguments;
    const calotype_filter_argument_t *arguments;
    const char *target, *name;
};
struct calotype_semaphore_t { uint64_t _private[2]; };
struct calotype_semaphore_acquire_t { calotype_semaphore_t *semaphore; int count; };
struct calotype_parallel_task_t {
    int (*fn)(void *user_context, int min, int extent, uint8_t *closure, void *task_parent);
    uint8_t *closure;
    const char *name;
    calotype_semaphore_acquire_t *semaphores;
    int num_semaphores, min, extent, min_threads;
    bool serial;
};

extern "C" {
void *calotype_malloc(void *user_context, size_t size);
void calotype_free(void *user_context, void *ptr);
void calotype_print(void *user_context, const char *text);
int calotype_do_par_for(void *user_context, int (*task)(void *, int, uint8_t *), int min, int size, uint8_t *closure);
int calotype_do_parallel_tasks(void *user_context, int num_tasks, calotype_parallel_task_t *tasks, void *task_parent);
int calotype_error_out_of_memory(void *user_context);
int calotype_error_buffer_allocation_too_large(void *user_context, const char *name, uint64_t size, uint64_t limit);
}

namespace {

template<typename T, int N>
struct ct_vec {
    T lane[N];
    const T &operator[](int i) const { return lane[i]; }
    T &operator[](int i) { return lane[i]; }
};

template<typename T, int N, typename F>
inline ct_vec<T, N> ct_map(F f) {
    ct_vec<T, N> r;
    for (int i = 0; i < N; i++) {
        r.lane[i] = f(i);
    }
    return r;
}

template<typename To, typename From>
inline To ct_bits(const From &from) {
    static_assert(sizeof(To) == sizeof(From), "a reinterpretation keeps the size");
    To to;
    memcpy(&to, &from, sizeof(to));
    return to;
}

template<typename T, int N>
inline ct_vec<T, N> ct_load(const void *p, int64_t i) {
    ct_vec<T, N> r;
    memcpy(&r, static_cast<const T *>(p) + i, sizeof(r));
    return r;
}
template<typename T, int N>
inline void ct_store(void *p, int64_t i, const ct_vec<T, N> &v) {
    memcpy(static_cast<T *>(p) + i, &v, sizeof(v));
}

// The remainder is never negative; by zero both are zero.
template<typename T>
inline T ct_div(T a, T b) {
    if (b == 0) {
        return 0;
    }
    if (std::is_signed<T>::value && b == T(-1)) {
        return T(0 - typename std::make_unsigned<T>::type(a));
    }
    T q = T(a / b), r = T(a - q * b);
    return r < 0 ? T(b > 0 ? q - 1 : q + 1) : q;
}
template<typename T>
inline T ct_mod(T a, T b) {
    if (b == 0 || (std::is_signed<T>::value && b == T(-1))) {
        return 0;
    }
    T r = T(a % b);
    return r < 0 ? T(b > 0 ? r + b : r - b) : r;
}
inline float ct_div(float a, float b) { return a / b; }
inline double ct_div(double a, double b) { return a / b; }
inline float ct_mod(float a, float b) { return a - b * floorf(a / b); }
inline double ct_mod(double a, double b) { return a - b * floor(a / b); }

template<typename T>
inline T ct_shift(T a, int64_t by) {
    using U = typename std::make_unsigned<T>::type;
    return by >= 0 ? T(U(a) << by) : T(a >> -by);
}
template<typename R, typename T>
inline R ct_saturate(T x) {
    if (x != x) {
        return 0;
    }
    const int bits = int(sizeof(R) * 8);
    const bool is_signed = R(-1) < R(0);
    const R high = is_signed ? R((uint64_t(1) << (bits - 1)) - 1) : R(-1), low = is_signed ? R(-high - 1) : R(0);
    if (std::is_floating_point<T>::value) {
        return double(x) >= double(high) ? high : double(x) <= double(low) ? low : R(x);
    }
    return __int128(x) > __int128(high) ? high : __int128(x) < __int128(low) ? low : R(x);
}
/// x * y / 2^q of integers, rounded down or to nearest.
template<typename R, typename X, typename Y>
inline R ct_mul_shift(X x, Y y, int q, bool rounds) {
    const bool is_unsigned = X(-1) > X(0) && Y(-1) > Y(0);
    using Product = typename std::conditional<is_unsigned, unsigned __int128, __int128>::type;
    const Product product = Product(x) * Product(y);
    const Product shifted = (product >> q) + (rounds && q > 0 ? (product >> (q - 1)) & 1 : 0);
    return is_unsigned && (shifted >> 64) != 0 ? R(-1) : ct_saturate<R>(__int128(shifted));
}

inline float ct_half_to_float(uint16_t h) {
    uint32_t magnitude = (h & 0x7fffu) << 13, bits;
    if (magnitude >= 0x0f800000) {
        bits = magnitude | 0x7f800000;
    } else {
        bits = ct_bits<uint32_t>(ct_bits<float>(magnitude) * 0x1p112f);
    }
    return ct_bits<float>(bits | (h & 0x8000u) << 16);
}
inline uint16_t ct_round_to_16(double x, int exponent_bits, int mantissa_bits) {
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    int largest = (1 << exponent_bits) - 1, bias = largest >> 1;
    if (x != x) {
        return uint16_t(sign | largest << mantissa_bits | 1 << (mantissa_bits - 1));
    }
    double a = fabs(x);
    if (isinf(a)) {
        return uint16_t(sign | largest << mantissa_bits);
    }
    int e = -bias;
    if (a != 0) {
        frexp(a, &e);
    }
    e = e - 1 < 1 - bias ? 1 - bias : e - 1;
    if (e > bias) {
        return uint16_t(sign | largest << mantissa_bits);
    }
    long units = lrint(ldexp(a, mantissa_bits - e));
    long biased = units + (long(e + bias - 1) << mantissa_bits);
    return uint16_t(sign | (biased > (long(largest) << mantissa_bits) ? largest << mantissa_bits : biased));
}
inline uint16_t ct_float_to_half(double x) { return ct_round_to_16(x, 5, 10); }
inline float ct_bfloat_to_float(uint16_t b) { return ct_bits<float>(uint32_t(b) << 16); }
inline uint16_t ct_float_to_bfloat(double x) { return ct_round_to_16(x, 8, 7); }

/// Frees storage at the end of its block.
struct ct_guard {
    void *user_context, *p;
    void (*free)(void *, void *);
    ~ct_guard() { release(); }
    void release() {
        if (p) {
            free(user_context, p);
        }
        p = nullptr;
    }
};

inline calotype_buffer_t *ct_buffer_init(void *b, void *shape, void *host, uint64_t device, const void *device_interface,
                                         int code, int bits, int dimensions, const void *values, uint64_t flags) {
    calotype_buffer_t *buffer = static_cast<calotype_buffer_t *>(b);
    calotype_dimension_t *dim = static_cast<calotype_dimension_t *>(shape ? shape : buffer + 1);
    if (dimensions > 0) {
        memmove(dim, values, size_t(dimensions) * sizeof(*dim));
    }
    *buffer = {device, device_interface, static_cast<uint8_t *>(host), flags, {uint8_t(code), uint8_t(bits), 1}, dimensions, dim, nullptr};
    return buffer;
}
inline calotype_buffer_t *ct_buffer_crop(void *b, void *shape, const void *source, const void *mins, const void *extents) {
    calotype_buffer_t *buffer = static_cast<calotype_buffer_t *>(b);
    const calotype_buffer_t *from = static_cast<const calotype_buffer_t *>(source);
    calotype_dimension_t *dim = static_cast<calotype_dimension_t *>(shape ? shape : buffer + 1);
    int64_t offset = 0;
    *buffer = *from;
    for (int d = 0; d < from->dimensions; d++) {
        int min = static_cast<const int32_t *>(mins)[d];
        offset += int64_t(min - from->dim[d].min) * from->dim[d].stride;
        dim[d] = {min, static_cast<const int32_t *>(extents)[d], from->dim[d].stride, 0};
    }
    buffer->dim = dim;
    buffer->device = 0;
    buffer->device_interface = nullptr;
    if (from->host) {
        buffer->host = from->host + offset * ((from->type.bits + 7) / 8);
    }
    return buffer;
}

}  // namespace
)preamble";

}  // namespace calotype::internal
