// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of OpenCL's C interface that the runtime uses, declared here so that building needs no
// header of OpenCL. Names are OpenCL's; the handles are those of CL/cl.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {
struct _cl_platform_id;
struct _cl_device_id;
struct _cl_context;
struct _cl_command_queue;
struct _cl_mem;
struct _cl_program;
struct _cl_kernel;
struct _cl_event;
}

namespace calotype::runtime {

using cl_platform_id = _cl_platform_id *;
using cl_device_id = _cl_device_id *;
using cl_context = _cl_context *;
using cl_command_queue = _cl_command_queue *;
using cl_mem = _cl_mem *;
using cl_program = _cl_program *;
using cl_kernel = _cl_kernel *;
using cl_event = _cl_event *;

using cl_int = int32_t;
using cl_uint = uint32_t;
using cl_ulong = uint64_t;
using cl_bool = cl_uint;
using cl_bitfield = uint64_t;
using cl_properties = intptr_t;

/** The three of clCreateImage's format and description. */
struct cl_image_format {
    cl_uint order, data_type;
};
struct cl_image_desc {
    cl_uint type;
    size_t width, height, depth, array_size, row_pitch, slice_pitch;
    cl_uint num_mip_levels, num_samples;
    cl_mem buffer;
};

using cl_context_notify = void (*)(const char *, const void *, size_t, void *);
using cl_program_notify = void (*)(cl_program, void *);
using cl_context_destructor = void (*)(cl_context, void *);

enum : cl_int {
#define CALOTYPE_CL_ERROR(number, name) name = number,
#include "runtime/opencl/errors.def"
#undef CALOTYPE_CL_ERROR
};

enum : cl_bitfield {
    CL_DEVICE_TYPE_CPU = 2,
    CL_DEVICE_TYPE_GPU = 4,
    CL_DEVICE_TYPE_ACCELERATOR = 8,
    CL_DEVICE_TYPE_ALL = 0xFFFFFFFF,
    CL_MEM_READ_WRITE = 1
};

enum : cl_uint {
    CL_PLATFORM_VERSION = 0x0901,
    CL_PLATFORM_NAME = 0x0902,
    CL_DEVICE_TYPE = 0x1000,
    CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
    CL_DEVICE_MAX_WORK_ITEM_SIZES = 0x1005,
    CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
    CL_DEVICE_IMAGE2D_MAX_WIDTH = 0x1011,
    CL_DEVICE_IMAGE2D_MAX_HEIGHT = 0x1012,
    CL_DEVICE_IMAGE3D_MAX_WIDTH = 0x1013,
    CL_DEVICE_IMAGE3D_MAX_HEIGHT = 0x1014,
    CL_DEVICE_IMAGE3D_MAX_DEPTH = 0x1015,
    CL_DEVICE_IMAGE_SUPPORT = 0x1016,
    CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
    CL_DEVICE_AVAILABLE = 0x1027,
    CL_DEVICE_NAME = 0x102B,
    CL_DRIVER_VERSION = 0x102D,
    CL_DEVICE_VERSION = 0x102F,
    CL_DEVICE_EXTENSIONS = 0x1030,
    CL_DEVICE_PLATFORM = 0x1031,
    CL_CONTEXT_NUM_DEVICES = 0x1083,
    CL_CONTEXT_PLATFORM = 0x1084,
    CL_QUEUE_DEVICE = 0x1091,
    CL_QUEUE_REFERENCE_COUNT = 0x1092,
    CL_R = 0x10B0,
    CL_SIGNED_INT8 = 0x10D7,
    CL_SIGNED_INT16 = 0x10D8,
    CL_SIGNED_INT32 = 0x10D9,
    CL_UNSIGNED_INT8 = 0x10DA,
    CL_UNSIGNED_INT16 = 0x10DB,
    CL_UNSIGNED_INT32 = 0x10DC,
    CL_FLOAT = 0x10DE,
    CL_MEM_TYPE = 0x1100,
    CL_MEM_SIZE = 0x1102,
    CL_MEM_OBJECT_BUFFER = 0x10F0,
    CL_MEM_OBJECT_IMAGE2D = 0x10F1,
    CL_MEM_OBJECT_IMAGE3D = 0x10F2,
    CL_MEM_OBJECT_IMAGE1D = 0x10F4,
    CL_IMAGE_FORMAT = 0x1110,
    CL_IMAGE_WIDTH = 0x1114,
    CL_IMAGE_HEIGHT = 0x1115,
    CL_IMAGE_DEPTH = 0x1116,
    CL_PROGRAM_NUM_DEVICES = 0x1162,
    CL_PROGRAM_DEVICES = 0x1163,
    CL_PROGRAM_BINARY_SIZES = 0x1165,
    CL_PROGRAM_BINARIES = 0x1166,
    CL_PROGRAM_BUILD_LOG = 0x1183,
    CL_KERNEL_WORK_GROUP_SIZE = 0x11B0,
    CL_KERNEL_NUM_ARGS = 0x1191,
    CL_KERNEL_LOCAL_MEM_SIZE = 0x11B2,
    CL_EVENT_COMMAND_EXECUTION_STATUS = 0x11D3
};

}  // namespace calotype::runtime
