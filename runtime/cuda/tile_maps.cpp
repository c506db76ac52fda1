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

CUresult encode(const calotype_buffer_t &buf, uint32_t width, uint32_t height, CUtensorMap *map) {
    const int bytes = (buf.type.bits + 7) / 8;
    const uint64_t extents[] = {uint64_t(buf.dim[0].extent), uint64_t(buf.dim[1].extent)};
    const uint64_t strides[] = {uint64_t(buf.dim[1].stride) * uint64_t(bytes)};  // from dimension 1
    const uint32_t box[] = {width, height}, steps[] = {1, 1};
    return driver().cuTensorMapEncodeTiled(
        map, type_of(bytes), 2, reinterpret_cast<void *>(buf.device), extents, strides, box, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

void append_shape(Text &text, const calotype_buffer_t &buf) {
    text << "; a matrix of " << buf.dim[0].extent << " x " << buf.dim[1].extent << " elements of "
         << int(buf.type.bits) << " bits with strides " << buf.dim[0].stride << " and "
         << buf.dim[1].stride << " at address " << buf.device
         << "; address and rows must be at multiples of 16 bytes";
}

}  // namespace

}  // namespace calotype::runtime::cuda

using namespace calotype::runtime;
using namespace calotype::runtime::cuda;

CALOTYPE_WEAK int calotype_cuda_describe_tiles(void *user_context, const calotype_buffer_t *buf,
                                               int32_t width, int32_t height, void *map) {
    Text text;
    text << "copies of tiles cannot be prepared: ";
    if (!find_driver(false) || !driver().cuTensorMapEncodeTiled) {
        text << "the driver has no cuTensorMapEncodeTiled, which is in drivers from 12.0 on";
        report_error(user_context, text.c_str());
        return calotype_error_code_gpu_device_error;
    }
    CUtensorMap made;
    const CUresult code = encode(*buf, uint32_t(width), uint32_t(height), &made);
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
