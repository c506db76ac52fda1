// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver copies boxes between images, and between an image and rows of contiguous elements.
// Other layouts go by way of dense host memory.
#include <stdlib.h>

#include "runtime/abi/errors.h"
#include "runtime/device/copy_plan.h"
#include "runtime/opencl/context.h"
#include "runtime/opencl/copy.h"
#include "runtime/opencl/driver.h"
#include "runtime/opencl/errors.h"
#include "runtime/opencl/images.h"
#include "runtime/opencl/memory.h"

namespace calotype::runtime::opencl {

namespace {

/** The box of coordinates that two buffers have in common. */
struct Common {
    int dimensions;
    int32_t min[max_image_dimensions];
    size_t count[max_image_dimensions];  ///< 1 beyond the dimensions
    bool is_empty;
};

Common common_to(const calotype_buffer_t &a, const calotype_buffer_t &b) {
    Common common = {a.dimensions, {}, {1, 1, 1}, false};
    for (int d = 0; d < a.dimensions; d++) {
        const calotype_dimension_t &x = a.dim[d], &y = b.dim[d];
        const int64_t x_end = int64_t(x.min) + x.extent, y_end = int64_t(y.min) + y.extent;
        const int64_t end = x_end < y_end ? x_end : y_end;
        common.min[d] = x.min > y.min ? x.min : y.min;
        common.is_empty = common.is_empty || end <= common.min[d];
        common.count[d] = size_t(end - common.min[d]);
    }
    return common;
}

/** Where in its image the box begins. */
struct Origin {
    size_t at[max_image_dimensions] = {};

    Origin(const calotype_buffer_t &buf, const Common &common) {
        for (int d = 0; d < common.dimensions; d++) {
            at[d] = memory_of(&buf)->origin[d] + size_t(int64_t(common.min[d]) - buf.dim[d].min);
        }
    }
};

/** How the box lies in memory with addresses, in bytes. */
struct Rows {
    int64_t offset = 0;         ///< from the element at the mins
    size_t row = 0, slice = 0;  ///< pitches, at least of what is in a row or a slice
    bool is_dense = true;  ///< rows are contiguous, pitches are not negative and do not overlap
};

Rows rows_of(const calotype_buffer_t &buf, const Common &common) {
    const int64_t bytes = buf.type.bytes();
    Rows rows;
    for (int d = 0; d < common.dimensions; d++) {
        rows.offset += (int64_t(common.min[d]) - buf.dim[d].min) * buf.dim[d].stride * bytes;
    }
    int64_t pitch[max_image_dimensions], least = bytes;
    for (int d = 0; d < max_image_dimensions; d++) {
        pitch[d] = common.count[d] > 1 ? buf.dim[d].stride * bytes : least;
        rows.is_dense = rows.is_dense && (d == 0 ? pitch[d] == least : pitch[d] >= least);
        least = pitch[d] * int64_t(common.count[d]);
    }
    rows.row = size_t(pitch[1]);
    rows.slice = size_t(pitch[2]);
    return rows;
}

int answer(cl_int error, const char *function, const DeviceScope &scope,
           const calotype_buffer_t &image, const Common &common) {
    if (error == CL_SUCCESS) {
        return 0;
    }
    const size_t elements = common.count[0] * common.count[1] * common.count[2];
    set_failure(describe_error(error, function)
                << " for " << uint64_t(elements) * uint64_t(image.type.bytes()) << " bytes on "
                << record_of(scope).tools);
    return calotype_error_code_device_buffer_copy_failed;
}

/** Complete when it returns. Pitches that a box does not need must be 0. */
int read_rows(const DeviceScope &scope, const calotype_buffer_t &image, const Common &common,
              const Rows &rows, uint8_t *to) {
    return answer(cl().clEnqueueReadImage(
                      queue_of(scope), memory_of(&image)->mem, 1, Origin(image, common).at,
                      common.count, common.dimensions > 1 ? rows.row : 0,
                      common.dimensions > 2 ? rows.slice : 0, to, 0, nullptr, nullptr),
                  "clEnqueueReadImage", scope, image, common);
}

int write_rows(const DeviceScope &scope, const calotype_buffer_t &image, const Common &common,
               const Rows &rows, const uint8_t *from) {
    return answer(cl().clEnqueueWriteImage(
                      queue_of(scope), memory_of(&image)->mem, 1, Origin(image, common).at,
                      common.count, common.dimensions > 1 ? rows.row : 0,
                      common.dimensions > 2 ? rows.slice : 0, from, 0, nullptr, nullptr),
                  "clEnqueueWriteImage", scope, image, common);
}

int copy_between_images(const DeviceScope &scope, const calotype_buffer_t &src,
                        const calotype_buffer_t &dst, const Common &common) {
    return answer(cl().clEnqueueCopyImage(queue_of(scope), memory_of(&src)->mem,
                                          memory_of(&dst)->mem, Origin(src, common).at,
                                          Origin(dst, common).at, common.count, 0, nullptr,
                                          nullptr),
                  "clEnqueueCopyImage", scope, src, common);
}

/** Between an image and dense rows of a buffer: as much at once as lies without gaps. */
int copy_to_or_from_buffer(const DeviceScope &scope, const calotype_buffer_t &image,
                           const calotype_buffer_t &buffer, bool to_image, const Common &common,
                           const Rows &rows) {
    const size_t bytes = size_t(buffer.type.bytes());
    const bool whole_slices = rows.row == common.count[0] * bytes;
    const bool whole_box = whole_slices && rows.slice == rows.row * common.count[1];
    const size_t step[2] = {whole_slices ? common.count[1] : 1, whole_box ? common.count[2] : 1};
    const size_t region[3] = {common.count[0], step[0], step[1]};
    const Origin origin(image, common);
    const size_t first = size_t(int64_t(memory_of(&buffer)->offset) + rows.offset);
    cl_mem mem = memory_of(&image)->mem, linear = memory_of(&buffer)->mem;
    for (size_t z = 0; z < common.count[2]; z += step[1]) {
        for (size_t y = 0; y < common.count[1]; y += step[0]) {
            const size_t at[3] = {origin.at[0], origin.at[1] + y, origin.at[2] + z};
            const size_t offset = first + y * rows.row + z * rows.slice;
            const cl_int error =
                to_image ? cl().clEnqueueCopyBufferToImage(queue_of(scope), linear, mem, offset, at,
                                                           region, 0, nullptr, nullptr)
                         : cl().clEnqueueCopyImageToBuffer(queue_of(scope), mem, linear, at, region,
                                                           offset, 0, nullptr, nullptr);
            if (int code = answer(
                    error, to_image ? "clEnqueueCopyBufferToImage" : "clEnqueueCopyImageToBuffer",
                    scope, image, common)) {
                return code;
            }
        }
    }
    return 0;
}

/** By way of dense host memory. */
int copy_by_host(const DeviceScope &scope, const calotype_buffer_t &src, bool from_device,
                 const calotype_buffer_t &dst, bool to_device, const Common &common) {
    calotype_dimension_t dims[max_image_dimensions];
    calotype_buffer_t between = {};
    size_t elements = 1;
    for (int d = 0; d < common.dimensions; d++) {
        dims[d] = {common.min[d], int32_t(common.count[d]), int32_t(elements)};
        elements *= common.count[d];
    }
    const size_t bytes = elements * size_t(src.type.bytes());
    auto *memory = static_cast<uint8_t *>(malloc(bytes));
    if (!memory) {
        set_failure(Text() << "out of host memory for " << uint64_t(bytes)
                           << " bytes that are copied by way of the host");
        return calotype_error_code_device_buffer_copy_failed;
    }
    between.host = memory;
    between.type = src.type;
    between.dimensions = common.dimensions;
    between.dim = dims;
    int code = 0;
    if (from_device) {
        code = copy_elements(scope, src, true, between, false);
    } else {
        copy_common_elements(src, between);
    }
    if (code == 0 && to_device) {
        code = copy_elements(scope, between, false, dst, true);
    } else if (code == 0) {
        copy_common_elements(between, dst);
    }
    free(memory);
    return code;
}

bool is_image(const calotype_buffer_t &buf, bool on_device) {
    return on_device && memory_of(&buf)->is_image;
}

}  // namespace

int copy_images(const DeviceScope &scope, const calotype_buffer_t &src, bool from_device,
                const calotype_buffer_t &dst, bool to_device) {
    const Common common = common_to(src, dst);
    if (common.is_empty) {
        return 0;
    }
    const bool from_image = is_image(src, from_device), to_image = is_image(dst, to_device);
    if (from_image && to_image) {
        // Formats are as the types.
        return src.type == dst.type ? copy_between_images(scope, src, dst, common)
                                    : copy_by_host(scope, src, from_device, dst, to_device, common);
    }
    const calotype_buffer_t &image = from_image ? src : dst, &other = from_image ? dst : src;
    const Rows rows = rows_of(other, common);
    if (!rows.is_dense) {
        return copy_by_host(scope, src, from_device, dst, to_device, common);
    }
    if (from_device && to_device) {
        return copy_to_or_from_buffer(scope, image, other, to_image, common, rows);
    }
    return to_image ? write_rows(scope, image, common, rows, other.host + rows.offset)
                    : read_rows(scope, image, common, rows, other.host + rows.offset);
}

}  // namespace calotype::runtime::opencl
