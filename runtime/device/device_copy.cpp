// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies between host and device copies of buffers, guided by the dirty bits.
//
// Two threads may bring the same buffer up to date at once (an input of two pipelines), or copy it
// to others, so they lock it (buffer_lock.h). A buffer that is up to date is found so without a
// lock: what is looked at for that is written by atomic stores, the dirty bit after the copy that
// it speaks of.
#include <initializer_list>

#include "runtime/abi/device_interface.h"
#include "runtime/abi/device_interface_impl.h"
#include "runtime/device/buffer_lock.h"
#include "runtime/device/checks.h"
#include "runtime/device/copy_plan.h"
#include "runtime/device/device_buffer.h"
#include "runtime/device/failure.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace {

// ---- what is looked at without a lock --------------------------------------------------------

const calotype_device_interface_t *interface_of(const calotype_buffer_t &buf) {
    return __atomic_load_n(&buf.device_interface, __ATOMIC_ACQUIRE);
}

uint64_t device_of(const calotype_buffer_t &buf) {
    return __atomic_load_n(&buf.device, __ATOMIC_RELAXED);
}

bool has_flag(const calotype_buffer_t &buf, calotype_buffer_flags flag) {
    return __atomic_load_n(&buf.flags, __ATOMIC_ACQUIRE) & uint64_t(flag);
}

/** False also for one that is not as it should be, or becomes so just now. */
bool is_up_to_date_on_host(const calotype_buffer_t &buf) {
    const bool has_interface = interface_of(buf);
    return has_interface == (device_of(buf) != 0) &&
           !has_flag(buf, calotype_buffer_flag_device_dirty);
}

/** The same; null: on the device that it is on. */
bool is_up_to_date_on_device(const calotype_buffer_t &buf,
                             const calotype_device_interface_t *wanted) {
    const calotype_device_interface_t *found = interface_of(buf);
    return found && (!wanted || found == wanted) && device_of(buf) != 0 &&
           !has_flag(buf, calotype_buffer_flag_host_dirty);
}

// ---- with the buffer locked ------------------------------------------------------------------

enum class Waiting { Waits, Async };

int bring_to_host(void *user_context, calotype_buffer_t *buf, Waiting waiting = Waiting::Waits) {
    if (!buf->device_dirty()) {
        return 0;
    }
    if (!buf->device_interface) {
        unlock_thread_buffers();
        return calotype_error_no_device_interface(user_context);
    }
    const bool waits = waiting == Waiting::Waits;
    if (buf->device_interface->impl->copy(user_context, buf, false, waits) != 0) {
        return report_code(user_context, calotype_error_code_copy_to_host_failed);
    }
    clear_flag(buf, calotype_buffer_flag_device_dirty);
    log_memory("copied to the host", *buf);
    return 0;
}

/** The host copy is all that is left. */
int leave_device(void *user_context, calotype_buffer_t *buf) {
    if (!buf->host) {
        return report_code(user_context, calotype_error_code_copy_to_host_failed,
                           Text() << "the buffer has no host memory, by which it would go to "
                                     "another device");
    }
    int code = bring_to_host(user_context, buf);
    code = code ? code : calotype_device_free(user_context, buf);
    if (code == 0) {
        set_flag(buf, calotype_buffer_flag_host_dirty);
    }
    return code;
}

/** Give the buffer device memory, which is allocated under the name of another: for lack of memory
 * modules may be unloaded, whose callbacks run with the buffer unlocked. */
template<typename Lock>
int enter_device(void *user_context, calotype_buffer_t *buf,
                 const calotype_device_interface_t *device_interface, Lock &lock) {
    const FailureScope failures;
    calotype_buffer_t fresh = *buf;
    int code = allocate_on_device(user_context, &fresh, device_interface);
    lock.relock();
    if (!buf->device) {
        if (code == 0) {
            set_device(buf, fresh.device, fresh.device_interface);
        }
        return code ? report_code(user_context, code) : 0;
    }
    // Another thread was faster.
    return code ? 0 : calotype_device_free(user_context, &fresh);
}

/** Whether the device copy, if there is one on that kind of device, is where the call works. */
bool is_here(void *user_context, const calotype_buffer_t &buf,
             const calotype_device_interface_t *device_interface, int *code) {
    const auto locate = device_interface->impl->locate;
    bool found = true;
    *code = locate && buf.device_interface == device_interface && buf.device
                ? locate(user_context, &buf, &found)
                : 0;
    return *code == 0 && found;
}

/** The device copy goes to where the call works, from another device of the same kind. */
int move_here(void *user_context, calotype_buffer_t *buf, BufferLock &lock) {
    const calotype_device_interface_t *device_interface = buf->device_interface;
    const FailureScope failures;
    calotype_buffer_t old = *buf, fresh = *buf;
    fresh.device = 0;
    int code = allocate_on_device(user_context, &fresh, device_interface);
    lock.relock();
    if (code == 0 && buf->device == old.device) {
        const calotype_device_interface_impl_t &impl = *device_interface->impl;
        code =
            buf->host_dirty() ? 0 : impl.buffer_copy(user_context, &old, device_interface, &fresh);
        code = code ? code : impl.device_sync(user_context, &fresh);
    }
    if (code == 0 && buf->device == old.device) {
        set_device(buf, fresh.device, device_interface);
        log_memory("moved", *buf);
        fresh = old;
    }
    if (code == 0) {
        return calotype_device_free(user_context, &fresh);  // the old one, or another was faster
    }
    code = report_code(user_context, calotype_error_code_copy_to_device_failed);
    if (fresh.device) {
        calotype_device_free(user_context, &fresh);
    }
    return code;
}

int move_if_elsewhere(void *user_context, calotype_buffer_t *buf,
                      const calotype_device_interface_t *device_interface, BufferLock &lock) {
    int code = 0;
    while (!is_here(user_context, *buf, device_interface, &code)) {
        code = code ? report_code(user_context, calotype_error_code_copy_to_device_failed)
                    : move_here(user_context, buf, lock);
        if (code != 0) {
            return code;
        }
    }
    return 0;
}

int bring_to_device(void *user_context, calotype_buffer_t *buf,
                    const calotype_device_interface_t *device_interface, BufferLock &lock,
                    Waiting waiting) {
    while (!buf->device || buf->device_interface != device_interface) {
        const int code = buf->device ? leave_device(user_context, buf)
                                     : enter_device(user_context, buf, device_interface, lock);
        if (code != 0) {
            return code;
        }
    }
    if (int code = move_if_elsewhere(user_context, buf, device_interface, lock)) {
        return code;
    }
    if (buf->host_dirty()) {
        const bool waits = waiting == Waiting::Waits;
        if (device_interface->impl->copy(user_context, buf, true, waits) != 0) {
            return report_code(user_context, calotype_error_code_copy_to_device_failed);
        }
        clear_flag(buf, calotype_buffer_flag_host_dirty);
        log_memory("copied to the device", *buf);
    }
    return 0;
}

// ---- between buffers -------------------------------------------------------------------------

int copy_host_to_host(void *user_context, calotype_buffer_t *src, calotype_buffer_t *dst) {
    if (!src->host || !dst->host) {
        unlock_thread_buffers();
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
        code = bring_to_host(user_context, src);
        if (code == 0 && to) {
            code = to->impl->buffer_copy(user_context, src, to, dst);
        } else if (code == 0) {
            code = copy_host_to_host(user_context, src, dst);
        }
    }
    return code;
}

/** Whether elements of one can be copied to the other. */
int check_copy(void *user_context, const calotype_buffer_t *src, const calotype_buffer_t *dst) {
    for (const calotype_buffer_t *buf : {src, dst}) {
        if (int code = check_buffer(user_context, buf, "calotype_buffer_copy")) {
            return code;
        }
    }
    if (src->dimensions != dst->dimensions) {
        unlock_thread_buffers();
        return calotype_error_bad_dimensions(user_context, "destination of copy", dst->dimensions,
                                             src->dimensions);
    }
    if (src->type.bytes() != dst->type.bytes()) {
        unlock_thread_buffers();
        return calotype_error_bad_type(user_context, "destination of copy", dst->type.as_u32(),
                                       src->type.as_u32());
    }
    return 0;
}

/** The buffer is to have memory there, and nowhere else. */
int allocate_there(void *user_context, calotype_buffer_t *buf,
                   const calotype_device_interface_t *device_interface, BufferPairLock &lock) {
    while (!buf->device) {
        if (int code = enter_device(user_context, buf, device_interface, lock)) {
            return code;
        }
    }
    return buf->device_interface == device_interface
               ? 0
               : report_code(user_context, calotype_error_code_incompatible_device_interface);
}

}  // namespace

static int copy_to_host(void *user_context, calotype_buffer_t *buf, const char *function,
                        Waiting waiting) {
    if (!buf) {
        return check_buffer(user_context, buf, function);
    }
    if (is_up_to_date_on_host(*buf)) {
        return 0;
    }
    const FailureScope failures;
    BufferLock lock(buf);
    const int code = check_buffer(user_context, buf, function);
    return code ? code : bring_to_host(user_context, buf, waiting);
}

static int copy_to_device(void *user_context, calotype_buffer_t *buf,
                          const calotype_device_interface_t *device_interface, const char *function,
                          Waiting waiting) {
    int code = 0;
    if (!buf) {
        return check_buffer(user_context, buf, function);
    }
    if (is_up_to_date_on_device(*buf, device_interface) &&
        is_here(user_context, *buf, interface_of(*buf), &code)) {
        return 0;
    }
    const FailureScope failures;
    BufferLock lock(buf);
    if ((code = check_buffer(user_context, buf, function)) != 0) {
        return code;
    }
    device_interface = device_interface ? device_interface : buf->device_interface;
    if (!device_interface) {
        unlock_thread_buffers();
        return calotype_error_no_device_interface(user_context);
    }
    return bring_to_device(user_context, buf, device_interface, lock, waiting);
}

int calotype::runtime::bring_here(void *user_context, calotype_buffer_t *buf) {
    int code = 0;
    const calotype_device_interface_t *device_interface = interface_of(*buf);
    if (is_here(user_context, *buf, device_interface, &code)) {
        return 0;
    }
    const FailureScope failures;
    BufferLock lock(buf);
    return move_if_elsewhere(user_context, buf, device_interface, lock);
}

CALOTYPE_WEAK int calotype_copy_to_host(void *user_context, calotype_buffer_t *buf) {
    return copy_to_host(user_context, buf, "calotype_copy_to_host", Waiting::Waits);
}

CALOTYPE_WEAK int calotype_copy_to_host_async(void *user_context, calotype_buffer_t *buf) {
    return copy_to_host(user_context, buf, "calotype_copy_to_host_async", Waiting::Async);
}

CALOTYPE_WEAK int calotype_copy_to_device(void *user_context, calotype_buffer_t *buf,
                                          const calotype_device_interface_t *device_interface) {
    return copy_to_device(user_context, buf, device_interface, "calotype_copy_to_device",
                          Waiting::Waits);
}

CALOTYPE_WEAK int
calotype_copy_to_device_async(void *user_context, calotype_buffer_t *buf,
                              const calotype_device_interface_t *device_interface) {
    return copy_to_device(user_context, buf, device_interface, "calotype_copy_to_device_async",
                          Waiting::Async);
}

CALOTYPE_WEAK int calotype_buffer_copy(void *user_context, calotype_buffer_t *src,
                                       const calotype_device_interface_t *dst_device_interface,
                                       calotype_buffer_t *dst) {
    if (!src || !dst) {
        return check_buffer(user_context, nullptr, "calotype_buffer_copy");
    }
    const FailureScope failures;
    BufferPairLock lock(src, dst);
    int code = check_copy(user_context, src, dst);
    if (code == 0 && dst_device_interface) {
        code = allocate_there(user_context, dst, dst_device_interface, lock);
    }
    if (code != 0) {
        return code;
    }
    const bool on_device = src->device && (src->device_dirty() || !src->host);
    if (on_device || dst_device_interface) {
        if (copy_by_device(user_context, src, dst_device_interface, dst) != 0) {
            return report_code(user_context, calotype_error_code_device_buffer_copy_failed);
        }
    } else if ((code = copy_host_to_host(user_context, src, dst)) != 0) {
        return code;
    }
    if (dst_device_interface) {
        replace_flag(dst, calotype_buffer_flag_host_dirty, calotype_buffer_flag_device_dirty);
    } else {
        replace_flag(dst, calotype_buffer_flag_device_dirty, calotype_buffer_flag_host_dirty);
    }
    return 0;
}
