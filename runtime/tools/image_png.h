// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PNG files, through libpng: 8 or 16 bits, one to four channels. Palettes are read as the colours in
// them; grey of fewer bits is refused.
#pragma once

#include <csetjmp>
#include <png.h>

#include "image_file.h"

namespace calotype {
namespace Tools {
namespace internal {

/** libpng reports errors by a longjmp, across which no C++ object may be made: the functions that
 * call it work on these, made before, and answer whether all went well. */
struct PngRead {
    FILE *file;
    std::string *error;
    png_structp png = nullptr;
    png_infop info = nullptr;
    int width = 0, height = 0, channels = 0, bits = 0;

    PngRead(FILE *file, std::string *error) : file(file), error(error) {
        png = png_create_read_struct(PNG_LIBPNG_VER_STRING, error, on_error, on_warning);
        info = png ? png_create_info_struct(png) : nullptr;
    }
    ~PngRead() {
        png_destroy_read_struct(&png, &info, nullptr);
    }
    PngRead(const PngRead &) = delete;
    PngRead &operator=(const PngRead &) = delete;

    [[noreturn]] static void on_error(png_structp png, png_const_charp message) {
        static_cast<std::string *>(png_get_error_ptr(png))->assign(message);
        png_longjmp(png, 1);
    }
    static void on_warning(png_structp, png_const_charp) {
    }

    bool read_header() {
        if (!info || setjmp(png_jmpbuf(png))) {
            return false;
        }
        png_init_io(png, file);
        png_read_info(png, info);
        if (png_get_color_type(png, info) != PNG_COLOR_TYPE_PALETTE &&
            png_get_bit_depth(png, info) < 8) {
            png_error(png, "has samples of fewer than 8 bits");
        }
        png_set_expand(png);  // palettes, transparent colours
        png_set_interlace_handling(png);
        png_read_update_info(png, info);
        width = int(png_get_image_width(png, info));
        height = int(png_get_image_height(png, info));
        channels = png_get_channels(png, info);
        bits = png_get_bit_depth(png, info);
        return true;
    }
    bool read_rows(png_bytepp rows) {
        if (setjmp(png_jmpbuf(png))) {
            return false;
        }
        png_read_image(png, rows);
        png_read_end(png, nullptr);
        return true;
    }
};

inline AnyBuffer load_png(const std::string &filename) {
    ImageFile file(filename, "rb");
    std::string error = "libpng cannot be used";
    PngRead read(file.handle(), &error);
    if (!read.read_header()) {
        file.fail(error);
    }
    const size_t row_bytes = size_t(read.width) * size_t(read.channels) * size_t(read.bits / 8);
    std::vector<uint8_t> pixels(row_bytes * size_t(read.height));
    std::vector<png_bytep> rows(size_t(read.height));
    for (size_t y = 0; y < rows.size(); y++) {
        rows[y] = pixels.data() + y * row_bytes;
    }
    if (!read.read_rows(rows.data())) {
        file.fail(error);
    }
    AnyBuffer image = make_image({calotype_type_uint, uint8_t(read.bits)}, read.width, read.height,
                                 read.channels);
    for (int y = 0; y < read.height; y++) {
        set_any_row(*image.raw_buffer(), y, read.channels, rows[size_t(y)]);
    }
    return image;
}

struct PngWrite {
    FILE *file;
    png_structp png = nullptr;
    png_infop info = nullptr;

    PngWrite(FILE *file, std::string *error) : file(file) {
        png = png_create_write_struct(PNG_LIBPNG_VER_STRING, error, PngRead::on_error,
                                      PngRead::on_warning);
        info = png ? png_create_info_struct(png) : nullptr;
    }
    ~PngWrite() {
        png_destroy_write_struct(&png, &info);
    }
    PngWrite(const PngWrite &) = delete;
    PngWrite &operator=(const PngWrite &) = delete;

    bool write_header(int width, int height, int channels, int bits) {
        static const int color_types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                          PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
        if (!info || setjmp(png_jmpbuf(png))) {
            return false;
        }
        png_init_io(png, file);
        png_set_IHDR(png, info, png_uint_32(width), png_uint_32(height), bits,
                     color_types[channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                     PNG_FILTER_TYPE_DEFAULT);
        png_write_info(png, info);
        return true;
    }
    bool write_row(png_const_bytep row) {
        if (setjmp(png_jmpbuf(png))) {
            return false;
        }
        png_write_row(png, row);
        return true;
    }
    bool write_end() {
        if (setjmp(png_jmpbuf(png))) {
            return false;
        }
        png_write_end(png, nullptr);
        return true;
    }
};

inline void save_png(const calotype_buffer_t &image, const std::string &filename) {
    const int width = image.dim[0].extent, height = image.dim[1].extent;
    const int channels = image.dimensions > 2 ? image.dim[2].extent : 1;
    ImageFile file(filename, "wb");
    std::string error = "libpng cannot be used";
    PngWrite write(file.handle(), &error);
    bool good = write.write_header(width, height, channels, image.type.bits);
    std::vector<uint8_t> row(size_t(width) * size_t(channels) * size_t(image.type.bytes()));
    for (int y = 0; good && y < height; y++) {
        get_any_row(image, y, channels, row.data());
        good = write.write_row(row.data());
    }
    if (!good || !write.write_end()) {
        file.fail(error);
    }
    file.finish();
}

}  // namespace internal
}  // namespace Tools
}  // namespace calotype
