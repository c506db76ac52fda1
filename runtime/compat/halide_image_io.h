// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Halide::Tools::load_image and its companions are those of calotype::Tools; here stand the names
// that programs take from Halide::Tools::Internal beside them.
#pragma once

#if defined(HALIDE_NO_PNG) && !defined(CALOTYPE_NO_PNG)
#define CALOTYPE_NO_PNG
#endif
#if defined(HALIDE_NO_JPEG) && !defined(CALOTYPE_NO_JPEG)
#define CALOTYPE_NO_JPEG
#endif

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cctype>
#include <cmath>
#include <cstdarg>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "../tools/image_io.h"
#include "HalideBuffer.h"

namespace calotype {
namespace Tools {
namespace Internal {

/** What becomes of a failure: the answer is the condition, if there is one. */
using CheckFunc = bool (*)(bool condition, const char *message);
inline bool CheckReturn(bool condition, const char *) {
    return condition;
}
inline bool CheckFail(bool condition, const char *message) {
    if (!condition) {
        fprintf(stderr, "%s\n", message);
        exit(1);
    }
    return condition;
}

/** Calls f(element, byte of the row that it begins at) for row y, channels together. */
template<typename Elem, typename Image, typename F>
void for_each_in_row(Image &image, int y, F &&f) {
    size_t at = 0;
    const bool has_channels = image.dimensions() > 2;
    const int first = has_channels ? image.dim(2).min() : 0;
    const int last = has_channels ? image.dim(2).max() : 0;
    for (int x = image.dim(0).min(); x <= image.dim(0).max(); x++) {
        for (int c = first; c <= last; c++, at += sizeof(Elem)) {
            f(has_channels ? image(x, y, c) : image(x, y), at);
        }
    }
}

/** Elements of up to eight bytes, the highest first. */
template<typename Elem, typename Image>
void read_big_endian_row(const uint8_t *row, int y, Image *image) {
    auto typed = image->template as<Elem, Runtime::AnyDims>();
    for_each_in_row<Elem>(typed, y, [&](Elem &element, size_t at) {
        uint64_t bits = 0;
        for (size_t i = 0; i < sizeof(Elem); i++) {
            bits = bits << 8 | row[at + i];
        }
        element = Elem(bits);
    });
}
template<typename Elem, typename Image>
void write_big_endian_row(const Image &image, int y, uint8_t *row) {
    auto typed = image.template as<std::add_const_t<Elem>, Runtime::AnyDims>();
    for_each_in_row<Elem>(typed, y, [&](const Elem &element, size_t at) {
        for (size_t i = 0; i < sizeof(Elem); i++) {
            row[at + i] = uint8_t(uint64_t(element) >> (8 * (sizeof(Elem) - 1 - i)));
        }
    });
}

template<typename F>
bool checked(CheckFunc check, F &&action) {
    std::string message;
    bool good = true;
    try {
        action();
    } catch (const std::runtime_error &e) {
        good = false;
        message = e.what();
    }
    return check(good, message.c_str());
}

}  // namespace Internal

template<typename ImageType, Internal::CheckFunc check>
bool load(const std::string &filename, ImageType *image) {
    return Internal::checked(check, [&] { *image = ImageType(load_image(filename)); });
}
template<typename ImageType, Internal::CheckFunc check>
bool save(ImageType &image, const std::string &filename) {
    return Internal::checked(check, [&] { save_image(image, filename); });
}

}  // namespace Tools
}  // namespace calotype
