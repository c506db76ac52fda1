/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * TIFF without compression: a header, strips of rows with the channels of a pixel together, and a
 * directory of tagged entries. Little-endian files are read and written.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#include <map>
#include <string>
#include <vector>

#include "image_file.h"

namespace calotype {
namespace Tools {
namespace internal {

/** One entry of the directory: its value, or where that stands if it takes more than four bytes. */
struct TiffEntry {
    uint16_t tag, type;
    uint32_t count, value;
};

enum TiffTag : uint16_t {
    tiff_width = 256,
    tiff_height = 257,
    tiff_bits = 258,
    tiff_compression = 259,
    tiff_photometric = 262,
    tiff_strip_offsets = 273,
    tiff_channels = 277,
    tiff_rows_per_strip = 278,
    tiff_strip_bytes = 279,
    tiff_planes = 284,
    tiff_sample_format = 339
};

constexpr uint16_t tiff_short = 3, tiff_long = 4;

/** The file as a whole, and the entries by their tags. */
class TiffReader {
public:
    explicit TiffReader(const std::string &filename) : filename_(filename) {
        ImageFile file(filename, "rb");
        for (int c = file.read_byte(); c >= 0; c = file.read_byte()) {
            bytes_.push_back(uint8_t(c));
        }
        if (bytes_.size() < 8 || memcmp(bytes_.data(), "II*\0", 4) != 0) {
            image_error(filename_, "is not a little-endian TIFF file");
        }
        const uint32_t directory = number<uint32_t>(4);
        const uint16_t count = number<uint16_t>(directory);
        for (uint32_t i = 0; i < count; i++) {
            const TiffEntry e = number<TiffEntry>(uint64_t(directory) + 2 + i * sizeof(TiffEntry));
            entries_[e.tag] = e;
        }
    }

    /** Value i of an entry, `otherwise` where there is none. */
    uint32_t value(uint16_t tag, uint32_t otherwise, uint32_t i = 0) const {
        const auto it = entries_.find(tag);
        if (it == entries_.end() || i >= it->second.count) {
            return otherwise;
        }
        const TiffEntry &e = it->second;
        const uint32_t size = e.type == tiff_short ? 2 : 4;
        if (uint64_t(e.count) * size <= 4) {
            return size == 2 ? (e.value >> (16 * i)) & 0xffff : e.value;
        }
        const uint64_t at = uint64_t(e.value) + uint64_t(i) * size;
        return size == 2 ? number<uint16_t>(at) : number<uint32_t>(at);
    }
    uint32_t count(uint16_t tag) const {
        const auto it = entries_.find(tag);
        return it == entries_.end() ? 0 : it->second.count;
    }
    const uint8_t *data(uint64_t at, uint64_t size) const {
        if (at > bytes_.size() || size > bytes_.size() - at) {
            image_error(filename_, "ends too early");
        }
        return bytes_.data() + at;
    }

private:
    template<typename T>
    T number(uint64_t at) const {
        T result;
        memcpy(&result, data(at, sizeof(T)), sizeof(T));
        return result;
    }
    const std::string &filename_;
    std::vector<uint8_t> bytes_;
    std::map<uint16_t, TiffEntry> entries_;
};

inline AnyBuffer load_tiff(const std::string &filename) {
    const TiffReader file(filename);
    const uint32_t width = file.value(tiff_width, 0), height = file.value(tiff_height, 0);
    const uint32_t channels = file.value(tiff_channels, 1), bits = file.value(tiff_bits, 1);
    const uint32_t kind = file.value(tiff_sample_format, 1);
    static const calotype_type_code_t codes[] = {calotype_type_uint, calotype_type_int,
                                                 calotype_type_float};
    if (file.value(tiff_compression, 1) != 1 || file.value(tiff_planes, 1) != 1 || kind < 1 ||
        kind > 3 || (bits != 8 && bits != 16 && bits != 32 && bits != 64)) {
        image_error(filename, "is a TIFF file of a form that cannot be read");
    }
    const calotype_type_t type(codes[kind - 1], uint8_t(bits));
    check_image_size(filename, {width, height, channels}, type.bytes());
    AnyBuffer image = make_image(type, int(width), int(height), int(channels));
    const uint64_t bytes = uint64_t(type.bytes()), row = uint64_t(width) * channels * bytes;
    // Up to 2^32 - 1 rows, which is how files say that there is one strip.
    const uint64_t rows = file.value(tiff_rows_per_strip, height);
    if (rows == 0 || (height + rows - 1) / rows != file.count(tiff_strip_offsets)) {
        image_error(filename, "has a malformed header");
    }
    for (uint32_t y = 0; y < height; y++) {
        const uint64_t strip = file.value(tiff_strip_offsets, 0, uint32_t(y / rows));
        const uint8_t *from = file.data(strip + (y % rows) * row, row);
        for (uint32_t x = 0; x < width; x++) {
            for (uint32_t c = 0; c < channels; c++, from += bytes) {
                memcpy(address_of(*image.raw_buffer(), int(x), int(y), int(c)), from, bytes);
            }
        }
    }
    return image;
}

inline void save_tiff(const calotype_buffer_t &image, const std::string &filename) {
    const auto extent = [&](int d) {
        return d < image.dimensions ? uint32_t(image.dim[d].extent) : 1u;
    };
    const uint32_t width = extent(0), height = extent(1), channels = extent(2);
    const uint32_t bytes = uint32_t(image.type.bytes());
    static const uint32_t sample_formats[] = {2, 1, 3};  // int, uint, float
    constexpr uint32_t entries = 11;
    constexpr uint32_t data_at = 8 + 2 + entries * sizeof(TiffEntry) + 4;
    const uint64_t size = uint64_t(width) * height * channels * bytes;
    ImageFile file(filename, "wb");
    if (size > UINT32_MAX - data_at) {
        file.fail("cannot hold more than 4 GiB");
    }
    // One number stands for the bits of all channels, as readers take it.
    const TiffEntry directory[entries] = {
        {tiff_width, tiff_long, 1, width},
        {tiff_height, tiff_long, 1, height},
        {tiff_bits, tiff_short, 1, bytes * 8},
        {tiff_compression, tiff_short, 1, 1},
        {tiff_photometric, tiff_short, 1, channels >= 3 ? 2u : 1u},
        {tiff_strip_offsets, tiff_long, 1, data_at},
        {tiff_channels, tiff_short, 1, channels},
        {tiff_rows_per_strip, tiff_long, 1, height},
        {tiff_strip_bytes, tiff_long, 1, uint32_t(size)},
        {tiff_planes, tiff_short, 1, 1},
        {tiff_sample_format, tiff_short, 1, sample_formats[image.type.code]},
    };
    const uint32_t directory_at = 8, no_more = 0;
    const uint16_t count = entries;
    file.write("II*\0", 4);
    file.write(&directory_at, sizeof directory_at);
    file.write(&count, sizeof count);
    file.write(directory, sizeof directory);
    file.write(&no_more, sizeof no_more);
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            for (uint32_t c = 0; c < channels; c++) {
                file.write(address_of(image, int(x), int(y), int(c)), bytes);
            }
        }
    }
    file.finish();
}

}  // namespace internal
}  // namespace Tools
}  // namespace calotype
