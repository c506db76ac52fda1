// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// JPEG files, through libjpeg: 8 bits, grey or three channels.
#pragma once

#include <csetjmp>
#include <cstdio>
#include <jpeglib.h>

#include "image_file.h"

namespace calotype {
namespace Tools {
namespace internal {

/** libjpeg reports errors by a call that must not return; see PngRead. */
struct JpegErrors {
    jpeg_error_mgr manager;
    jmp_buf escape;
    char message[JMSG_LENGTH_MAX];

    jpeg_error_mgr *install() {
        jpeg_std_error(&manager);
        manager.error_exit = [](j_common_ptr info) {
            auto *self = reinterpret_cast<JpegErrors *>(info->err);
            info->err->format_message(info, self->message);
            longjmp(self->escape, 1);
        };
        manager.emit_message = [](j_common_ptr, int) {
        };
        return &manager;
    }
};

struct JpegRead {
    JpegErrors errors;
    jpeg_decompress_struct info;

    JpegRead() {
        info.err = errors.install();
        jpeg_create_decompress(&info);
    }
    ~JpegRead() {
        jpeg_destroy_decompress(&info);
    }
    JpegRead(const JpegRead &) = delete;
    JpegRead &operator=(const JpegRead &) = delete;

    bool start(FILE *file) {
        if (setjmp(errors.escape)) {
            return false;
        }
        jpeg_stdio_src(&info, file);
        jpeg_read_header(&info, TRUE);
        jpeg_start_decompress(&info);
        return true;
    }
    bool read_row(uint8_t *row) {
        if (setjmp(errors.escape)) {
            return false;
        }
        JSAMPROW rows[] = {row};
        return jpeg_read_scanlines(&info, rows, 1) == 1;
    }
};

inline AnyBuffer load_jpg(const std::string &filename) {
    ImageFile file(filename, "rb");
    JpegRead read;
    if (!read.start(file.handle())) {
        file.fail(read.errors.message);
    }
    const int width = int(read.info.output_width), height = int(read.info.output_height);
    const int channels = read.info.output_components;
    AnyBuffer image = make_image({calotype_type_uint, 8}, width, height, channels);
    std::vector<uint8_t> row(size_t(width) * size_t(channels));
    for (int y = 0; y < height; y++) {
        if (!read.read_row(row.data())) {
            file.fail(read.errors.message);
        }
        set_any_row(*image.raw_buffer(), y, channels, row.data());
    }
    return image;
}

struct JpegWrite {
    JpegErrors errors;
    jpeg_compress_struct info;

    JpegWrite() {
        info.err = errors.install();
        jpeg_create_compress(&info);
    }
    ~JpegWrite() {
        jpeg_destroy_compress(&info);
    }
    JpegWrite(const JpegWrite &) = delete;
    JpegWrite &operator=(const JpegWrite &) = delete;

    bool start(FILE *file, int width, int height, int channels) {
        if (setjmp(errors.escape)) {
            return false;
        }
        constexpr int quality = 99;
        jpeg_stdio_dest(&info, file);
        info.image_width = JDIMENSION(width);
        info.image_height = JDIMENSION(height);
        info.input_components = channels;
        info.in_color_space = channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
        jpeg_set_defaults(&info);
        jpeg_set_quality(&info, quality, TRUE);
        jpeg_start_compress(&info, TRUE);
        return true;
    }
    bool write_row(uint8_t *row) {
        if (setjmp(errors.escape)) {
            return false;
        }
        JSAMPROW rows[] = {row};
        return jpeg_write_scanlines(&info, rows, 1) == 1;
    }
    bool finish() {
        if (setjmp(errors.escape)) {
            return false;
        }
        jpeg_finish_compress(&info);
        return true;
    }
};

inline void save_jpg(const calotype_buffer_t &image, const std::string &filename) {
    const int width = image.dim[0].extent, height = image.dim[1].extent;
    const int channels = image.dimensions > 2 ? image.dim[2].extent : 1;
    ImageFile file(filename, "wb");
    JpegWrite write;
    bool good = write.start(file.handle(), width, height, channels);
    std::vector<uint8_t> row(size_t(width) * size_t(channels));
    for (int y = 0; good && y < height; y++) {
        get_any_row(image, y, channels, row.data());
        good = write.write_row(row.data());
    }
    if (!good || !write.finish()) {
        file.fail(write.errors.message);
    }
    file.finish();
}

}  // namespace internal
}  // namespace Tools
}  // namespace calotype
