// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tables by which the rest of the runtime reaches OpenCL, and the functions that applications
// call.
#include <stdio.h>

#include "runtime/abi/device_interface.h"
#include "runtime/abi/device_interface_impl.h"
#include "runtime/abi/errors.h"
#include "runtime/abi/kernel_cache.h"
#include "runtime/abi/runtime_opencl.h"
#include "runtime/device/failure.h"
#include "runtime/device/make_interface.h"
#include "runtime/host/text.h"
#include "runtime/host/weak.h"
#include "runtime/opencl/context.h"
#include "runtime/opencl/copy.h"
#include "runtime/opencl/devices.h"
#include "runtime/opencl/driver.h"
#include "runtime/opencl/errors.h"
#include "runtime/opencl/images.h"
#include "runtime/opencl/kernels.h"
#include "runtime/opencl/memory.h"

using namespace calotype::runtime;
using namespace calotype::runtime::opencl;

namespace {

calotype_status acquire(void *user_context, DeviceScope *scope) {
    return acquire_scope(user_context, true, scope);
}

/** OpenCL has no current context. */
calotype_status enter(const DeviceScope &scope) {
    return CALOTYPE_OK;
}

void leave(const DeviceScope &scope) {
}

calotype_status get_global(const DeviceScope &scope, void *module, const char *name,
                           uint64_t *address, size_t *bytes) {
    *address = 0;
    *bytes = 0;
    return fail_with(CALOTYPE_E_INVALID,
                     Text() << "variable " << name
                            << ": OpenCL gives the host no access to variables of a program");
}

calotype_status copy_to_address(const DeviceScope &scope, uint64_t address, const void *source,
                                size_t bytes) {
    return fail_with(CALOTYPE_E_INVALID,
                     "OpenCL gives the host no access to variables of a program");
}

/** Without a queue, as the cache asks when no call is running: all that launched kernels. */
calotype_status synchronize(const DeviceScope &scope) {
    if (!scope.stream) {
        return finish_queues(record_of(scope));
    }
    const cl_int error = cl().clFinish(queue_of(scope));
    if (error != CL_SUCCESS) {
        set_failure(describe_error(error, "clFinish") << " on " << record_of(scope).tools);
    }
    return status_of(error);
}

void end_context(uint64_t context_uid, bool has_driver) {
    free_kept_memory(context_uid, has_driver);
    forget_context(context_uid);
}

}  // namespace

const KernelBackend calotype::runtime::opencl::kernel_backend = {
    .name = "OpenCL",
    .acquire = acquire,
    .release = release_scope,
    .launch = launch,
    .has_any = has_any_context,
    .has_context = has_context,
    .enter = enter,
    .leave = leave,
    .is_alive = is_context_alive,
    .is_own = is_context_alive,  // its programs keep it
    .await_idle = await_queues,
    .end_context = end_context,
    .describe = describe,
    .name_device = name_device,
    .build = build,
    .load = load,
    .unload = unload,
    .get_function = get_function,
    .close_function = close_function,
    .free_function = free_function,
    .get_global = get_global,
    .copy_to_device = copy_to_address,
    .synchronize = synchronize,
    .record_event = record_event,
    .query_event = query_event,
    .destroy_event = destroy_event,
};

namespace {

int device_sync(void *user_context, calotype_buffer_t *buf) {
    Scope scope(user_context, false);
    if (scope.has_failed()) {
        return calotype_error_code_device_sync_failed;
    }
    return scope.is_open() && synchronize(scope.get()) != CALOTYPE_OK
               ? calotype_error_code_device_sync_failed
               : 0;
}

/** For how long the end of calls of pipelines is waited for. */
constexpr uint32_t patience_ms = 10000;

int device_release(void *user_context) {
    Scope scope(user_context, false);
    if (!scope.is_open()) {
        return scope.has_failed() ? calotype_error_code_gpu_device_error : 0;
    }
    // Of the modules: those that are held for longer than that stay, and the context with them.
    const calotype_status released = release_context_of(kernel_backend, user_context, patience_ms);
    if (released != CALOTYPE_OK && released != CALOTYPE_E_TEARDOWN) {
        return fail_with(calotype_error_code_gpu_device_error, calotype_last_error()->log);
    }
    return end_default_context(scope.get()) == CALOTYPE_OK ? 0
                                                           : calotype_error_code_gpu_device_error;
}

/** The version of OpenCL that the device has. */
int compute_capability(void *user_context, int *major, int *minor) {
    Scope scope(user_context);
    char version[128] = {};
    *major = *minor = 0;
    if (!scope.is_open() ||
        cl().clGetDeviceInfo(record_of(scope.get()).device, CL_DEVICE_VERSION, sizeof version - 1,
                             version, nullptr) != CL_SUCCESS ||
        sscanf(version, "OpenCL %d.%d", major, minor) != 2) {
        return calotype_error_code_gpu_device_error;
    }
    return 0;
}

constexpr calotype_device_interface_impl_t of_buffers = {
    .device_malloc = device_malloc,
    .device_free = device_free,
    .device_sync = device_sync,
    .device_release = device_release,
    .copy = copy,
    .host_malloc = nullptr,
    .host_free = nullptr,
    .buffer_copy = buffer_copy,
    .make_part = make_part,
    .wrap_native = wrap_native,
    .release_handle = release_handle,
    .kernels = &kernel_backend,
    .locate = locate,
};

constexpr calotype_device_interface_impl_t of_images() {
    calotype_device_interface_impl_t impl = of_buffers;
    impl.device_malloc = image_malloc;
    impl.make_part = make_image_part;
    impl.wrap_native = wrap_image;
    return impl;
}

constexpr calotype_device_interface_impl_t image_impl = of_images();
constexpr calotype_device_interface_t interface =
    make_device_interface(compute_capability, &of_buffers);
constexpr calotype_device_interface_t image_interface =
    make_device_interface(compute_capability, &image_impl);

bool is_on_opencl(const calotype_buffer_t *buf) {
    return buf && buf->device &&
           (buf->device_interface == &interface || buf->device_interface == &image_interface);
}

}  // namespace

CALOTYPE_WEAK const calotype_device_interface_t *calotype_opencl_device_interface(void) {
    return &interface;
}

CALOTYPE_WEAK const calotype_device_interface_t *calotype_opencl_image_device_interface(void) {
    return &image_interface;
}

CALOTYPE_WEAK int calotype_opencl_wrap_cl_mem(void *user_context, calotype_buffer_t *buf,
                                              uint64_t mem) {
    return calotype_device_wrap_native(user_context, buf, mem, &interface);
}

CALOTYPE_WEAK int calotype_opencl_image_wrap_cl_mem(void *user_context, calotype_buffer_t *buf,
                                                    uint64_t mem) {
    return calotype_device_wrap_native(user_context, buf, mem, &image_interface);
}

CALOTYPE_WEAK int calotype_opencl_detach_cl_mem(void *user_context, calotype_buffer_t *buf) {
    return calotype_device_detach_native(user_context, buf);
}

CALOTYPE_WEAK uintptr_t calotype_opencl_get_cl_mem(void *user_context, calotype_buffer_t *buf) {
    return is_on_opencl(buf) ? reinterpret_cast<uintptr_t>(memory_of(buf)->mem) : 0;
}

CALOTYPE_WEAK uint64_t calotype_opencl_get_crop_offset(void *user_context, calotype_buffer_t *buf) {
    return is_on_opencl(buf) ? memory_of(buf)->offset : 0;
}

CALOTYPE_WEAK int calotype_opencl_can_run(void) {
    Device device;
    const FailureScope ignored;
    return choose_device(nullptr, calotype_get_gpu_device(nullptr), &device) == CALOTYPE_OK;
}

CALOTYPE_WEAK void calotype_opencl_explain(char *text, size_t size) {
    Device device;
    const FailureScope failures;
    choose_device(nullptr, calotype_get_gpu_device(nullptr), &device);
    snprintf(text, size, "%s", failure_text());
}

CALOTYPE_WEAK int calotype_opencl_set_driver_library(const char *file_name) {
    const FailureScope ignored;
    release_kept_memory();
    end_all_default_contexts();
    forget_all_contexts();
    choose_library(file_name);
    return load_driver() ? 0 : calotype_error_code_gpu_device_error;
}
