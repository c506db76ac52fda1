// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/opencl/images.h"

#include "runtime/abi/errors.h"
#include "runtime/device/host_allocation.h"
#include "runtime/opencl/context.h"
#include "runtime/opencl/driver.h"
#include "runtime/opencl/errors.h"
#include "runtime/opencl/memory.h"

namespace calotype::runtime::opencl {

namespace {

/** How elements are kept. A bool is a byte, a float of 16 bits just these. */
struct ImageFormat {
    calotype_type_code_t code;
    uint8_t bits;
    cl_uint channel;
};
constexpr ImageFormat image_formats[] = {
    {calotype_type_int, 8, CL_SIGNED_INT8},      {calotype_type_int, 16, CL_SIGNED_INT16},
    {calotype_type_int, 32, CL_SIGNED_INT32},    {calotype_type_uint, 1, CL_UNSIGNED_INT8},
    {calotype_type_uint, 8, CL_UNSIGNED_INT8},   {calotype_type_uint, 16, CL_UNSIGNED_INT16},
    {calotype_type_uint, 32, CL_UNSIGNED_INT32}, {calotype_type_float, 16, CL_UNSIGNED_INT16},
    {calotype_type_float, 32, CL_FLOAT},         {calotype_type_bfloat, 16, CL_UNSIGNED_INT16},
};

/** What an image of the buffer is made of. */
struct ImageShape {
    cl_image_format format;
    cl_uint kind;
    int dimensions;
    size_t extent[max_image_dimensions];  ///< 1 where the buffer has no such dimension
};

constexpr cl_uint image_kinds[] = {CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE2D,
                                   CL_MEM_OBJECT_IMAGE3D};

/** False with the cause set if no image is like the buffer. One without elements has an image of
 * one. */
bool find_shape(const calotype_buffer_t &buf, ImageShape *shape) {
    *shape = {};
    if (buf.dimensions > max_image_dimensions) {
        return fail_with(false, Text() << "a buffer of " << buf.dimensions
                                       << " dimensions cannot be in an image, which has at most "
                                       << max_image_dimensions);
    }
    for (const ImageFormat &f : image_formats) {
        if (f.code == buf.type.code && f.bits == buf.type.bits && buf.type.lanes == 1) {
            shape->format = {CL_R, f.channel};
        }
    }
    if (shape->format.order == 0) {
        return fail_with(false, Text() << "a buffer of " << buf.type
                                       << " cannot be in an image: no format holds that");
    }
    shape->dimensions = buf.dimensions > 0 ? buf.dimensions : 1;
    shape->kind = image_kinds[shape->dimensions - 1];
    for (int d = 0; d < max_image_dimensions; d++) {
        const bool some = d < buf.dimensions && buf.dim[d].extent > 0;
        shape->extent[d] = some ? size_t(buf.dim[d].extent) : 1;
    }
    return true;
}

bool is_within_limits(const ContextRecord &record, const ImageShape &shape) {
    if (!record.has_images) {
        return fail_with(false, Text() << "the OpenCL device has no images: " << record.tools);
    }
    const size_t *limits = shape.dimensions == 3 ? record.max_image3d : record.max_image2d;
    for (int d = 0; d < shape.dimensions; d++) {
        if (shape.extent[d] > limits[d]) {
            return fail_with(false, Text() << "the buffer has extent " << uint64_t(shape.extent[d])
                                           << " in dimension " << d << ", the device's images of "
                                           << shape.dimensions << " dimensions have at most "
                                           << uint64_t(limits[d]));
        }
    }
    return true;
}

cl_mem create_image(const DeviceScope &scope, const ImageShape &shape, cl_int *error) {
    cl_image_desc desc = {};
    desc.type = shape.kind;
    desc.width = shape.extent[0];
    desc.height = shape.dimensions > 1 ? shape.extent[1] : 0;
    desc.depth = shape.dimensions > 2 ? shape.extent[2] : 0;
    return create_with_room(error, [&] {
        return cl().clCreateImage(context_of(scope), CL_MEM_READ_WRITE, &shape.format, &desc,
                                  nullptr, error);
    });
}

/** "16 x 8". */
Text describe_extents(const size_t *extent, int dimensions) {
    Text text;
    for (int d = 0; d < dimensions; d++) {
        text << (d > 0 ? " x " : "") << uint64_t(extent[d]);
    }
    return text;
}

template<typename T>
bool get_image_info(cl_mem mem, cl_uint what, T *value) {
    const cl_int error = cl().clGetImageInfo(mem, what, sizeof *value, value, nullptr);
    if (error != CL_SUCCESS) {
        explain(error, "clGetImageInfo");
    }
    return error == CL_SUCCESS;
}

/** Whether an application's image is as one for the buffer would be, or larger. */
bool fits(cl_mem mem, const calotype_buffer_t &buf, const ImageShape &shape) {
    cl_uint kind = 0;
    const cl_int error = cl().clGetMemObjectInfo(mem, CL_MEM_TYPE, sizeof kind, &kind, nullptr);
    if (error != CL_SUCCESS) {
        explain(error, "clGetMemObjectInfo");
        return false;
    }
    if (kind != shape.kind) {
        return fail_with(false, Text() << "the memory object is no image of " << shape.dimensions
                                       << " dimensions");
    }
    cl_image_format format = {};
    size_t extent[max_image_dimensions] = {};
    if (!get_image_info(mem, CL_IMAGE_FORMAT, &format) ||
        !get_image_info(mem, CL_IMAGE_WIDTH, &extent[0]) ||
        !get_image_info(mem, CL_IMAGE_HEIGHT, &extent[1]) ||
        !get_image_info(mem, CL_IMAGE_DEPTH, &extent[2])) {
        return false;
    }
    if (format.order != shape.format.order || format.data_type != shape.format.data_type) {
        return fail_with(false, Text() << "the image has channel order " << format.order
                                       << " and data type " << format.data_type << ", a buffer of "
                                       << buf.type << " needs " << shape.format.order << " and "
                                       << shape.format.data_type);
    }
    for (int d = 0; d < shape.dimensions; d++) {
        if (extent[d] < shape.extent[d]) {
            return fail_with(false,
                             Text() << "the image has "
                                    << describe_extents(extent, shape.dimensions).c_str()
                                    << " elements, the buffer "
                                    << describe_extents(shape.extent, shape.dimensions).c_str());
        }
    }
    return true;
}

DeviceMemory describe_image(const DeviceScope &scope, cl_mem mem, const calotype_buffer_t &buf) {
    DeviceMemory memory = describe_memory(scope, mem, buf);
    memory.offset = 0;
    memory.is_image = true;
    return memory;
}

}  // namespace

int image_malloc(void *user_context, calotype_buffer_t *buf) {
    Scope scope(user_context);
    ImageShape shape;
    if (!scope.is_open() || !find_shape(*buf, &shape) ||
        !is_within_limits(record_of(scope.get()), shape)) {
        return calotype_error_code_device_malloc_failed;
    }
    cl_int error = CL_SUCCESS;
    cl_mem mem = create_image(scope.get(), shape, &error);
    if (!mem) {
        set_failure(describe_error(error, "clCreateImage")
                    << " for an image of "
                    << describe_extents(shape.extent, shape.dimensions).c_str() << " elements of "
                    << buf->type << " on " << record_of(scope.get()).tools);
        return calotype_error_code_device_malloc_failed;
    }
    return give_memory(describe_image(scope.get(), mem, *buf), buf);
}

int make_image_part(void *user_context, const calotype_buffer_t *src, int slice_dim, int slice_pos,
                    calotype_buffer_t *dst) {
    if (slice_dim >= 0) {
        return fail_with(calotype_error_code_device_crop_unsupported,
                         Text() << "an image of " << src->dimensions
                                << " dimensions has no slice that is one of " << dst->dimensions);
    }
    DeviceMemory part = *memory_of(src);
    for (int d = 0; d < src->dimensions; d++) {
        part.origin[d] += uint32_t(int64_t(dst->dim[d].min) - src->dim[d].min);
    }
    part.is_owned = false;
    dst->device = make_handle(part);
    return dst->device ? 0 : calotype_error_code_device_crop_failed;
}

int wrap_image(void *user_context, calotype_buffer_t *buf, uint64_t handle) {
    Scope scope(user_context);
    ImageShape shape;
    auto *mem = reinterpret_cast<cl_mem>(uintptr_t(handle));
    if (!scope.is_open() || !find_shape(*buf, &shape) || !fits(mem, *buf, shape)) {
        return calotype_error_code_device_wrap_native_failed;
    }
    DeviceMemory memory = describe_image(scope.get(), mem, *buf);
    memory.is_owned = false;
    buf->device = make_handle(memory);
    return buf->device ? 0 : calotype_error_code_device_wrap_native_failed;
}

}  // namespace calotype::runtime::opencl
