// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of images of any type, as whole numbers.
#include "random_pipeline.h"

namespace calotype::test {

namespace {

template<typename F>
void with_element_type(const Type &t, F f) {
    if (t.is_bool()) {
        return f(bool());
    } else if (t.is_float()) {
        return t.is_bfloat()    ? f(bfloat16_t())
               : t.bits() == 16 ? f(float16_t())
               : t.bits() == 32 ? f(float())
                                : f(double());
    }
    switch (t.bits()) {
    case 8:
        return t.is_uint() ? f(uint8_t()) : f(int8_t());
    case 16:
        return t.is_uint() ? f(uint16_t()) : f(int16_t());
    case 32:
        return t.is_uint() ? f(uint32_t()) : f(int32_t());
    default:
        return t.is_uint() ? f(uint64_t()) : f(int64_t());
    }
}

}  // namespace

int64_t element(const Buffer<void> &b, int x, int y) {
    int64_t value = 0;
    with_element_type(b.type(), [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_arithmetic_v<T>) {
            value = int64_t(b.as<T>()(x, y));
        } else {
            value = int64_t(float(b.as<T>()(x, y)));
        }
    });
    return value;
}

void set_element(const Buffer<void> &b, int x, int y, int64_t value) {
    with_element_type(b.type(), [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_arithmetic_v<T>) {
            b.as<T>()(x, y) = T(value);
        } else {
            b.as<T>()(x, y) = T(float(value));
        }
    });
}

}  // namespace calotype::test
