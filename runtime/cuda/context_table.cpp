// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/context_table.h"

#include <new>
#include <stdlib.h>

#include "runtime/cuda/kernels.h"
#include "runtime/cuda/memory/memory.h"
#include "runtime/device/failure.h"
#include "runtime/host/data/list.h"
#include "runtime/host/fork_mutex.h"

namespace calotype::runtime::cuda {

namespace {

constinit ForkMutex table_lock;
ContextInfo *records = nullptr;  // guarded, as are their `next`
std::atomic<int> n_records{0};   // written with the lock held

bool has_identity(const ContextInfo &info) {
    return info.uid.load(std::memory_order_acquire) != 0;
}

bool has_handle(const ContextInfo &info, CUcontext context) {
    return info.handle.load(std::memory_order_relaxed) == context;
}

CUresult device_of(CUcontext context, CUdevice *device) {
    CUresult code = invoke(&Driver::cuCtxPushCurrent, context);
    if (code == CUDA_SUCCESS) {
        code = invoke(&Driver::cuCtxGetDevice, device);
        driver().cuCtxPopCurrent(&context);
    }
    return code;
}

// What follows is called with the lock held.

KnownContext find(CUcontext context, uint64_t number) {
    uint64_t uid = 0;
    ContextInfo *found = find_in(records, [&](const ContextInfo &info) {
        uid = info.uid.load(std::memory_order_acquire);
        return uid != 0 && has_handle(info, context) && info.number == number;
    });
    return found ? KnownContext{found, uid} : KnownContext();
}

/** The record of that very context, whose identity has ended; null if there is none. */
ContextInfo *find_ended(CUcontext context, uint64_t number) {
    return find_in(records, [=](const ContextInfo &info) {
        return !has_identity(info) && number != 0 && has_handle(info, context) &&
               info.number == number && !info.is_ending.load(std::memory_order_acquire);
    });
}

/** One whose context has ended, with all memory that was its own. */
ContextInfo *find_unused() {
    return find_in(records, [](const ContextInfo &info) {
        return !has_identity(info) && info.pieces.load(std::memory_order_acquire) == 0 &&
               info.users.load(std::memory_order_acquire) == 0 &&
               !info.is_ending.load(std::memory_order_acquire);
    });
}

ContextInfo *make_record() {
    void *memory = malloc(sizeof(ContextInfo));
    ContextInfo *made = memory ? new (memory) ContextInfo() : nullptr;
    if (made) {
        push(records, made);
        n_records.fetch_add(1, std::memory_order_relaxed);
    }
    return made;
}

KnownContext begin_identity(ContextInfo &info) {
    const uint64_t uid = new_context_uid();
    info.uid.store(uid, std::memory_order_release);
    return {&info, uid};
}

KnownContext add(CUcontext context, uint64_t number, const DeviceInfo &device) {
    if (ContextInfo *ended = find_ended(context, number)) {
        return begin_identity(*ended);
    }
    ContextInfo *info = find_unused();
    info = info ? info : make_record();
    if (!info) {
        return fail_with(KnownContext(), "out of host memory");
    }
    info->handle.store(context, std::memory_order_relaxed);
    info->number.store(number, std::memory_order_relaxed);
    info->device = &device;
    info->has_streams.store(false, std::memory_order_relaxed);
    info->ordered_stream.store(nullptr, std::memory_order_relaxed);
    info->ordering_event.store(nullptr, std::memory_order_relaxed);
    return begin_identity(*info);
}

/** The identity of another context that had that address, which this one has replaced; 0 if there
 * is none. */
uint64_t uid_of_predecessor(CUcontext context, uint64_t number) {
    LockGuard lock(table_lock);
    const ContextInfo *found = find_in(records, [=](const ContextInfo &info) {
        return has_identity(info) && has_handle(info, context) && info.number != number;
    });
    return found ? found->uid.load(std::memory_order_relaxed) : 0;
}

}  // namespace

CUresult driver_number(CUcontext context, uint64_t *number) {
    unsigned long long found = 0;
    const CUresult code =
        driver().cuCtxGetId ? driver().cuCtxGetId(context, &found) : CUDA_ERROR_NOT_SUPPORTED;
    *number = found;
    return code;
}

ContextInfo *find_by_uid(uint64_t uid) {
    LockGuard lock(table_lock);
    return uid ? find_in(records, [=](const ContextInfo &info) { return info.uid == uid; })
               : nullptr;
}

calotype_status find_or_add(CUcontext context, uint64_t number, KnownContext *known) {
    {
        LockGuard lock(table_lock);
        *known = find(context, number);
    }
    if (known->info) {
        return CALOTYPE_OK;
    }
    CUdevice ordinal = -1;
    if (CUresult code = device_of(context, &ordinal)) {
        return status_of(code);
    }
    const DeviceInfo *device =
        ordinal >= 0 && ordinal < max_devices ? device_info(ordinal) : nullptr;
    if (!device) {
        return fail_with(CALOTYPE_E_DEVICE, "the device of the context is not known");
    }
    know_backend(kernel_backend);
    while (const uint64_t before = uid_of_predecessor(context, number)) {
        end_context(before, false);
    }
    LockGuard lock(table_lock);
    *known = find(context, number);
    if (!known->info) {
        *known = add(context, number, *device);
    }
    return known->info ? CALOTYPE_OK : CALOTYPE_E_OOM;
}

bool has_any_context() {
    LockGuard lock(table_lock);
    return find_in(records, has_identity);
}

void end_all_contexts() {
    LockGuard lock(table_lock);
    for (ContextInfo *info = records; info; info = info->next) {
        info->uid.store(0, std::memory_order_release);
        info->number.store(0, std::memory_order_relaxed);
        info->handle.store(nullptr, std::memory_order_relaxed);
    }
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

}  // namespace calotype::runtime::cuda
