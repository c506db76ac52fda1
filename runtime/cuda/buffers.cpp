// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers on CUDA devices. buf->device is the address of the element at the mins, as buf->host is,
// so a crop or a slice is an addition.
#include "runtime/abi/device_interface_impl.h"
#include "runtime/abi/errors.h"
#include "runtime/abi/kernel_cache.h"
#include "runtime/abi/runtime_cuda.h"
#include "runtime/cuda/buffer_work.h"
#include "runtime/cuda/captures.h"
#include "runtime/cuda/kernels.h"
#include "runtime/cuda/memory/memory.h"
#include "runtime/device/failure.h"
#include "runtime/device/host_allocation.h"
#include "runtime/device/make_interface.h"
#include "runtime/host/weak.h"

namespace calotype::runtime::cuda {

namespace {

/** How a status is told to the device-neutral functions, which report by what they were doing. */
int code_of(calotype_status status) {
    switch (status) {
    case CALOTYPE_OK:
        return 0;
    case CALOTYPE_E_OOM:
        return calotype_error_code_out_of_memory;
    default:
        return calotype_error_code_gpu_device_error;
    }
}

int device_malloc(void *user_context, calotype_buffer_t *buf) {
    Call call(user_context);
    if (call.status() != CALOTYPE_OK) {
        return code_of(call.status());
    }
    CUdeviceptr handle = 0;
    const calotype_status status =
        allocate(call, bytes_to_allocate(*buf), bytes_before_origin(*buf), &handle);
    buf->device = handle;
    return code_of(status);
}

int device_free(void *user_context, calotype_buffer_t *buf) {
    return find_driver(false) ? code_of(deallocate(user_context, buf->device)) : 0;
}

int sync_buffer(void *user_context, const calotype_buffer_t &buf) {
    const BufferWork work(user_context, buf.device);
    if (work.status() != CALOTYPE_OK) {
        return code_of(work.status());
    }
    if (is_capturing(work.get_scope(), nullptr)) {
        return fail_with(code_of(CALOTYPE_E_CAPTURE), "the stream is being captured");
    }
    const auto stream = static_cast<CUstream>(work.get_scope().stream);
    return code_of(status_in(work.get_scope(), invoke(&Driver::cuStreamSynchronize, stream)));
}

int device_sync(void *user_context, calotype_buffer_t *buf) {
    if (buf) {
        return sync_buffer(user_context, *buf);
    }
    Call call(user_context);
    return code_of(call.status() ? call.status() : await_all_work(call));
}

int copy(void *user_context, calotype_buffer_t *buf, bool to_device, bool waits) {
    const BufferWork work(user_context, buf->device);
    const calotype_status status = work.status();
    const Side from = to_device ? Side::Host : Side::Device;
    const Side to = to_device ? Side::Device : Side::Host;
    return code_of(status ? status
                          : copy_elements(work.get_scope(), *buf, from, *buf, to,
                                          waits || !work.names_stream()));
}

int host_malloc(void *user_context, calotype_buffer_t *buf) {
    const Call call(user_context);
    return call.status() ? code_of(call.status()) : allocate_locked(call, buf);
}

/** Where the up-to-date elements of a source are that CUDA can reach; false if nowhere. */
bool side_of_source(const calotype_buffer_t &src, Side *side) {
    const bool is_here =
        src.device && src.device_interface == calotype_cuda_device_interface() && !src.host_dirty();
    const bool is_elsewhere = src.device_dirty() && !is_here;
    *side = is_here && (src.device_dirty() || !src.host) ? Side::Device : Side::Host;
    return !is_elsewhere && (*side == Side::Device || src.host);
}

/** Between two devices, and without a stream of the application's, nobody else would order it. */
calotype_status copy_on(void *user_context, const calotype_buffer_t &src, Side from,
                        const calotype_buffer_t &dst, Side to) {
    const BufferWork work(user_context, to == Side::Device ? dst.device : src.device);
    const DeviceScope &scope = work.get_scope();
    const bool has_host = from == Side::Host || to == Side::Host;
    calotype_status status = work.status();
    if (status == CALOTYPE_OK && !has_host && !work.names_stream()) {
        status = await_owner(scope, src.device);
    }
    const bool is_ordered = work.names_stream() || (!scope.stream && context_records() < 2);
    return status ? status : copy_elements(scope, src, from, dst, to, has_host || !is_ordered);
}

int buffer_copy(void *user_context, calotype_buffer_t *src,
                const calotype_device_interface_t *dst_device_interface, calotype_buffer_t *dst) {
    const calotype_device_interface_t *here = calotype_cuda_device_interface();
    Side from = Side::Host;
    if (!side_of_source(*src, &from) || (dst_device_interface && dst_device_interface != here)) {
        return calotype_error_code_incompatible_device_interface;
    }
    const Side to = dst_device_interface ? Side::Device : Side::Host;
    if (from == Side::Host && to == Side::Host) {
        return calotype_error_code_incompatible_device_interface;
    }
    if (to == Side::Host && !dst->host) {
        return fail_with(calotype_error_code_host_is_null, "the destination has no host memory");
    }
    return code_of(copy_on(user_context, *src, from, *dst, to));
}

int locate_buffer(void *user_context, const calotype_buffer_t *buf, bool *is_here) {
    return code_of(locate(user_context, buf->device, is_here));
}

int make_part(void *user_context, const calotype_buffer_t *src, int slice_dim, int slice_pos,
              calotype_buffer_t *dst) {
    dst->device = src->device + uint64_t(bytes_to_part(*src, *dst, slice_dim, slice_pos));
    return 0;
}

int wrap_native(void *user_context, calotype_buffer_t *buf, uint64_t handle) {
    Call call(user_context);
    if (call.status() != CALOTYPE_OK) {
        return code_of(call.status());
    }
    CUmemorytype type = CU_MEMORYTYPE_HOST;
    const CUresult code =
        driver().cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, handle);
    if (code != CUDA_SUCCESS || handle == 0) {
        set_failure(Text() << reinterpret_cast<void *>(handle)
                           << " is not an address that CUDA knows");
        return calotype_error_code_device_wrap_native_failed;
    }
    if (!is_reachable(handle)) {
        expect_other_devices();
    }
    buf->device = handle;
    return 0;
}

int device_release(void *user_context) {
    if (!has_context(user_context)) {
        return 0;
    }
    constexpr uint32_t patience_ms = 10000;
    const DeviceInfo *device = nullptr;
    void *context = nullptr;
    calotype_status status = CALOTYPE_OK;
    {
        Call call(user_context);
        if (call.status() != CALOTYPE_OK) {
            return code_of(call.status());
        }
        driver().cuCtxSynchronize();
        status = release_unused(call);
        device = call.context().device;
        context = call.scope().context;
    }
    const calotype_status released = release_context_of(kernel_backend, user_context, patience_ms);
    if (released != CALOTYPE_OK && released != CALOTYPE_E_TEARDOWN) {
        return code_of(released);
    }
    release_if_primary(*device, context);
    // Where the context has failed, what the driver does not give back goes with it.
    return status == CALOTYPE_E_CONTEXT_LOST ? 0 : code_of(status);
}

}  // namespace

}  // namespace calotype::runtime::cuda

using namespace calotype::runtime;
using namespace calotype::runtime::cuda;

static int cuda_compute_capability(void *user_context, int *major, int *minor) {
    *major = *minor = 0;
    // That there is no device is an answer, not an error.
    if (!find_driver(false)) {
        return 0;
    }
    DeviceScope scope;
    const calotype_status status = acquire(user_context, &scope);
    if (status != CALOTYPE_OK) {
        return code_of(status);
    }
    *major = context_info(scope).device->sm / 10;
    *minor = context_info(scope).device->sm % 10;
    release(scope);
    return 0;
}

static const calotype_device_interface_impl_t cuda_impl = {
    .device_malloc = device_malloc,
    .device_free = device_free,
    .device_sync = device_sync,
    .device_release = device_release,
    .copy = copy,
    .host_malloc = host_malloc,
    .host_free = free_locked,
    .buffer_copy = buffer_copy,
    .make_part = make_part,
    .wrap_native = wrap_native,
    .kernels = &kernel_backend,
    .locate = locate_buffer,
};

static constexpr calotype_device_interface_t cuda_interface =
    make_device_interface(cuda_compute_capability, &cuda_impl);

CALOTYPE_WEAK const calotype_device_interface_t *calotype_cuda_device_interface(void) {
    return &cuda_interface;
}

CALOTYPE_WEAK int calotype_cuda_wrap_device_ptr(void *user_context, calotype_buffer_t *buf,
                                                uint64_t device_ptr) {
    return calotype_device_wrap_native(user_context, buf, device_ptr, &cuda_interface);
}

CALOTYPE_WEAK int calotype_cuda_detach_device_ptr(void *user_context, calotype_buffer_t *buf) {
    return calotype_device_detach_native(user_context, buf);
}

CALOTYPE_WEAK uintptr_t calotype_cuda_get_device_ptr(void *user_context, calotype_buffer_t *buf) {
    return buf->device_interface == calotype_cuda_device_interface() ? uintptr_t(buf->device) : 0;
}

CALOTYPE_WEAK int calotype_cuda_release_unused_device_allocations(void *user_context) {
    if (!has_context(user_context)) {
        if (find_driver(false)) {
            release_all_kept();
        }
        return 0;
    }
    Call call(user_context);
    return code_of(call.status() ? call.status() : release_unused(call));
}
