// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/context_table.h"

#include <new>
#include <stdlib.h>

#include "runtime/cuda/kernels.h"
#include "runtime/cuda/memory/memory.h"
#include "runtime/device/failure.h"

namespace calotype {
namespace runtime {
namespace cuda {

namespace {

constexpr int n_buckets = 64;
/** By handle. A thread that walks a chain without the lock may end up in another one when a record
 * comes to serve another context; then it finds nothing and asks again under the lock. */
constinit std::atomic<ContextInfo *> buckets[n_buckets];

constinit Mutex table_lock;
std::atomic<int> n_records{0};  // written with the lock held

std::atomic<ContextInfo *> &bucket_of(CUcontext context) {
    return buckets[reinterpret_cast<uintptr_t>(context) / 64 % n_buckets];
}

bool has_identity(const ContextInfo &info) {
    return info.uid.load(std::memory_order_acquire) != 0;
}

ContextInfo *find(CUcontext context, uint64_t number) {
    ContextInfo *info = bucket_of(context).load(std::memory_order_acquire);
    while (info &&
           !(has_identity(*info) && info->handle.load(std::memory_order_relaxed) == context &&
             info->number.load(std::memory_order_relaxed) == number)) {
        info = info->next.load(std::memory_order_acquire);
    }
    return info;
}

CUresult device_of(CUcontext context, CUdevice *device) {
    CUresult code = note_failure("cuCtxPushCurrent", driver().cuCtxPushCurrent(context));
    if (code == CUDA_SUCCESS) {
        code = note_failure("cuCtxGetDevice", driver().cuCtxGetDevice(device));
        driver().cuCtxPopCurrent(&context);
    }
    return code;
}

// What follows is called with the lock held.

/** The record of that very context, whose identity has ended; null if there is none. */
ContextInfo *find_ended(CUcontext context, uint64_t number) {
    ContextInfo *info = bucket_of(context).load(std::memory_order_relaxed);
    while (info &&
           (has_identity(*info) || number == 0 || info->is_ending.load(std::memory_order_acquire) ||
            info->handle.load(std::memory_order_relaxed) != context ||
            info->number.load(std::memory_order_relaxed) != number)) {
        info = info->next.load(std::memory_order_relaxed);
    }
    return info;
}

/** One whose context has ended, with all memory that was its own, out of its chain. */
ContextInfo *take_unused() {
    for (std::atomic<ContextInfo *> &bucket : buckets) {
        for (std::atomic<ContextInfo *> *link = &bucket;
             ContextInfo *info = link->load(std::memory_order_relaxed); link = &info->next) {
            if (!has_identity(*info) && info->pieces.load(std::memory_order_acquire) == 0 &&
                info->users.load(std::memory_order_acquire) == 0 &&
                !info->is_ending.load(std::memory_order_acquire)) {
                link->store(info->next.load(std::memory_order_relaxed), std::memory_order_release);
                return info;
            }
        }
    }
    return nullptr;
}

ContextInfo *make_record() {
    void *memory = malloc(sizeof(ContextInfo));
    n_records.fetch_add(memory != nullptr, std::memory_order_relaxed);
    return memory ? new (memory) ContextInfo() : nullptr;
}

ContextInfo *add(CUcontext context, uint64_t number, const DeviceInfo &device) {
    if (ContextInfo *ended = find_ended(context, number)) {
        ended->uid.store(new_context_uid(), std::memory_order_release);
        return ended;
    }
    ContextInfo *info = take_unused();
    info = info ? info : make_record();
    if (!info) {
        set_failure("out of host memory");
        return nullptr;
    }
    info->handle.store(context, std::memory_order_relaxed);
    info->number.store(number, std::memory_order_relaxed);
    info->device = &device;
    info->has_streams.store(false, std::memory_order_relaxed);
    info->ordered_stream.store(nullptr, std::memory_order_relaxed);
    info->ordering_event.store(nullptr, std::memory_order_relaxed);
    info->next.store(bucket_of(context).load(std::memory_order_relaxed), std::memory_order_relaxed);
    info->uid.store(new_context_uid(), std::memory_order_release);
    bucket_of(context).store(info, std::memory_order_release);
    return info;
}

/** The identity of another context that had that address, which this one has replaced; 0 if there
 * is none. */
uint64_t uid_of_predecessor(CUcontext context, uint64_t number) {
    LockGuard lock(table_lock);
    for (ContextInfo *info = bucket_of(context).load(std::memory_order_relaxed); info;
         info = info->next.load(std::memory_order_relaxed)) {
        if (has_identity(*info) && info->handle.load(std::memory_order_relaxed) == context &&
            info->number.load(std::memory_order_relaxed) != number) {
            return info->uid.load(std::memory_order_relaxed);
        }
    }
    return 0;
}

}  // namespace

CUresult driver_number(CUcontext context, uint64_t *number) {
    unsigned long long found = 0;
    const CUresult code =
        driver().cuCtxGetId ? driver().cuCtxGetId(context, &found) : CUDA_ERROR_NOT_SUPPORTED;
    *number = found;
    return code;
}

static ContextInfo *find_in_all(uint64_t uid) {
    for (std::atomic<ContextInfo *> &bucket : buckets) {
        for (ContextInfo *info = bucket.load(std::memory_order_acquire); info && uid;
             info = info->next.load(std::memory_order_acquire)) {
            if (info->uid.load(std::memory_order_acquire) == uid) {
                return info;
            }
        }
    }
    return nullptr;
}

/** A walk without the lock may miss a record whose neighbours come to serve other contexts, so that
 * it is not there is said with the lock held. */
ContextInfo *find_by_uid(uint64_t uid) {
    ContextInfo *info = find_in_all(uid);
    if (!info && uid) {
        LockGuard lock(table_lock);
        info = find_in_all(uid);
    }
    return info;
}

calotype_status find_or_add(CUcontext context, uint64_t number, ContextInfo **info) {
    *info = find(context, number);
    if (*info) {
        return CALOTYPE_OK;
    }
    CUdevice ordinal = -1;
    if (CUresult code = device_of(context, &ordinal)) {
        return status_of(code);
    }
    const DeviceInfo *device =
        ordinal >= 0 && ordinal < max_devices ? device_info(ordinal) : nullptr;
    if (!device) {
        set_failure("the device of the context is not known");
        return CALOTYPE_E_DEVICE;
    }
    know_backend(kernel_backend);
    while (const uint64_t before = uid_of_predecessor(context, number)) {
        end_context(before, false);
    }
    LockGuard lock(table_lock);
    *info = find(context, number);
    *info = *info ? *info : add(context, number, *device);
    return *info ? CALOTYPE_OK : CALOTYPE_E_OOM;
}

void for_each_context(void (*visit)(ContextInfo &, void *), void *data) {
    LockGuard lock(table_lock);
    for (std::atomic<ContextInfo *> &bucket : buckets) {
        for (ContextInfo *info = bucket.load(std::memory_order_relaxed); info;
             info = info->next.load(std::memory_order_relaxed)) {
            if (has_identity(*info)) {
                visit(*info, data);
            }
        }
    }
}

bool has_any_context() {
    bool found = false;
    for_each_context([](ContextInfo &, void *data) { *static_cast<bool *>(data) = true; }, &found);
    return found;
}

void end_all_contexts() {
    for_each_context(
        [](ContextInfo &info, void *) {
            info.uid.store(0, std::memory_order_release);
            info.number.store(0, std::memory_order_relaxed);
            info.handle.store(nullptr, std::memory_order_relaxed);
        },
        nullptr);
}

int context_records() {
    return n_records.load(std::memory_order_relaxed);
}

ContextUse::ContextUse(ContextInfo &info) : info(info), is_entered(begin()) {
}

bool ContextUse::begin() {
    info.users.fetch_add(1, std::memory_order_seq_cst);
    if (info.uid.load(std::memory_order_seq_cst) == 0) {
        return false;
    }
    scope.context = info.handle.load(std::memory_order_relaxed);
    return enter(scope) == CALOTYPE_OK;
}

ContextUse::~ContextUse() {
    if (is_entered) {
        leave(scope);
    }
    end_use(info);
}

bool begin_use(ContextInfo &info, uint64_t uid) {
    info.users.fetch_add(1, std::memory_order_seq_cst);
    const bool is_there = uid != 0 && info.uid.load(std::memory_order_seq_cst) == uid;
    if (!is_there) {
        end_use(info);
    }
    return is_there;
}

void end_use(ContextInfo &info) {
    if (info.users.fetch_sub(1, std::memory_order_seq_cst) == 1 &&
        info.uid.load(std::memory_order_seq_cst) == 0) {
        futex_wake(info.users, everyone);
    }
}

void await_users(ContextInfo &info) {
    while (const uint32_t users = info.users.load(std::memory_order_seq_cst)) {
        futex_wait(info.users, users);
    }
}

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
