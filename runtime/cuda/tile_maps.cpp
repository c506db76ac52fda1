// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers as the tensor memory unit is told of them.
#include <string.h>

#include "runtime/abi/errors.h"
#include "runtime/abi/kernels.h"
#include "runtime/cuda/context.h"
#include "runtime/device/failure.h"
#include "runtime/host/weak.h"

namespace calotype::runtime::cuda {

namespace {

CUtensorMapDataType type_of(int bytes) {
    return bytes == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
           : bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                        : CU_TENSOR_MAP_DATA_TYPE_UINT32;
}

constexpr int most_dimensions = 5;

struct Box {
    uint32_t width, height;
    int32_t dimension;
};

CUresult encode(const calotype_buffer_t &buf, const Box &box, CUtensorMap *map) {
    const uint64_t bytes = uint64_t(buf.type.bits + 7) / 8;
    uint64_t extents[most_dimensions], strides[most_dimensions];
    uint32_t sizes[most_dimensions], steps[most_dimensions];
    for (int d = 0; d < buf.dimensions; d++) {
        extents[d] = uint64_t(buf.dim[d].extent);
        strides[d] = uint64_t(buf.dim[d].stride) * bytes;
        sizes[d] = d == 0 ? box.width : d == box.dimension ? box.height : 1;
        steps[d] = 1;
    }
    return driver().cuTensorMapEncodeTiled(
        map, type_of(int(bytes)), uint32_t(buf.dimensions), reinterpret_cast<void *>(buf.device),
        extents, strides + 1, sizes, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/** It needs a current context, of which it takes nothing. */
CUresult encode_in_context(const DeviceScope &scope, const calotype_buffer_t &buf, const Box &box,
                           CUtensorMap *map) {
    CUresult code = encode(buf, box, map);
    if (code == CUDA_ERROR_INVALID_CONTEXT && enter(scope) == CALOTYPE_OK) {
        code = encode(buf, box, map);
        leave(scope);
    }
    return code;
}

void append_shape(Text &text, const calotype_buffer_t &buf) {
    text << "; the buffer has elements of " << int(buf.type.bits) << " bits";
    for (int d = 0; d < buf.dimensions; d++) {
        text << (d == 0 ? ", extents and strides " : ", ") << buf.dim[d].extent << " and "
             << buf.dim[d].stride;
    }
    text << ", and address " << buf.device
         << "; address and strides after the first must be multiples of 16 bytes";
}

/** Why not, "" if it is described. */
Text describe(void *user_context, const calotype_buffer_t &buf, const Box &box, void *map) {
    const FailureScope failures;
    const Call call(user_context);
    if (call.status() != CALOTYPE_OK) {
        return take_failure();
    }
    if (!driver().cuTensorMapEncodeTiled) {
        return Text()
               << "the driver has no cuTensorMapEncodeTiled, which drivers have from 12.0 on";
    }
    if (buf.dimensions > most_dimensions) {
        return Text() << "the buffer has " << buf.dimensions << " dimensions, at most "
                      << most_dimensions << " are copied";
    }
    Text text;
    CUtensorMap made;
    const CUresult code = encode_in_context(call.scope(), buf, box, &made);
    if (code == CUDA_SUCCESS) {
        memcpy(map, &made, sizeof made);
        return text;
    }
    text << "cuTensorMapEncodeTiled: ";
    append_result(text, code);
    append_shape(text, buf);
    return text;
}

}  // namespace

}  // namespace calotype::runtime::cuda

using namespace calotype::runtime;

CALOTYPE_WEAK int calotype_cuda_describe_tiles(void *user_context, const calotype_buffer_t *buf,
                                               int32_t width, int32_t height, int32_t dimension,
                                               void *map) {
    const Text why_not =
        cuda::describe(user_context, *buf, {uint32_t(width), uint32_t(height), dimension}, map);
    if (why_not.empty()) {
        return calotype_error_code_success;
    }
    report_error(user_context,
                 (Text() << "copies of tiles cannot be prepared: " << why_not.c_str()).c_str());
    return calotype_error_code_gpu_device_error;
}
