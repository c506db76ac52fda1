// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/cuda/buffer_work.h"
#include "runtime/cuda/captures.h"
#include "runtime/cuda/memory/memory.h"
#include "runtime/device/copy_plan.h"
#include "runtime/device/failure.h"

namespace calotype::runtime::cuda {

namespace {

/** Both ends of a copy; one address each is in use. */
struct Ends {
    CUmemorytype from, to;
    const uint8_t *host_src;
    uint8_t *host_dst;
    CUdeviceptr device_src, device_dst;
    CUcontext src_context, dst_context;  ///< null: both ends are reached from the current one
    CUstream stream;

    bool are_peers() const {
        return src_context && dst_context;
    }
};

CUresult copy_chunk(const Ends &ends, const CopyBox &box) {
    const size_t bytes = size_t(box.width);
    const CUdeviceptr src = ends.device_src + uint64_t(box.src_offset);
    const CUdeviceptr dst = ends.device_dst + uint64_t(box.dst_offset);
    if (ends.from == CU_MEMORYTYPE_HOST) {
        return invoke(&Driver::cuMemcpyHtoDAsync, dst, ends.host_src + box.src_offset, bytes,
                      ends.stream);
    }
    if (ends.to == CU_MEMORYTYPE_HOST) {
        return invoke(&Driver::cuMemcpyDtoHAsync, ends.host_dst + box.dst_offset, src, bytes,
                      ends.stream);
    }
    if (ends.are_peers()) {
        return invoke(&Driver::cuMemcpyPeerAsync, dst, ends.dst_context, src, ends.src_context,
                      bytes, ends.stream);
    }
    return invoke(&Driver::cuMemcpyDtoDAsync, dst, src, bytes, ends.stream);
}

int copy_box(const Ends &ends, const CopyBox &box) {
    if (box.slices == 1 && box.rows == 1) {
        return copy_chunk(ends, box);
    }
    CUDA_MEMCPY3D copy = {};
    copy.srcMemoryType = ends.from;
    copy.dstMemoryType = ends.to;
    if (ends.from == CU_MEMORYTYPE_HOST) {
        copy.srcHost = ends.host_src + box.src_offset;
    } else {
        copy.srcDevice = ends.device_src + uint64_t(box.src_offset);
    }
    if (ends.to == CU_MEMORYTYPE_HOST) {
        copy.dstHost = ends.host_dst + box.dst_offset;
    } else {
        copy.dstDevice = ends.device_dst + uint64_t(box.dst_offset);
    }
    copy.srcPitch = size_t(box.src_pitch);
    copy.dstPitch = size_t(box.dst_pitch);
    copy.srcHeight = size_t(box.slices > 1 ? box.src_slice / box.src_pitch : box.rows);
    copy.dstHeight = size_t(box.slices > 1 ? box.dst_slice / box.dst_pitch : box.rows);
    copy.WidthInBytes = size_t(box.width);
    copy.Height = size_t(box.rows);
    copy.Depth = size_t(box.slices);
    if (ends.are_peers()) {
        copy.srcContext = ends.src_context;
        copy.dstContext = ends.dst_context;
        return invoke(&Driver::cuMemcpy3DPeerAsync, &copy, ends.stream);
    }
    return invoke(&Driver::cuMemcpy3DAsync, &copy, ends.stream);
}

/** Where one end is of another device than the scope, the context of each end. False on failure. */
bool find_peers(const DeviceScope &scope, Ends *ends) {
    const ContextInfo *src = owner_of_part(ends->device_src);
    const ContextInfo *dst = owner_of_part(ends->device_dst);
    const auto is_elsewhere = [&](const ContextInfo *info) {
        return info && info->device->device != scope.device;
    };
    if (!is_elsewhere(src) && !is_elsewhere(dst)) {
        return true;
    }
    const auto context = static_cast<CUcontext>(scope.context);
    ends->src_context = is_elsewhere(src) ? context_on_device_of(*src) : context;
    ends->dst_context = is_elsewhere(dst) ? context_on_device_of(*dst) : context;
    return ends->are_peers();
}

}  // namespace

calotype_status copy_elements(const DeviceScope &scope, const calotype_buffer_t &src, Side from,
                              const calotype_buffer_t &dst, Side to, bool waits) {
    const bool has_host = from == Side::Host || to == Side::Host;
    if (waits && is_capturing(scope, nullptr)) {
        return fail_with(
            CALOTYPE_E_CAPTURE,
            from == Side::Host ? "a copy from the host would wait, but the stream is being "
                                 "captured"
            : to == Side::Host ? "a copy to the host would wait, but the stream is being "
                                 "captured"
                               : "a copy would wait, but a stream is being captured");
    }
    CopyPlan plan;
    if (!plan_copy(src, dst, &plan)) {
        return fail_with(CALOTYPE_E_INVALID, "the buffer has too many dimensions");
    }
    if (has_host && !plan.is_empty && !(from == Side::Host ? src : dst).host) {
        return fail_with(CALOTYPE_E_INVALID, from == Side::Host
                                                 ? "the source has no host memory"
                                                 : "the destination has no host memory");
    }
    Ends ends = {from == Side::Host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
                 to == Side::Host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
                 src.host,
                 dst.host,
                 src.device,
                 dst.device,
                 nullptr,
                 nullptr,
                 static_cast<CUstream>(scope.stream)};
    if (!has_host && context_records() > 1 && !find_peers(scope, &ends)) {
        return CALOTYPE_E_DEVICE;
    }
    const int max_pitch = context_info(scope).device->max_pitch;
    CUresult code = CUresult(
        for_each_box(plan, max_pitch, [&](const CopyBox &box) { return copy_box(ends, box); }));
    if (waits) {
        // Also after a failure: what is queued may still use the host's memory.
        const CUresult waited = invoke(&Driver::cuStreamSynchronize, ends.stream);
        code = code ? code : waited;
    }
    return status_in(scope, code);
}

}  // namespace calotype::runtime::cuda
