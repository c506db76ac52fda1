// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images of one channel: dense rows of elements.
#include <cstring>

#include "harness/fake_opencl/functions.h"

using namespace calotype_test;

namespace {

/** 0: there is no such format. */
size_t bytes_of(const cl_image_format &format) {
    switch (format.order == CL_R ? format.data_type : 0) {
    case CL_SIGNED_INT8:
    case CL_UNSIGNED_INT8:
        return 1;
    case CL_SIGNED_INT16:
    case CL_UNSIGNED_INT16:
        return 2;
    case CL_SIGNED_INT32:
    case CL_UNSIGNED_INT32:
    case CL_FLOAT:
        return 4;
    default:
        return 0;
    }
}

/** Extents that an image of that type has not must be 0 in the description. */
bool find_extents(const cl_image_desc &desc, size_t *extent) {
    const int dimensions = desc.type == CL_MEM_OBJECT_IMAGE1D   ? 1
                           : desc.type == CL_MEM_OBJECT_IMAGE2D ? 2
                           : desc.type == CL_MEM_OBJECT_IMAGE3D ? 3
                                                                : 0;
    static const size_t limits[2][3] = {{4096, 2048, 1}, {512, 256, 128}};
    const size_t given[3] = {desc.width, desc.height, desc.depth};
    bool is_valid = dimensions > 0;
    for (int d = 0; d < 3; d++) {
        const bool is_there = d < dimensions;
        is_valid = is_valid && (is_there ? given[d] > 0 : given[d] == 0);
        extent[d] = is_there ? given[d] : 1;
        is_valid = is_valid && extent[d] <= limits[dimensions == 3][d];
    }
    return is_valid;
}

/** One end of a copy, in bytes. */
struct Side {
    uint8_t *bytes;
    size_t size, first, row, slice;
};

bool find_image(cl_mem handle, const size_t *origin, const size_t *region, Side *side,
                size_t *element_bytes) {
    auto *mem = find<FakeMem>(handle, Kind::mem);
    if (!mem || mem->type == CL_MEM_OBJECT_BUFFER) {
        fake_state().misuses++;
        return false;
    }
    for (int d = 0; d < 3; d++) {
        if (region[d] == 0 || origin[d] + region[d] > mem->extent[d]) {
            fake_state().misuses++;
            return false;
        }
    }
    const size_t row = mem->extent[0] * mem->element_bytes, slice = row * mem->extent[1];
    *side = {mem->bytes.data(), mem->bytes.size(),
             origin[0] * mem->element_bytes + origin[1] * row + origin[2] * slice, row, slice};
    *element_bytes = mem->element_bytes;
    return true;
}

bool find_buffer(cl_mem handle, size_t offset, const size_t *region, size_t element_bytes,
                 Side *side) {
    auto *mem = find<FakeMem>(handle, Kind::mem);
    if (!mem || mem->type != CL_MEM_OBJECT_BUFFER) {
        fake_state().misuses++;
        return false;
    }
    const size_t row = region[0] * element_bytes;
    *side = {mem->bytes.data(), mem->bytes.size(), offset, row, row * region[1]};
    return true;
}

/** A pitch of 0 means rows without gaps, and must be 0 where the image has no such dimension. */
bool find_host(cl_mem image, const void *pointer, const size_t *region, size_t row, size_t slice,
               size_t element_bytes, Side *side) {
    const auto *mem = find<FakeMem>(image, Kind::mem);
    const bool has_rows = mem->type != CL_MEM_OBJECT_IMAGE1D;
    const bool has_slices = mem->type == CL_MEM_OBJECT_IMAGE3D;
    const size_t least_row = region[0] * element_bytes;
    const size_t row_pitch = row != 0 ? row : least_row;
    const size_t least_slice = row_pitch * region[1];
    if ((row != 0 && (!has_rows || row < least_row)) ||
        (slice != 0 && (!has_slices || slice < least_slice))) {
        fake_state().misuses++;
        return false;
    }
    *side = {static_cast<uint8_t *>(const_cast<void *>(pointer)), SIZE_MAX, 0, row_pitch,
             slice != 0 ? slice : least_slice};
    return true;
}

cl_int copy(const Side &from, const Side &to, const size_t *region, size_t element_bytes) {
    const size_t width = region[0] * element_bytes;
    for (size_t z = 0; z < region[2]; z++) {
        for (size_t y = 0; y < region[1]; y++) {
            const size_t f = from.first + y * from.row + z * from.slice;
            const size_t t = to.first + y * to.row + z * to.slice;
            if (f + width > from.size || t + width > to.size) {
                fake_state().misuses++;
                return CL_INVALID_VALUE;
            }
            memmove(to.bytes + t, from.bytes + f, width);
        }
    }
    return CL_SUCCESS;
}

}  // namespace

FAKE_CL cl_mem clCreateImage(cl_context handle, cl_bitfield, const cl_image_format *format,
                             const cl_image_desc *desc, void *, cl_int *error) {
    FAKE_ENTER_OBJECT(clCreateImage, error);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    auto *context = find<FakeContext>(handle, Kind::context);
    const size_t bytes = bytes_of(*format);
    size_t extent[3];
    if (!context || !fake_state().has_images) {
        return no_object<cl_mem>(error, CL_INVALID_CONTEXT);
    }
    if (bytes == 0 || !find_extents(*desc, extent)) {
        return no_object<cl_mem>(error, bytes == 0 ? CL_IMAGE_FORMAT_NOT_SUPPORTED
                                                   : CL_INVALID_IMAGE_SIZE);
    }
    FakeMem *mem = add_memory(context, bytes * extent[0] * extent[1] * extent[2], error);
    if (mem) {
        mem->type = desc->type;
        mem->format = *format;
        mem->element_bytes = bytes;
        memcpy(mem->extent, extent, sizeof extent);
    }
    return handle_of<cl_mem>(mem);
}

FAKE_CL cl_int clGetImageInfo(cl_mem handle, cl_uint what, size_t room, void *out, size_t *needed) {
    FAKE_ENTER(clGetImageInfo);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    const auto *mem = find<FakeMem>(handle, Kind::mem);
    if (!mem || mem->type == CL_MEM_OBJECT_BUFFER) {
        return CL_INVALID_MEM_OBJECT;
    }
    switch (what) {
    case CL_IMAGE_FORMAT:
        return answer(&mem->format, sizeof mem->format, room, out, needed);
    case CL_IMAGE_WIDTH:
    case CL_IMAGE_HEIGHT:
    case CL_IMAGE_DEPTH:
        return answer(&mem->extent[what - CL_IMAGE_WIDTH], sizeof(size_t), room, out, needed);
    default:
        return CL_INVALID_VALUE;
    }
}

FAKE_CL cl_int clEnqueueReadImage(cl_command_queue queue, cl_mem image, cl_bool,
                                  const size_t *origin, const size_t *region, size_t row,
                                  size_t slice, void *pointer, cl_uint, const cl_event *,
                                  cl_event *) {
    FAKE_ENTER(clEnqueueReadImage);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    Side from, to;
    size_t bytes = 0;
    if (!is_queue(queue) || !find_image(image, origin, region, &from, &bytes) ||
        !find_host(image, pointer, region, row, slice, bytes, &to)) {
        return CL_INVALID_VALUE;
    }
    return copy(from, to, region, bytes);
}

FAKE_CL cl_int clEnqueueWriteImage(cl_command_queue queue, cl_mem image, cl_bool,
                                   const size_t *origin, const size_t *region, size_t row,
                                   size_t slice, const void *pointer, cl_uint, const cl_event *,
                                   cl_event *) {
    FAKE_ENTER(clEnqueueWriteImage);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    Side from, to;
    size_t bytes = 0;
    if (!is_queue(queue) || !find_image(image, origin, region, &to, &bytes) ||
        !find_host(image, pointer, region, row, slice, bytes, &from)) {
        return CL_INVALID_VALUE;
    }
    return copy(from, to, region, bytes);
}

FAKE_CL cl_int clEnqueueCopyImage(cl_command_queue queue, cl_mem src, cl_mem dst,
                                  const size_t *src_origin, const size_t *dst_origin,
                                  const size_t *region, cl_uint, const cl_event *, cl_event *) {
    FAKE_ENTER(clEnqueueCopyImage);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    Side from, to;
    size_t src_bytes = 0, dst_bytes = 0;
    if (!is_queue(queue) || !find_image(src, src_origin, region, &from, &src_bytes) ||
        !find_image(dst, dst_origin, region, &to, &dst_bytes)) {
        return CL_INVALID_VALUE;
    }
    const cl_image_format &a = find<FakeMem>(src, Kind::mem)->format;
    const cl_image_format &b = find<FakeMem>(dst, Kind::mem)->format;
    return a.data_type == b.data_type ? copy(from, to, region, src_bytes)
                                      : cl_int(CL_IMAGE_FORMAT_MISMATCH);
}

FAKE_CL cl_int clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem src, cl_mem dst,
                                          const size_t *origin, const size_t *region, size_t offset,
                                          cl_uint, const cl_event *, cl_event *) {
    FAKE_ENTER(clEnqueueCopyImageToBuffer);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    Side from, to;
    size_t bytes = 0;
    if (!is_queue(queue) || !find_image(src, origin, region, &from, &bytes) ||
        !find_buffer(dst, offset, region, bytes, &to)) {
        return CL_INVALID_VALUE;
    }
    return copy(from, to, region, bytes);
}

FAKE_CL cl_int clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem src, cl_mem dst,
                                          size_t offset, const size_t *origin, const size_t *region,
                                          cl_uint, const cl_event *, cl_event *) {
    FAKE_ENTER(clEnqueueCopyBufferToImage);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    Side from, to;
    size_t bytes = 0;
    if (!is_queue(queue) || !find_image(dst, origin, region, &to, &bytes) ||
        !find_buffer(src, offset, region, bytes, &from)) {
        return CL_INVALID_VALUE;
    }
    return copy(from, to, region, bytes);
}
