/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * MATLAB's files of level 5: a header of 128 bytes and a tree of elements, each a tag (type and
 * bytes) and data filled up to a multiple of eight. One matrix of real numbers is read and written.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#include <string>
#include <vector>

#include "image_plain.h"

namespace calotype {
namespace Tools {
namespace internal {

/** How the format names a type: as elements of a matrix, and as data. */
struct MatType {
    calotype_type_t type;
    uint32_t matrix_class, data;
};
inline const std::vector<MatType> &mat_types() {
    static const std::vector<MatType> types = {
        {{calotype_type_float, 64}, 6, 9}, {{calotype_type_float, 32}, 7, 7},
        {{calotype_type_int, 8}, 8, 1},    {{calotype_type_uint, 8}, 9, 2},
        {{calotype_type_int, 16}, 10, 3},  {{calotype_type_uint, 16}, 11, 4},
        {{calotype_type_int, 32}, 12, 5},  {{calotype_type_uint, 32}, 13, 6},
        {{calotype_type_int, 64}, 14, 12}, {{calotype_type_uint, 64}, 15, 13}};
    return types;
}

struct MatTag {
    uint32_t type = 0, bytes = 0;
    uint8_t small[4] = {}; /**< data of up to four bytes may stand in the tag */
    bool is_small = false;
};

inline MatTag read_mat_tag(ImageFile &file) {
    uint32_t words[2];
    file.read(words, sizeof words);
    MatTag tag;
    tag.is_small = words[0] >> 16 != 0;
    tag.type = tag.is_small ? words[0] & 0xffff : words[0];
    tag.bytes = tag.is_small ? words[0] >> 16 : words[1];
    memcpy(tag.small, &words[1], sizeof tag.small);
    if (tag.is_small && tag.bytes > 4) {
        file.fail("has a malformed element");
    }
    return tag;
}

/** The data of a short element. */
inline std::vector<uint8_t> read_mat_element(ImageFile &file, uint32_t type) {
    const MatTag tag = read_mat_tag(file);
    if (tag.type != type || tag.bytes > (1u << 16)) {
        file.fail("has a malformed header");
    }
    std::vector<uint8_t> data(tag.is_small ? tag.bytes : (tag.bytes + 7) / 8 * 8);
    if (tag.is_small) {
        memcpy(data.data(), tag.small, data.size());
    } else if (!data.empty()) {
        file.read(data.data(), data.size());
    }
    data.resize(tag.bytes);
    return data;
}

inline AnyBuffer load_mat(const std::string &filename) {
    constexpr uint32_t of_int8 = 1, of_int32 = 5, of_uint32 = 6, of_matrix = 14;
    ImageFile file(filename, "rb");
    char header[128];
    file.read(header, sizeof header);
    if (memcmp(header + 124, "\x00\x01IM", 4) != 0) {
        file.fail("is not a MAT file of level 5 in this machine's order of bytes");
    }
    if (read_mat_tag(file).type != of_matrix) {
        file.fail("does not begin with a matrix");
    }
    const std::vector<uint8_t> flags = read_mat_element(file, of_uint32);
    const std::vector<uint8_t> sizes = read_mat_element(file, of_int32);
    read_mat_element(file, of_int8);  // the name
    std::vector<int32_t> extents(sizes.size() / 4);
    memcpy(extents.data(), sizes.data(), extents.size() * 4);
    const MatTag data = read_mat_tag(file);
    for (const MatType &t : mat_types()) {
        // Data may be of a smaller type than the matrix; that is not read.
        if (flags.empty() || t.matrix_class != flags[0] || t.data != data.type || data.is_small) {
            continue;
        }
        check_image_size(filename, std::vector<int64_t>(extents.begin(), extents.end()),
                         t.type.bytes());
        AnyBuffer image(t.type, std::vector<int>(extents.begin(), extents.end()));
        if (image.size_in_bytes() != data.bytes) {
            file.fail("has a malformed header");
        }
        if (image.number_of_elements() > 0) {
            read_elements(file, image);
        }
        return image;
    }
    file.fail("has elements of a type that cannot be read");
}

inline void save_mat(const calotype_buffer_t &image, const std::string &filename) {
    ImageFile file(filename, "wb");
    for (const MatType &t : mat_types()) {
        if (t.type != image.type) {
            continue;
        }
        const uint32_t dimensions = image.dimensions < 2 ? 2 : uint32_t(image.dimensions);
        std::vector<int32_t> extents(dimensions + dimensions % 2, 0);
        int64_t bytes = t.type.bytes();
        for (uint32_t d = 0; d < dimensions; d++) {
            extents[d] = int(d) < image.dimensions ? image.dim[d].extent : 1;
            bytes *= extents[d];
        }
        const uint64_t whole = 16 + 8 + extents.size() * 4 + 16 + 8 + (uint64_t(bytes) + 7) / 8 * 8;
        if (whole > UINT32_MAX) {
            file.fail("cannot hold more than 4 GiB");
        }
        char header[128];
        memset(header, ' ', sizeof header);
        memcpy(header, "MATLAB 5.0 MAT-file", 19);
        memset(header + 116, 0, 8);
        memcpy(header + 124, "\x00\x01IM", 4);
        file.write(header, sizeof header);
        const uint32_t before[] = {14, uint32_t(whole), 6, 8, t.matrix_class, 0, 5, dimensions * 4};
        file.write(before, sizeof before);
        file.write(extents.data(), extents.size() * 4);
        const uint32_t tags[] = {1, 5};
        file.write(tags, sizeof tags);
        file.write("image\0\0\0", 8);
        const uint32_t data[] = {t.data, uint32_t(bytes)};
        file.write(data, sizeof data);
        write_elements(file, image);
        const char zeros[8] = {};
        file.write(zeros, size_t(-bytes & 7));
        file.finish();
        return;
    }
    file.fail("cannot hold elements of this type");
}

}  // namespace internal
}  // namespace Tools
}  // namespace calotype
