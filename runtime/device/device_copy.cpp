// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies between host and device copies of buffers, guided by the dirty bits.
//
// Two threads may bring the same buffer up to date at once (an input of two pipelines), so these
// copies hold a lock: one of a few, by the buffer's address, never two.
#include "runtime/abi/device_interface.h"
#include "runtime/abi/device_interface_impl.h"
#include "runtime/device/checks.h"
#include "runtime/device/host_copy.h"
#include "runtime/host/sync.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace {

constinit Mutex copy_locks[16];

Mutex &lock_of(const calotype_buffer_t *buf) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(buf);
    return copy_locks[(address >> 4 ^ address >> 9) % 16];
}

/** With the lock held. */
int bring_to_host(void *user_context, calotype_buffer_t *buf) {
    if (!buf->device_dirty()) {
        return 0;
    }
    if (!buf->device_interface) {
        return calotype_error_no_device_interface(user_context);
    }
    if (buf->device_interface->impl->copy_to_host(user_context, buf) != 0) {
        return report_code(user_context, calotype_error_code_copy_to_host_failed);
    }
    buf->set_device_dirty(false);
    return 0;
}

int copy_host_to_host(void *user_context, calotype_buffer_t *src, calotype_buffer_t *dst) {
    if (!src->host || !dst->host) {
        return calotype_error_host_is_null(user_context, src->host ? "destination" : "source");
    }
    copy_common_elements(*src, *dst);
    return 0;
}

/** Copy by whichever back end knows how, else by way of the host. */
int copy_by_device(void *user_context, calotype_buffer_t *src,
                   const calotype_device_interface_t *to, calotype_buffer_t *dst) {
    const calotype_device_interface_t *from = src->device_interface;
    int code = calotype_error_code_incompatible_device_interface;
    if (to) {
        code = to->impl->buffer_copy(user_context, src, to, dst);
    }
    if (code == calotype_error_code_incompatible_device_interface && from && from != to) {
        code = from->impl->buffer_copy(user_context, src, to, dst);
    }
    if (code == calotype_error_code_incompatible_device_interface && src->host) {
        code = calotype_copy_to_host(user_context, src);
        if (code == 0 && to) {
            code = to->impl->buffer_copy(user_context, src, to, dst);
        } else if (code == 0) {
            code = copy_host_to_host(user_context, src, dst);
        }
    }
    return code;
}

}  // namespace

CALOTYPE_WEAK int calotype_copy_to_host(void *user_context, calotype_buffer_t *buf) {
    if (int code = check_buffer(user_context, buf, "calotype_copy_to_host")) {
        return code;
    }
    LockGuard lock(lock_of(buf));
    return bring_to_host(user_context, buf);
}

CALOTYPE_WEAK int calotype_copy_to_device(void *user_context, calotype_buffer_t *buf,
                                          const calotype_device_interface_t *device_interface) {
    if (int code = check_buffer(user_context, buf, "calotype_copy_to_device")) {
        return code;
    }
    LockGuard lock(lock_of(buf));
    device_interface = device_interface ? device_interface : buf->device_interface;
    if (!device_interface) {
        return calotype_error_no_device_interface(user_context);
    }
    if (buf->device && buf->device_interface != device_interface) {
        // On another device: take it from there first.
        int code = bring_to_host(user_context, buf);
        code = code ? code : calotype_device_free(user_context, buf);
        if (code) {
            return code;
        }
        buf->set_host_dirty();
    }
    if (!buf->device) {
        if (int code = calotype_device_malloc(user_context, buf, device_interface)) {
            return code;
        }
    }
    if (buf->host_dirty()) {
        if (device_interface->impl->copy_to_device(user_context, buf) != 0) {
            return report_code(user_context, calotype_error_code_copy_to_device_failed);
        }
        buf->set_host_dirty(false);
    }
    return 0;
}

CALOTYPE_WEAK int calotype_buffer_copy(void *user_context, calotype_buffer_t *src,
                                       const calotype_device_interface_t *dst_device_interface,
                                       calotype_buffer_t *dst) {
    if (int code = check_buffer(user_context, src, "calotype_buffer_copy")) {
        return code;
    }
    if (int code = check_buffer(user_context, dst, "calotype_buffer_copy")) {
        return code;
    }
    if (src->dimensions != dst->dimensions) {
        return calotype_error_bad_dimensions(user_context, "destination of copy", dst->dimensions,
                                             src->dimensions);
    }
    if (src->type.bytes() != dst->type.bytes()) {
        return calotype_error_bad_type(user_context, "destination of copy", dst->type.as_u32(),
                                       src->type.as_u32());
    }
    if (dst_device_interface) {
        if (int code = calotype_device_malloc(user_context, dst, dst_device_interface)) {
            return code;
        }
    }
    const bool on_device = src->device && (src->device_dirty() || !src->host);
    if (on_device || dst_device_interface) {
        if (copy_by_device(user_context, src, dst_device_interface, dst) != 0) {
            return report_code(user_context, calotype_error_code_device_buffer_copy_failed);
        }
    } else if (int code = copy_host_to_host(user_context, src, dst)) {
        return code;
    }
    dst->set_host_dirty(dst_device_interface == nullptr);
    dst->set_device_dirty(dst_device_interface != nullptr);
    return 0;
}
