// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/copies.h"

#include "runtime/cuda/captures.h"
#include "runtime/device/copy_plan.h"
#include "runtime/device/failure.h"

namespace calotype {
namespace runtime {
namespace cuda {

namespace {

/** Both ends of a copy; one address each is in use. */
struct Ends {
    CUmemorytype from, to;
    const uint8_t *host_src;
    uint8_t *host_dst;
    CUdeviceptr device_src, device_dst;
    CUstream stream;
};

CUresult copy_chunk(const Ends &ends, const CopyBox &box) {
    const size_t bytes = size_t(box.width);
    const CUdeviceptr src = ends.device_src + uint64_t(box.src_offset);
    const CUdeviceptr dst = ends.device_dst + uint64_t(box.dst_offset);
    if (ends.from == CU_MEMORYTYPE_HOST) {
        return note_failure(
            "cuMemcpyHtoDAsync",
            driver().cuMemcpyHtoDAsync(dst, ends.host_src + box.src_offset, bytes, ends.stream));
    }
    if (ends.to == CU_MEMORYTYPE_HOST) {
        return note_failure(
            "cuMemcpyDtoHAsync",
            driver().cuMemcpyDtoHAsync(ends.host_dst + box.dst_offset, src, bytes, ends.stream));
    }
    return note_failure("cuMemcpyDtoDAsync",
                        driver().cuMemcpyDtoDAsync(dst, src, bytes, ends.stream));
}

/** What the driver's two descriptions of copies have in common. */
template<typename Copy>
void describe(const Ends &ends, const CopyBox &box, Copy *copy) {
    copy->srcMemoryType = ends.from;
    copy->dstMemoryType = ends.to;
    if (ends.from == CU_MEMORYTYPE_HOST) {
        copy->srcHost = ends.host_src + box.src_offset;
    } else {
        copy->srcDevice = ends.device_src + uint64_t(box.src_offset);
    }
    if (ends.to == CU_MEMORYTYPE_HOST) {
        copy->dstHost = ends.host_dst + box.dst_offset;
    } else {
        copy->dstDevice = ends.device_dst + uint64_t(box.dst_offset);
    }
    copy->srcPitch = size_t(box.src_pitch);
    copy->dstPitch = size_t(box.dst_pitch);
    copy->WidthInBytes = size_t(box.width);
    copy->Height = size_t(box.rows);
}

int copy_box(void *closure, const CopyBox &box) {
    const Ends &ends = *static_cast<const Ends *>(closure);
    if (box.slices > 1) {
        CUDA_MEMCPY3D copy = {};
        describe(ends, box, &copy);
        copy.srcHeight = size_t(box.src_slice / box.src_pitch);
        copy.dstHeight = size_t(box.dst_slice / box.dst_pitch);
        copy.Depth = size_t(box.slices);
        return note_failure("cuMemcpy3DAsync", driver().cuMemcpy3DAsync(&copy, ends.stream));
    }
    if (box.rows > 1) {
        CUDA_MEMCPY2D copy = {};
        describe(ends, box, &copy);
        return note_failure("cuMemcpy2DAsync", driver().cuMemcpy2DAsync(&copy, ends.stream));
    }
    return copy_chunk(ends, box);
}

}  // namespace

calotype_status copy_elements(const Call &call, const calotype_buffer_t &src, Side from,
                              const calotype_buffer_t &dst, Side to) {
    const bool waits = from == Side::Host || to == Side::Host;
    if (waits && is_capturing(call.scope(), nullptr)) {
        set_failure(from == Side::Host
                        ? "a copy from the host would wait, but the stream is being captured"
                        : "a copy to the host would wait, but the stream is being captured");
        return CALOTYPE_E_CAPTURE;
    }
    CopyPlan plan;
    if (!plan_copy(src, dst, &plan)) {
        set_failure("the buffer has too many dimensions");
        return CALOTYPE_E_INVALID;
    }
    if (waits && !plan.is_empty && !(from == Side::Host ? src : dst).host) {
        set_failure(from == Side::Host ? "the source has no host memory"
                                       : "the destination has no host memory");
        return CALOTYPE_E_INVALID;
    }
    Ends ends = {from == Side::Host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
                 to == Side::Host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
                 src.host,
                 dst.host,
                 src.device,
                 dst.device,
                 call.stream()};
    CUresult code = CUresult(for_each_box(plan, call.context().device->max_pitch, copy_box, &ends));
    if (waits) {
        // Also after a failure: what is queued may still use the host's memory.
        const CUresult waited =
            note_failure("cuStreamSynchronize", driver().cuStreamSynchronize(call.stream()));
        code = code ? code : waited;
    }
    return status_in(call.scope(), code);
}

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
