// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code that the image formats share: files, errors, and the order of pixels in a file.
#pragma once

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "../cpp/buffer.h"

namespace calotype {
namespace Tools {
namespace internal {

using AnyBuffer = Runtime::Buffer<void>;
using AnyConstBuffer = Runtime::Buffer<const void>;

[[noreturn]] inline void image_error(const std::string &filename, const std::string &what) {
    throw std::runtime_error(filename + ": " + what);
}

/** A file that is open while the object lives. A file that is being written is removed again unless
 * it was finished. */
class ImageFile {
    std::string filename;
    FILE *file;
    bool writing;

public:
    ImageFile(const std::string &filename, const char *mode)
        : filename(filename), file(fopen(filename.c_str(), mode)), writing(mode[0] == 'w') {
        if (!file) {
            fail(writing ? "cannot be opened for writing" : "cannot be opened");
        }
    }
    ~ImageFile() {
        if (file) {
            fclose(file);
            if (writing) {
                remove(filename.c_str());
            }
        }
    }
    ImageFile(const ImageFile &) = delete;
    ImageFile &operator=(const ImageFile &) = delete;

    [[noreturn]] void fail(const std::string &what) const {
        image_error(filename, what);
    }
    FILE *handle() const {
        return file;
    }
    void read(void *to, size_t size) {
        if (fread(to, 1, size, file) != size) {
            fail("ends too early");
        }
    }
    int read_byte() {
        return fgetc(file);
    }
    void write(const void *from, size_t size) {
        if (fwrite(from, 1, size, file) != size) {
            fail("cannot be written");
        }
    }
    /** All has been written. */
    void finish() {
        FILE *closing = file;
        file = nullptr;
        if (fclose(closing) != 0) {
            remove(filename.c_str());
            fail("cannot be written");
        }
    }
};

/** The part of a name after its last dot, in lower case. */
inline std::string extension_of(const std::string &filename) {
    const size_t dot = filename.rfind('.');
    std::string extension = dot == std::string::npos ? "" : filename.substr(dot + 1);
    for (char &c : extension) {
        c = char(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    return extension;
}

/** Refuse sizes that a Buffer cannot hold. */
inline void check_image_size(const std::string &filename, const std::vector<int64_t> &extents,
                             int bytes) {
    uint64_t size = uint64_t(bytes);
    for (int64_t extent : extents) {
        if (extent < 0 || extent > INT32_MAX ||
            __builtin_mul_overflow(size, uint64_t(extent), &size) || size > INT64_MAX) {
            image_error(filename, "has an impossible size");
        }
    }
}

/** New memory for an image from a file: without a channel dimension if there is one channel. */
inline AnyBuffer make_image(calotype_type_t type, int width, int height, int channels) {
    std::vector<int> extents{width, height};
    if (channels > 1) {
        extents.push_back(channels);
    }
    AnyBuffer image(type, extents);
    if (!image.data() && image.number_of_elements() > 0) {
        throw std::runtime_error("out of memory for an image");
    }
    return image;
}

/** Address of an element of the host copy. */
inline uint8_t *address_of(const calotype_buffer_t &image, int x, int y, int c) {
    const int dims = image.dimensions;
    ptrdiff_t offset = 0;
    offset += dims > 0 ? ptrdiff_t(x) * image.dim[0].stride : 0;
    offset += dims > 1 ? ptrdiff_t(y) * image.dim[1].stride : 0;
    offset += dims > 2 ? ptrdiff_t(c) * image.dim[2].stride : 0;
    return image.host + offset * image.type.bytes();
}

/** One row of an image with the channels of a pixel together, as most formats have it; elements of
 * two bytes in big-endian order. Rows and columns count from 0 whatever the mins. */
template<typename T>
void get_row(const calotype_buffer_t &image, int y, int channels, uint8_t *row) {
    for (int x = 0; x < image.dim[0].extent; x++) {
        for (int c = 0; c < channels; c++) {
            const T value = *reinterpret_cast<const T *>(address_of(image, x, y, c));
            for (int byte = int(sizeof(T)) - 1; byte >= 0; byte--) {
                *row++ = uint8_t(value >> (8 * byte));
            }
        }
    }
}

template<typename T>
void set_row(const calotype_buffer_t &image, int y, int channels, const uint8_t *row) {
    for (int x = 0; x < image.dim[0].extent; x++) {
        for (int c = 0; c < channels; c++) {
            T value = 0;
            for (size_t byte = 0; byte < sizeof(T); byte++) {
                value = T(value << (sizeof(T) > 1 ? 8 : 0) | *row++);
            }
            *reinterpret_cast<T *>(address_of(image, x, y, c)) = value;
        }
    }
}

/** For images of uint8 and uint16. */
inline void get_any_row(const calotype_buffer_t &image, int y, int channels, uint8_t *row) {
    image.type.bits == 8 ? get_row<uint8_t>(image, y, channels, row)
                         : get_row<uint16_t>(image, y, channels, row);
}

inline void set_any_row(const calotype_buffer_t &image, int y, int channels, const uint8_t *row) {
    image.type.bits == 8 ? set_row<uint8_t>(image, y, channels, row)
                         : set_row<uint16_t>(image, y, channels, row);
}

}  // namespace internal
}  // namespace Tools
}  // namespace calotype
