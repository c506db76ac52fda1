// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/known_contexts.h"

#include <errno.h>
#include <new>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/cuda/memory.h"
#include "runtime/device/failure.h"

namespace calotype {
namespace runtime {
namespace cuda {

namespace {

constexpr int max_devices = 64;
/** Marks identities that are not the driver's. */
constexpr uint64_t our_own = uint64_t(1) << 63;

constexpr int n_buckets = 64;
constinit std::atomic<KnownContext *> buckets[n_buckets];

// With the lock held.
constinit Mutex known_lock;
uint64_t own_identities = 0;  ///< counts up
KnownContext *free_records = nullptr;
int n_records = 0;

std::atomic<KnownContext *> &bucket_of(uint64_t uid) {
    return buckets[uid % n_buckets];
}

/** For drivers that give no identities. */
KnownContext *find_by_address(CUcontext context) {
    for (std::atomic<KnownContext *> &bucket : buckets) {
        for (KnownContext *known = bucket.load(std::memory_order_acquire); known;
             known = known->next.load(std::memory_order_acquire)) {
            if (known->context.load(std::memory_order_relaxed) == context &&
                !known->is_lost.load(std::memory_order_relaxed)) {
                return known;
            }
        }
    }
    return nullptr;
}

KnownContext *find(CUcontext context, uint64_t uid) {
    return uid ? find_by_uid(uid) : find_by_address(context);
}

CUresult device_of(CUcontext context, CUdevice *device) {
    CUresult code = note_failure("cuCtxPushCurrent", driver().cuCtxPushCurrent(context));
    if (code == CUDA_SUCCESS) {
        code = note_failure("cuCtxGetDevice", driver().cuCtxGetDevice(device));
        driver().cuCtxPopCurrent(&context);
    }
    return code;
}

/** Nobody asks for it any more. */
bool has_ended(const KnownContext &known) {
    uint64_t uid = 0;
    if (known.is_lost.load(std::memory_order_relaxed)) {
        return true;
    }
    const CUresult code = remembered_identity(known.context.load(std::memory_order_relaxed), &uid);
    return code != CUDA_ERROR_NOT_SUPPORTED &&
           (code != CUDA_SUCCESS || uid != known.uid.load(std::memory_order_relaxed));
}

/** Take the records of contexts that have ended out of the table, and end their memory: an eighth
 * of the device may be kept in a pool. */
void sweep() {
    for (std::atomic<KnownContext *> &bucket : buckets) {
        std::atomic<KnownContext *> *link = &bucket;
        while (KnownContext *known = link->load(std::memory_order_relaxed)) {
            if (!has_ended(*known) || !end_memory(*known)) {
                link = &known->next;
                continue;
            }
            link->store(known->next.load(std::memory_order_relaxed), std::memory_order_release);
            known->uid.store(0, std::memory_order_relaxed);
            known->next_free = free_records;
            free_records = known;
        }
    }
}

KnownContext *unused_record() {
    sweep();
    KnownContext *known = free_records;
    if (known) {
        free_records = known->next_free;
    } else if (void *memory = malloc(sizeof(KnownContext))) {
        known = new (memory) KnownContext();
        n_records++;
    }
    return known;
}

/** With the lock held. */
calotype_status add(CUcontext context, uint64_t uid, KnownContext **result) {
    CUdevice device = -1;
    if (CUresult code = device_of(context, &device)) {
        return status_of(code);
    }
    const DeviceInfo *info = device >= 0 && device < max_devices ? device_info(device) : nullptr;
    if (!info) {
        set_failure("the device of the context is not known");
        return CALOTYPE_E_DEVICE;
    }
    KnownContext *known = unused_record();
    if (!known) {
        set_failure("out of host memory");
        return CALOTYPE_E_OOM;
    }
    uid = uid ? uid : our_own | ++own_identities;
    known->context.store(context, std::memory_order_relaxed);
    known->device = info;
    known->pool.store(nullptr, std::memory_order_relaxed);
    known->pool_keeps.store(0, std::memory_order_relaxed);
    known->is_lost.store(false, std::memory_order_relaxed);
    known->has_streams.store(false, std::memory_order_relaxed);
    known->next.store(bucket_of(uid).load(std::memory_order_relaxed), std::memory_order_relaxed);
    known->uid.store(uid, std::memory_order_release);
    bucket_of(uid).store(known, std::memory_order_release);
    *result = known;
    return CALOTYPE_OK;
}

}  // namespace

CUresult driver_identity(CUcontext context, uint64_t *uid) {
    if (!driver().cuCtxGetId) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    unsigned long long id = 0;
    const CUresult code = driver().cuCtxGetId(context, &id);
    *uid = id ? id : our_own;
    return code;
}

/** Whether the page is there that the address lies in. */
static bool is_mapped(const void *address) {
    const uintptr_t size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    unsigned char is_resident = 0;
    void *page = reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(address) / size * size);
    return mincore(page, size, &is_resident) == 0 || errno != ENOMEM;
}

CUresult remembered_identity(CUcontext context, uint64_t *uid) {
    return driver().cuCtxGetId && !is_mapped(context) ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                                                      : driver_identity(context, uid);
}

KnownContext *find_by_uid(uint64_t uid) {
    KnownContext *known = bucket_of(uid).load(std::memory_order_acquire);
    while (known && (known->uid.load(std::memory_order_acquire) != uid ||
                     known->is_lost.load(std::memory_order_relaxed))) {
        known = known->next.load(std::memory_order_acquire);
    }
    return known;
}

calotype_status find_or_add(CUcontext context, uint64_t uid, KnownContext **known) {
    *known = find(context, uid);
    if (*known) {
        return CALOTYPE_OK;
    }
    LockGuard lock(known_lock);
    *known = find(context, uid);
    return *known ? CALOTYPE_OK : add(context, uid, known);
}

void lose_all_contexts() {
    LockGuard lock(known_lock);
    for (std::atomic<KnownContext *> &bucket : buckets) {
        for (KnownContext *known = bucket.load(std::memory_order_relaxed); known;
             known = known->next.load(std::memory_order_relaxed)) {
            known->is_lost.store(true, std::memory_order_relaxed);
            known->pool.store(nullptr, std::memory_order_relaxed);
        }
    }
}

int context_records() {
    LockGuard lock(known_lock);
    return n_records;
}

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
