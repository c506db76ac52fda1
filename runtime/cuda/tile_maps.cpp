// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrices as the tensor memory unit is told of them. The driver writes that down without a context.
#include <string.h>

#include "runtime/abi/errors.h"
#include "runtime/abi/runtime_cuda.h"
#include "runtime/cuda/driver.h"
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

void append_shape(Text &text, const calotype_buffer_t &buf) {
    text << "; the buffer has elements of " << int(buf.type.bits) << " bits";
    for (int d = 0; d < buf.dimensions; d++) {
        text << (d == 0 ? ", extents and strides " : ", ") << buf.dim[d].extent << " and "
             << buf.dim[d].stride;
    }
    text << ", and address " << buf.device
         << "; address and strides after the first must be multiples of 16 bytes";
}

}  // namespace

}  // namespace calotype::runtime::cuda

using namespace calotype::runtime;
using namespace calotype::runtime::cuda;

CALOTYPE_WEAK int calotype_cuda_describe_tiles(void *user_context, const calotype_buffer_t *buf,
                                               int32_t width, int32_t height, int32_t dimension,
                                               void *map) {
    Text text;
    text << "copies of tiles cannot be prepared: ";
    if (!find_driver(false) || !driver().cuTensorMapEncodeTiled) {
        text << "the driver has no cuTensorMapEncodeTiled, which is in drivers from 12.0 on";
        report_error(user_context, text.c_str());
        return calotype_error_code_gpu_device_error;
    }
    if (buf->dimensions > most_dimensions) {
        text << "the buffer has " << buf->dimensions << " dimensions, at most 5 are copied";
        report_error(user_context, text.c_str());
        return calotype_error_code_gpu_device_error;
    }
    CUtensorMap made;
    const CUresult code = encode(*buf, {uint32_t(width), uint32_t(height), dimension}, &made);
    if (code != CUDA_SUCCESS) {
        text << "cuTensorMapEncodeTiled: ";
        append_result(text, code);
        append_shape(text, *buf);
        report_error(user_context, text.c_str());
        return calotype_error_code_gpu_device_error;
    }
    memcpy(map, &made, sizeof made);
    return calotype_error_code_success;
}
