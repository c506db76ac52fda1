// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converting images between element types: full scale to full scale, so that white stays white.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "image_file.h"

namespace calotype {
namespace Tools {
namespace internal {

/** The largest value of an image of T: 1 for floats and bools. */
template<typename T>
constexpr double full_scale() {
    return std::is_floating_point<T>::value ? 1.0 : double(std::numeric_limits<T>::max());
}

/** One value, from the range of one type to that of another. What lies outside is clamped. */
template<typename To, typename From>
To convert_value(From value) {
    if constexpr (std::is_same<To, From>::value) {
        return value;
    } else {
        const double scaled = double(value) / full_scale<From>() * full_scale<To>();
        if constexpr (std::is_floating_point<To>::value) {
            return To(scaled);
        } else {
            const double lowest = double(std::numeric_limits<To>::min());
            if (!(scaled > lowest)) {  // NaN too
                return std::numeric_limits<To>::min();
            }
            return scaled >= full_scale<To>() ? std::numeric_limits<To>::max()
                                              : To(std::floor(scaled + 0.5));
        }
    }
}

/** Call f with a value of the C++ type that `type` stands for. Answers whether there is one. */
template<typename Fn>
bool with_type(calotype_type_t type, Fn &&f) {
    const int bits = type.bits;
    switch (type.code) {
    case calotype_type_uint:
        return bits == 1    ? f(bool())
               : bits == 8  ? f(uint8_t())
               : bits == 16 ? f(uint16_t())
               : bits == 32 ? f(uint32_t())
               : bits == 64 ? f(uint64_t())
                            : false;
    case calotype_type_int:
        return bits == 8    ? f(int8_t())
               : bits == 16 ? f(int16_t())
               : bits == 32 ? f(int32_t())
               : bits == 64 ? f(int64_t())
                            : false;
    case calotype_type_float:
        return bits == 32 ? f(float()) : bits == 64 ? f(double()) : false;
    default:
        return false;
    }
}

/** A copy of an image with elements of another type. */
inline AnyBuffer convert_image_to(const calotype_buffer_t &image, calotype_type_t type) {
    AnyConstBuffer from(image);
    calotype_buffer_t shape = image;
    shape.type = type;
    AnyBuffer to = AnyBuffer::make_with_shape_of(AnyConstBuffer(shape));
    const bool known = with_type(image.type, [&](auto from_value) {
        return with_type(type, [&](auto to_value) {
            using From = decltype(from_value);
            using To = decltype(to_value);
            to.template as<To>().for_each_value(
                [](To &t, const From &f) { t = convert_value<To>(f); },
                from.template as<const From>());
            return true;
        });
    });
    if (!known) {
        throw std::runtime_error("images of this type cannot be converted");
    }
    return to;
}

}  // namespace internal

/** Converting images by element type. */
struct ImageTypeConversion {
    /** A copy of `image` with elements of type T: full scale becomes full scale. */
    template<typename T, typename ImageType>
    static auto convert_image(const ImageType &image) {
        return Runtime::Buffer<T>(
            internal::convert_image_to(*image.raw_buffer(), calotype_type_of<T>()));
    }
    template<typename ImageType>
    static Runtime::Buffer<> convert_image(const ImageType &image, calotype_type_t type) {
        return internal::convert_image_to(*image.raw_buffer(), type);
    }
};

}  // namespace Tools
}  // namespace calotype
