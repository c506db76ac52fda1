// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writing a buffer to a file. Each format is a header and then the elements in some order; the
// machine is taken to be little-endian.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "runtime/abi/debug.h"
#include "runtime/abi/device_interface.h"
#include "runtime/abi/errors.h"
#include "runtime/host/text.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace {

/** A file being written. Removed again unless all went well. */
class OutputFile {
    const char *name;
    FILE *file;
    bool good;

public:
    explicit OutputFile(const char *name)
        : name(name), file(fopen(name, "wb")), good(file != nullptr) {
    }
    ~OutputFile() {
        close();
    }
    void write(const void *data, size_t size) {
        good = good && fwrite(data, 1, size, file) == size;
    }
    template<typename T>
    void write_value(T value) {
        write(&value, sizeof value);
    }
    bool close() {
        if (file) {
            good = fclose(file) == 0 && good;
            file = nullptr;
            if (!good) {
                remove(name);
            }
        }
        return good;
    }
};

int extent(const calotype_buffer_t &buf, int d) {
    return d < buf.dimensions ? buf.dim[d].extent : 1;
}

using WriteFn = void (*)(OutputFile &, const void *element, size_t bytes);

void write_as_is(OutputFile &out, const void *element, size_t bytes) {
    out.write(element, bytes);
}

void write_bytes_swapped(OutputFile &out, const void *element, size_t bytes) {
    for (size_t i = bytes; i-- > 0;) {
        out.write(static_cast<const uint8_t *>(element) + i, 1);
    }
}

/** Write the elements, loops over the dimensions in `order`, the innermost first. */
void write_elements(OutputFile &out, const calotype_buffer_t &buf, const int *order, int loops,
                    const uint8_t *element, WriteFn write) {
    const ptrdiff_t bytes = buf.type.bytes();
    if (loops == 0) {
        write(out, element, size_t(bytes));
        return;
    }
    const calotype_dimension_t &dim = buf.dim[order[loops - 1]];
    if (loops == 1 && dim.stride == 1 && write == write_as_is) {
        out.write(element, size_t(dim.extent * bytes));
        return;
    }
    for (int i = 0; i < dim.extent; i++) {
        write_elements(out, buf, order, loops - 1, element + ptrdiff_t(i) * dim.stride * bytes,
                       write);
    }
}

constexpr int max_dimensions = 64;

/** All elements, the first dimension innermost. */
void write_in_order(OutputFile &out, const calotype_buffer_t &buf) {
    int order[max_dimensions];
    for (int d = 0; d < buf.dimensions; d++) {
        order[d] = d;
    }
    write_elements(out, buf, order, buf.dimensions, buf.host, write_as_is);
}

/** All elements of up to three dimensions, the channels of a pixel together. */
void write_interleaved(OutputFile &out, const calotype_buffer_t &buf, WriteFn write) {
    const int with_channels[] = {2, 0, 1}, without[] = {0, 1};
    write_elements(out, buf, buf.dimensions == 3 ? with_channels : without, buf.dimensions,
                   buf.host, write);
}

// ---- formats: each says whether it can hold the buffer
// -------------------------------------------

bool write_npy(OutputFile &out, const calotype_buffer_t &buf) {
    static const char kinds[] = {'i', 'u', 'f', 'u', 'u'};
    const bool is_bool = buf.type == calotype_type_t(calotype_type_uint, 1);
    Text dict;
    dict << "{'descr': '" << (buf.type.bytes() == 1 ? "|" : "<")
         << (is_bool ? 'b' : kinds[buf.type.code]) << buf.type.bytes()
         << "', 'fortran_order': False, 'shape': (";
    for (int d = buf.dimensions - 1; d >= 0; d--) {
        dict << buf.dim[d].extent << (d > 0 || buf.dimensions == 1 ? ", " : "");
    }
    dict << "), }";
    // Magic, version, length of the rest of the header, which ends the line at a multiple of 64.
    const size_t before = 10;
    const size_t padded = (before + dict.size() + 1 + 63) / 64 * 64 - before;
    out.write("\x93NUMPY\x01\x00", 8);
    out.write_value(uint16_t(padded));
    out.write(dict.c_str(), dict.size());
    for (size_t i = dict.size(); i + 1 < padded; i++) {
        out.write(" ", 1);
    }
    out.write("\n", 1);
    write_in_order(out, buf);
    return true;
}

bool write_pnm(OutputFile &out, const calotype_buffer_t &buf) {
    const int channels = extent(buf, 2), bits = buf.type.bits;
    if (buf.type.code != calotype_type_uint || (bits != 8 && bits != 16) || buf.dimensions > 3 ||
        (channels != 1 && channels != 3)) {
        return false;
    }
    Text header;
    header << (channels == 3 ? "P6" : "P5") << '\n'
           << extent(buf, 0) << ' ' << extent(buf, 1) << '\n'
           << (1 << bits) - 1 << '\n';
    out.write(header.c_str(), header.size());
    write_interleaved(out, buf, bits == 8 ? write_as_is : write_bytes_swapped);
    return true;
}

/** One real matrix in MATLAB's format of level 5: a header, then elements of a type, a number of bytes
 * and as many, filled up to a multiple of eight. */
bool write_mat(OutputFile &out, const calotype_buffer_t &buf) {
    static const struct {
        calotype_type_t type;
        uint32_t matrix_class, data;
    } types[] = {{{calotype_type_float, 64}, 6, 9}, {{calotype_type_float, 32}, 7, 7},
                 {{calotype_type_int, 8}, 8, 1},    {{calotype_type_uint, 8}, 9, 2},
                 {{calotype_type_int, 16}, 10, 3},  {{calotype_type_uint, 16}, 11, 4},
                 {{calotype_type_int, 32}, 12, 5},  {{calotype_type_uint, 32}, 13, 6},
                 {{calotype_type_int, 64}, 14, 12}, {{calotype_type_uint, 64}, 15, 13}};
    const bool is_bool = buf.type == calotype_type_t(calotype_type_uint, 1);
    const calotype_type_t type = is_bool ? calotype_type_t(calotype_type_uint, 8) : buf.type;
    for (const auto &t : types) {
        if (t.type != type) {
            continue;
        }
        const int dimensions = buf.dimensions < 2 ? 2 : buf.dimensions;
        uint64_t bytes = uint64_t(t.type.bytes());
        for (int d = 0; d < buf.dimensions; d++) {
            bytes *= uint64_t(buf.dim[d].extent);
        }
        const uint32_t padded_dimensions = uint32_t(dimensions + dimensions % 2);
        const uint64_t whole = 48 + padded_dimensions * 4 + (bytes + 7) / 8 * 8;
        if (whole > UINT32_MAX) {
            return false;
        }
        static const char text[] = "MATLAB 5.0 MAT-file";
        out.write(text, sizeof text - 1);
        for (size_t i = sizeof text - 1; i < 116; i++) {
            out.write(" ", 1);
        }
        out.write("\0\0\0\0\0\0\0\0\x00\x01IM", 12);
        const uint32_t before[] = {14, uint32_t(whole),         6, 8, t.matrix_class, 0,
                                   5,  uint32_t(dimensions) * 4};
        out.write(before, sizeof before);
        for (uint32_t d = 0; d < padded_dimensions; d++) {
            out.write_value(int32_t(int(d) < dimensions ? extent(buf, int(d)) : 0));
        }
        const uint32_t name[] = {1, 5};
        out.write(name, sizeof name);
        out.write("image\0\0\0", 8);
        const uint32_t data[] = {t.data, uint32_t(bytes)};
        out.write(data, sizeof data);
        write_in_order(out, buf);
        out.write("\0\0\0\0\0\0\0", size_t(-bytes & 7));
        return true;
    }
    return false;
}

/** One entry of a TIFF directory with its value inside. */
struct TiffEntry {
    uint16_t tag, type;
    uint32_t count, value;
};

bool write_tiff(OutputFile &out, const calotype_buffer_t &buf) {
    if (buf.dimensions > 3 || buf.type.code == calotype_type_handle ||
        buf.type.code == calotype_type_bfloat) {
        return false;
    }
    constexpr uint16_t as_short = 3, as_long = 4;
    const uint32_t width = uint32_t(extent(buf, 0)), height = uint32_t(extent(buf, 1));
    const uint32_t channels = uint32_t(extent(buf, 2)), bits = uint32_t(buf.type.bytes()) * 8;
    const uint64_t size = uint64_t(width) * height * channels * (bits / 8);
    static const uint32_t sample_formats[] = {2, 1, 3};  // int, uint, float
    constexpr uint32_t entries = 11;
    constexpr uint32_t data_at = 8 + 2 + entries * sizeof(TiffEntry) + 4;
    if (size > UINT32_MAX - data_at) {
        return false;
    }
    // One number stands for the bits of all channels, which is what readers make of a count of one.
    const TiffEntry directory[entries] = {
        {256, as_long, 1, width},
        {257, as_long, 1, height},
        {258, as_short, 1, bits},
        {259, as_short, 1, 1},                        // not compressed
        {262, as_short, 1, channels >= 3 ? 2u : 1u},  // RGB or grey
        {273, as_long, 1, data_at},
        {277, as_short, 1, channels},
        {278, as_long, 1, height},  // one strip
        {279, as_long, 1, uint32_t(size)},
        {284, as_short, 1, 1},  // channels of a pixel together
        {339, as_short, 1, sample_formats[buf.type.code]},
    };
    out.write("II*\0", 4);
    out.write_value(uint32_t(8));
    out.write_value(uint16_t(entries));
    out.write(directory, sizeof directory);
    out.write_value(uint32_t(0));
    write_interleaved(out, buf, write_as_is);
    return true;
}

/** Number of a type in the header of a raw file; -1 if it has none. */
int raw_type_number(const calotype_type_t &type) {
    static const calotype_type_t numbered[] = {{calotype_type_float, 32}, {calotype_type_float, 64},
                                               {calotype_type_uint, 8},   {calotype_type_int, 8},
                                               {calotype_type_uint, 16},  {calotype_type_int, 16},
                                               {calotype_type_uint, 32},  {calotype_type_int, 32},
                                               {calotype_type_uint, 64},  {calotype_type_int, 64}};
    for (int i = 0; i < int(sizeof numbered / sizeof numbered[0]); i++) {
        if (numbered[i] == type) {
            return i;
        }
    }
    return type == calotype_type_t(calotype_type_uint, 1) ? 2 : -1;
}

bool write_raw(OutputFile &out, const calotype_buffer_t &buf) {
    const int number = raw_type_number(buf.type);
    if (number < 0 || buf.dimensions > 4) {
        return false;
    }
    for (int d = 0; d < 4; d++) {
        out.write_value(int32_t(extent(buf, d)));
    }
    out.write_value(int32_t(number));
    write_in_order(out, buf);
    return true;
}

using FormatFn = bool (*)(OutputFile &, const calotype_buffer_t &);

FormatFn format_of(const char *filename) {
    static const struct {
        const char *extension;
        FormatFn format;
    } formats[] = {{".npy", write_npy}, {".mat", write_mat},  {".pgm", write_pnm},
                   {".ppm", write_pnm}, {".tif", write_tiff}, {".tiff", write_tiff}};
    const char *dot = strrchr(filename, '.');
    for (const auto &f : formats) {
        if (dot && strcasecmp(dot, f.extension) == 0) {
            return f.format;
        }
    }
    return write_raw;
}

}  // namespace

CALOTYPE_WEAK int32_t calotype_debug_to_file(void *user_context, const char *filename,
                                             calotype_buffer_t *buf) {
    if (!buf) {
        return calotype_error_buffer_is_null(user_context, "calotype_debug_to_file");
    }
    if (buf->is_bounds_query() || buf->dimensions > max_dimensions) {
        return calotype_error_code_debug_to_file_failed;
    }
    if (int code = calotype_copy_to_host(user_context, buf)) {
        return code;
    }
    OutputFile out(filename);
    const bool fits = format_of(filename)(out, *buf);
    const bool written = out.close();
    if (!fits && written) {
        remove(filename);
    }
    return fits && written ? 0 : calotype_error_code_debug_to_file_failed;
}
