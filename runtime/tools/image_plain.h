// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Formats that need no library: PGM and PPM (8 or 16 bits), NumPy's NPY (any type and number of
// dimensions; the first dimension is the last axis, and so the innermost), and raw TMP (five words,
// the extents of four dimensions and a type number, then the elements).
#pragma once

#include <algorithm>
#include <cstring>

#include "image_file.h"

namespace calotype {
namespace Tools {
namespace internal {

// ---- PGM and PPM
// ---------------------------------------------------------------------------------

/** The next number of the header; comments run from # to the end of the line. */
inline int read_pnm_number(ImageFile &file) {
    int c = file.read_byte();
    while (c == '#' || c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        while (c == '#' && (c = file.read_byte()) != '\n' && c != EOF) {
            c = '#';
        }
        c = file.read_byte();
    }
    int64_t value = 0;
    bool any = false;
    for (; c >= '0' && c <= '9' && value <= INT32_MAX; c = file.read_byte()) {
        value = value * 10 + (c - '0');
        any = true;
    }
    if (!any || value > INT32_MAX) {
        file.fail("has a malformed header");
    }
    return int(value);
}

inline AnyBuffer load_pnm(const std::string &filename) {
    ImageFile file(filename, "rb");
    const int p = file.read_byte(), kind = file.read_byte();
    if (p != 'P' || (kind != '5' && kind != '6')) {
        file.fail("is not a binary PGM or PPM file");
    }
    const int channels = kind == '6' ? 3 : 1;
    const int width = read_pnm_number(file), height = read_pnm_number(file);
    const int maximum = read_pnm_number(file);
    if (maximum != 255 && maximum != 65535) {
        file.fail("has maximum " + std::to_string(maximum) + ", must be 255 or 65535");
    }
    const int bits = maximum == 255 ? 8 : 16;
    check_image_size(filename, {width, height, channels}, bits / 8);
    AnyBuffer image = make_image({calotype_type_uint, uint8_t(bits)}, width, height, channels);
    std::vector<uint8_t> row(size_t(width) * size_t(channels) * size_t(bits / 8));
    for (int y = 0; y < height; y++) {
        file.read(row.data(), row.size());
        set_any_row(*image.raw_buffer(), y, channels, row.data());
    }
    return image;
}

inline void save_pnm(const calotype_buffer_t &image, const std::string &filename) {
    const int width = image.dim[0].extent, height = image.dim[1].extent;
    const int channels = image.dimensions > 2 ? image.dim[2].extent : 1;
    ImageFile file(filename, "wb");
    const std::string header = std::string(channels == 3 ? "P6" : "P5") + "\n" +
                               std::to_string(width) + " " + std::to_string(height) + "\n" +
                               (image.type.bits == 8 ? "255" : "65535") + "\n";
    file.write(header.data(), header.size());
    std::vector<uint8_t> row(size_t(width) * size_t(channels) * size_t(image.type.bytes()));
    for (int y = 0; y < height; y++) {
        get_any_row(image, y, channels, row.data());
        file.write(row.data(), row.size());
    }
    file.finish();
}

// ---- elements in order
// ---------------------------------------------------------------------------

/** The elements of a dense image, the first dimension innermost. */
inline void read_elements(ImageFile &file, AnyBuffer &image) {
    file.read(image.data(), image.size_in_bytes());
}

inline void write_elements(ImageFile &file, const calotype_buffer_t &image) {
    std::vector<int> extents, order;
    for (int d = 0; d < image.dimensions; d++) {
        extents.push_back(image.dim[d].extent);
        order.push_back(d);
    }
    AnyBuffer dense(image.type, extents, order);
    if (dense.number_of_elements() > 0) {
        Runtime::internal::copy_elements(*dense.raw_buffer(), image);
        file.write(dense.data(), dense.size_in_bytes());
    }
}

// ---- NPY
// -----------------------------------------------------------------------------------------

/** The value of a key in the dictionary of an NPY header: all up to the next comma outside of
 * parentheses. Empty if there is none. */
inline std::string npy_value(const std::string &header, const std::string &key) {
    const size_t at = header.find("'" + key + "'");
    size_t begin = at == std::string::npos ? at : header.find(':', at);
    if (begin == std::string::npos) {
        return "";
    }
    begin = header.find_first_not_of(" :", begin);
    const bool tuple = begin != std::string::npos && header[begin] == '(';
    const size_t end = header.find_first_of(tuple ? ")" : ",}", begin);
    return end == std::string::npos ? "" : header.substr(begin, end - begin + (tuple ? 1 : 0));
}

inline calotype_type_t npy_type(const ImageFile &file, const std::string &descr) {
    if (descr.size() != 5 || (descr[1] != '<' && descr[1] != '|')) {
        file.fail("has elements of type " + descr + ", which cannot be read");
    }
    const int bytes = descr[3] - '0';
    const std::string kinds = "iuf";
    const size_t kind = kinds.find(descr[2]);
    if (descr == "'|b1'") {
        return {calotype_type_uint, 1};
    }
    if (kind == std::string::npos || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)) {
        file.fail("has elements of type " + descr + ", which cannot be read");
    }
    return {calotype_type_code_t(kind), uint8_t(bytes * 8)};
}

inline std::vector<int64_t> npy_shape(const std::string &text) {
    std::vector<int64_t> shape;
    for (size_t i = 0; i < text.size();) {
        const size_t digits = text.find_first_not_of("0123456789", i);
        const size_t end = digits == std::string::npos ? text.size() : digits;
        if (end > i) {
            const int64_t extent = std::stoll(text.substr(i, std::min<size_t>(end - i, 18)));
            shape.push_back(i > 0 && text[i - 1] == '-' ? -extent : extent);
        }
        i = end + 1;
    }
    return shape;
}

inline AnyBuffer load_npy(const std::string &filename) {
    ImageFile file(filename, "rb");
    uint8_t start[8];
    file.read(start, sizeof start);
    if (memcmp(start, "\x93NUMPY", 6) != 0 || start[6] < 1 || start[6] > 3) {
        file.fail("is not an NPY file");
    }
    uint32_t header_size = 0;
    file.read(&header_size, start[6] == 1 ? 2 : 4);
    if (header_size > (1u << 20)) {
        file.fail("has a malformed header");
    }
    std::string header(header_size, ' ');
    file.read(&header[0], header_size);
    const calotype_type_t type = npy_type(file, npy_value(header, "descr"));
    std::vector<int64_t> shape = npy_shape(npy_value(header, "shape"));
    check_image_size(filename, shape, type.bytes());
    if (npy_value(header, "fortran_order") == "False") {
        std::reverse(shape.begin(), shape.end());
    }
    AnyBuffer image(type, std::vector<int>(shape.begin(), shape.end()));
    if (image.number_of_elements() > 0) {
        read_elements(file, image);
    }
    return image;
}

inline void save_npy(const calotype_buffer_t &image, const std::string &filename) {
    static const char kinds[] = {'i', 'u', 'f'};
    const bool is_bool = image.type.bits == 1;
    std::string header = std::string("{'descr': '") + (image.type.bytes() == 1 ? "|" : "<") +
                         (is_bool ? 'b' : kinds[image.type.code]) +
                         std::to_string(image.type.bytes()) +
                         "', 'fortran_order': False, 'shape': (";
    for (int d = image.dimensions - 1; d >= 0; d--) {
        header += std::to_string(image.dim[d].extent);
        header += d > 0 || image.dimensions == 1 ? ", " : "";
    }
    header += "), }";
    // The header ends the line at a multiple of 64 bytes.
    const size_t before = 10;
    header.resize((before + header.size() + 64) / 64 * 64 - before, ' ');
    header.back() = '\n';
    ImageFile file(filename, "wb");
    const uint16_t size = uint16_t(header.size());
    file.write("\x93NUMPY\x01\x00", 8);
    file.write(&size, sizeof size);
    file.write(header.data(), header.size());
    write_elements(file, image);
    file.finish();
}

// ---- TMP
// -----------------------------------------------------------------------------------------

/** Types by their number in the header. */
inline const std::vector<calotype_type_t> &tmp_types() {
    static const std::vector<calotype_type_t> types = {
        {calotype_type_float, 32}, {calotype_type_float, 64}, {calotype_type_uint, 8},
        {calotype_type_int, 8},    {calotype_type_uint, 16},  {calotype_type_int, 16},
        {calotype_type_uint, 32},  {calotype_type_int, 32},   {calotype_type_uint, 64},
        {calotype_type_int, 64}};
    return types;
}

inline AnyBuffer load_tmp(const std::string &filename) {
    ImageFile file(filename, "rb");
    int32_t header[5];
    file.read(header, sizeof header);
    if (header[4] < 0 || size_t(header[4]) >= tmp_types().size()) {
        file.fail("has type number " + std::to_string(header[4]) + ", must be 0 to 9");
    }
    const calotype_type_t type = tmp_types()[size_t(header[4])];
    check_image_size(filename, {header[0], header[1], header[2], header[3]}, type.bytes());
    AnyBuffer image(type, std::vector<int>(header, header + 4));
    if (image.number_of_elements() > 0) {
        read_elements(file, image);
    }
    return image;
}

inline void save_tmp(const calotype_buffer_t &image, const std::string &filename) {
    int32_t header[5] = {1, 1, 1, 1, 0};
    for (int d = 0; d < image.dimensions; d++) {
        header[d] = image.dim[d].extent;
    }
    while (header[4] < 10 && tmp_types()[size_t(header[4])] != image.type) {
        header[4]++;
    }
    ImageFile file(filename, "wb");
    file.write(header, sizeof header);
    write_elements(file, image);
    file.finish();
}

}  // namespace internal
}  // namespace Tools
}  // namespace calotype
