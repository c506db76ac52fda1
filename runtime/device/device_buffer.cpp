// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device copies of buffers: allocating, freeing, wrapping, synchronising. The device-neutral half:
// it checks what the back ends then need not check, and keeps the fields of the buffer consistent.
#include "runtime/device/device_buffer.h"

#include "runtime/abi/device_interface_impl.h"
#include "runtime/device/checks.h"
#include "runtime/device/failure.h"
#include "runtime/device/host_allocation.h"
#include "runtime/device/kernel_backend.h"
#include "runtime/host/log.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace {

void forget_device(calotype_buffer_t *buf) {
    set_device(buf, 0, nullptr);
    clear_flag(buf, calotype_buffer_flag_device_dirty);
}

/** For a buffer that is to go onto a device: checks, and whether it is on another one already. */
int check_to_place(void *user_context, const calotype_buffer_t *buf, const char *function,
                   const calotype_device_interface_t *device_interface) {
    if (int code = check_buffer(user_context, buf, function)) {
        return code;
    }
    if (!device_interface) {
        return calotype_error_no_device_interface(user_context);
    }
    return !buf->device_interface || buf->device_interface == device_interface
               ? 0
               : report_code(user_context, calotype_error_code_incompatible_device_interface);
}

}  // namespace

int calotype::runtime::allocate_on_device(void *user_context, calotype_buffer_t *buf,
                                          const calotype_device_interface_t *device_interface) {
    if (device_interface->impl->device_malloc(user_context, buf) != 0) {
        forget_device(buf);
        return calotype_error_code_device_malloc_failed;
    }
    buf->device_interface = device_interface;
    log_memory("allocated", *buf);
    return 0;
}

int calotype::runtime::release_handle(void *user_context, calotype_buffer_t *buf) {
    const auto release = buf->device_interface->impl->release_handle;
    const int code = release ? release(user_context, buf) : 0;
    forget_device(buf);
    return code;
}

void calotype::runtime::log_memory(const char *what, const calotype_buffer_t &buf) {
    if (is_logged(LogTopic::memory)) {
        const auto *kernels =
            static_cast<const KernelBackend *>(buf.device_interface->impl->kernels);
        Text line;
        line << what << ' ' << bytes_to_allocate(buf) << " bytes";
        log_line(LogTopic::memory, line << (kernels ? " of " : "") << (kernels ? kernels->name : "")
                                        << " at " << reinterpret_cast<const void *>(buf.device));
    }
}

CALOTYPE_WEAK int calotype_device_malloc(void *user_context, calotype_buffer_t *buf,
                                         const calotype_device_interface_t *device_interface) {
    if (int code = check_to_place(user_context, buf, "calotype_device_malloc", device_interface)) {
        return code;
    }
    if (buf->device) {
        return bring_here(user_context, buf);
    }
    const FailureScope failures;
    const int code = allocate_on_device(user_context, buf, device_interface);
    return code ? report_code(user_context, code) : 0;
}

/** Whatever the dirty bits say, as they do both after a copy that failed: nothing is lost by it. */
static int check_to_free(void *user_context, calotype_buffer_t *buf, const char *function) {
    if (buf && buf->host_dirty()) {
        clear_flag(buf, calotype_buffer_flag_device_dirty);
    }
    return check_buffer(user_context, buf, function);
}

static int free_on_device(void *user_context, calotype_buffer_t *buf) {
    log_memory("freeing", *buf);
    return buf->device ? buf->device_interface->impl->device_free(user_context, buf) : 0;
}

CALOTYPE_WEAK int calotype_device_free(void *user_context, calotype_buffer_t *buf) {
    if (int code = check_to_free(user_context, buf, "calotype_device_free")) {
        return code;
    }
    if (!buf->device_interface) {
        forget_device(buf);
        return 0;
    }
    const FailureScope failures;
    const int code = free_on_device(user_context, buf);
    forget_device(buf);
    return code ? report_code(user_context, calotype_error_code_device_free_failed) : 0;
}

static int allocate_on_host(void *user_context, calotype_buffer_t *buf) {
    const auto host_malloc = buf->device_interface->impl->host_malloc;
    return (host_malloc ? host_malloc : allocate_host_copy)(user_context, buf);
}

CALOTYPE_WEAK int
calotype_device_and_host_malloc(void *user_context, calotype_buffer_t *buf,
                                const calotype_device_interface_t *device_interface) {
    if (int code = check_to_place(user_context, buf, "calotype_device_and_host_malloc",
                                  device_interface)) {
        return code;
    }
    if (buf->host || buf->device) {
        return report_code(user_context, calotype_error_code_device_malloc_failed,
                           Text() << "the buffer has memory already");
    }
    const FailureScope failures;
    int code = allocate_on_device(user_context, buf, device_interface);
    if (code == 0 && (code = allocate_on_host(user_context, buf)) != 0) {
        free_on_device(user_context, buf);
        forget_device(buf);
    }
    return code ? report_code(user_context, calotype_error_code_device_malloc_failed) : 0;
}

CALOTYPE_WEAK int calotype_device_and_host_free(void *user_context, calotype_buffer_t *buf) {
    if (int code = check_to_free(user_context, buf, "calotype_device_and_host_free")) {
        return code;
    }
    if (!buf->device_interface) {
        forget_device(buf);
        return 0;
    }
    const FailureScope failures;
    const auto host_free = buf->device_interface->impl->host_free;
    const int code = free_on_device(user_context, buf);
    (host_free ? host_free : free_host_copy)(user_context, buf);
    forget_device(buf);
    buf->set_host_dirty(false);
    return code ? report_code(user_context, calotype_error_code_device_free_failed) : 0;
}

CALOTYPE_WEAK int calotype_device_wrap_native(void *user_context, calotype_buffer_t *buf,
                                              uint64_t handle,
                                              const calotype_device_interface_t *device_interface) {
    if (int code =
            check_to_place(user_context, buf, "calotype_device_wrap_native", device_interface)) {
        return code;
    }
    if (buf->device) {
        return report_code(user_context, calotype_error_code_device_wrap_native_failed);
    }
    const FailureScope failures;
    if (device_interface->impl->wrap_native(user_context, buf, handle) != 0) {
        forget_device(buf);
        return report_code(user_context, calotype_error_code_device_wrap_native_failed);
    }
    buf->device_interface = device_interface;
    return 0;
}

CALOTYPE_WEAK int calotype_device_detach_native(void *user_context, calotype_buffer_t *buf) {
    if (int code = check_buffer(user_context, buf, "calotype_device_detach_native")) {
        return code;
    }
    if (!buf->device_interface) {
        return 0;
    }
    const FailureScope failures;
    const int code = release_handle(user_context, buf);
    return code ? report_code(user_context, calotype_error_code_device_detach_native_failed) : 0;
}

CALOTYPE_WEAK int calotype_device_sync(void *user_context, calotype_buffer_t *buf) {
    if (int code = check_buffer(user_context, buf, "calotype_device_sync")) {
        return code;
    }
    if (!buf->device_interface) {
        return calotype_error_no_device_interface(user_context);
    }
    const FailureScope failures;
    const int code = buf->device_interface->impl->device_sync(user_context, buf);
    return code ? report_code(user_context, calotype_error_code_device_sync_failed) : 0;
}

CALOTYPE_WEAK int calotype_device_sync_global(void *user_context,
                                              const calotype_device_interface_t *device_interface) {
    if (!device_interface) {
        return calotype_error_no_device_interface(user_context);
    }
    const FailureScope failures;
    const int code = device_interface->impl->device_sync(user_context, nullptr);
    return code ? report_code(user_context, calotype_error_code_device_sync_failed) : 0;
}

CALOTYPE_WEAK void calotype_device_release(void *user_context,
                                           const calotype_device_interface_t *device_interface) {
    if (device_interface) {
        const FailureScope ignored;
        device_interface->impl->device_release(user_context);
    }
}

CALOTYPE_WEAK void calotype_device_free_as_destructor(void *user_context, void *buf) {
    calotype_device_free(user_context, static_cast<calotype_buffer_t *>(buf));
}

CALOTYPE_WEAK void calotype_device_and_host_free_as_destructor(void *user_context, void *buf) {
    calotype_device_and_host_free(user_context, static_cast<calotype_buffer_t *>(buf));
}

CALOTYPE_WEAK void calotype_device_host_nop_free(void *user_context, void *buf) {
}
