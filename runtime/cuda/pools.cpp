// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first memory of any pool costs a process 7 to 12 ms within the driver. Nobody waits for that:
// the first call that needs memory starts a thread which makes the pool and takes a piece of it,
// and until it is done memory comes from cuMemAlloc (memory.cpp says what becomes of that).
//
// A context must stay while a thread works in it that its owner knows nothing of. So it is done in
// primary contexts alone, which the thread retains: whoever gives them up meanwhile loses nothing
// but the time. In others, and while a stream is captured, the pool is made by the call.
#include "runtime/cuda/pools.h"

#include <unistd.h>

#include "runtime/device/cache/beside.h"

namespace calotype {
namespace runtime {
namespace cuda {

namespace {

/** Of KnownContext::pool_state. A pool that is made by a thread of a process has that one's number
 * in the upper bits: a child has no such thread, whenever it was forked. */
enum : uint32_t { not_begun, in_the_making, made, impossible, n_states };

uint32_t in_the_making_here() {
    return in_the_making + n_states * uint32_t(getpid());
}
bool is_in_the_making(uint32_t state) {
    return state % n_states == in_the_making;
}

const CUstream stream_of_thread = reinterpret_cast<CUstream>(2);

CUresult create_pool(const KnownContext &context, CUmemoryPool *pool) {
    CUmemPoolProps properties;
    properties.location_id = context.device->device;
    return driver().cuMemPoolCreate(pool, &properties);
}

void set_state(KnownContext &context, uint32_t state) {
    context.pool_state.store(state, std::memory_order_release);
    wake(context.pool_state, everyone);
}

/** A pool that has given its first piece, or null. */
CUmemoryPool make_warm_pool(const KnownContext &context) {
    const Driver &d = driver();
    const AllowedInCaptures allowed;
    CUmemoryPool pool = nullptr;
    if (create_pool(context, &pool) != CUDA_SUCCESS) {
        return nullptr;
    }
    uint64_t keeps = most_kept(context);
    d.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keeps);
    CUdeviceptr piece = 0;
    if (d.cuMemAllocFromPoolAsync(&piece, 1, pool, stream_of_thread) == CUDA_SUCCESS &&
        d.cuMemFreeAsync(piece, stream_of_thread) != CUDA_SUCCESS) {
        d.cuMemFree(piece);
    }
    return pool;
}

/** From now on memory comes from it, unless the context is gone or has one. */
void put_in_service(KnownContext &context, CUcontext handle, uint64_t uid, CUmemoryPool pool) {
    bool has_use = is_alive(handle, uid);
    {
        LockGuard lock(context.pool_lock);
        has_use = has_use && !context.pool.load(std::memory_order_relaxed);
        if (has_use) {
            context.pool_keeps.store(most_kept(context), std::memory_order_relaxed);
            context.pool.store(pool, std::memory_order_release);
        }
    }
    if (!has_use) {
        driver().cuMemPoolDestroy(pool);
    }
}

/** On a thread of its own. The record is the context's as long as its state says so. */
void make_beside(void *data) {
    KnownContext &context = *static_cast<KnownContext *>(data);
    const Driver &d = driver();
    CUcontext handle = context.context.load(std::memory_order_relaxed);
    CUmemoryPool pool = nullptr;
    if (d.cuCtxPushCurrent(handle) == CUDA_SUCCESS) {
        pool = make_warm_pool(context);
        if (pool) {
            put_in_service(context, handle, context.uid.load(std::memory_order_relaxed), pool);
        }
        d.cuCtxPopCurrent(&handle);
    }
    d.cuDevicePrimaryCtxRelease(context.device->device);
    set_state(context, pool ? made : impossible);
}

/** Whether the context is the primary one of its device; it then stays until released. */
bool retain_primary(const KnownContext &context) {
    const Driver &d = driver();
    const CUdevice device = context.device->device;
    unsigned flags = 0;
    int is_active = 0;
    CUcontext primary = nullptr;
    // One that is not active would be made.
    if (d.cuDevicePrimaryCtxGetState(device, &flags, &is_active) != CUDA_SUCCESS || !is_active ||
        d.cuDevicePrimaryCtxRetain(&primary, device) != CUDA_SUCCESS) {
        return false;
    }
    if (primary != context.context.load(std::memory_order_relaxed)) {
        d.cuDevicePrimaryCtxRelease(device);
        return false;
    }
    return true;
}

bool begin_making(KnownContext &context) {
    // Drivers before 12.0 cannot tell a stream or a context from one that is gone.
    if (!driver().cuCtxGetId || !driver().cuStreamGetId || !retain_primary(context)) {
        return false;
    }
    if (run_beside(make_beside, &context, "the memory pool of a device is still being made")) {
        return true;
    }
    driver().cuDevicePrimaryCtxRelease(context.device->device);
    return false;
}

}  // namespace

CUresult make_pool(KnownContext &context) {
    LockGuard lock(context.pool_lock);
    if (context.pool.load(std::memory_order_relaxed)) {
        return CUDA_SUCCESS;
    }
    CUmemoryPool pool = nullptr;
    const CUresult code = note_failure("cuMemPoolCreate", create_pool(context, &pool));
    if (code == CUDA_SUCCESS) {
        context.pool_keeps.store(0, std::memory_order_relaxed);
        context.pool.store(pool, std::memory_order_release);
    }
    return code;
}

bool can_do_without_pool(const Call &call) {
    KnownContext &context = call.context();
    const uint32_t here = in_the_making_here();
    uint32_t state = context.pool_state.load(std::memory_order_acquire);
    do {
        if (state == made || state == impossible || state == here) {
            return state != made;
        }
    } while (!context.pool_state.compare_exchange_weak(state, here));
    const bool is_begun = begin_making(context);
    if (!is_begun) {
        set_state(context, not_begun);
    }
    return is_begun;
}

void await_pool(KnownContext &context) {
    while (is_pool_in_the_making(context)) {
        wait_on(context.pool_state, in_the_making_here());
    }
}

bool is_pool_in_the_making(const KnownContext &context) {
    const uint32_t state = context.pool_state.load(std::memory_order_acquire);
    return is_in_the_making(state) && state == in_the_making_here();
}

void destroy_pool(KnownContext &context) {
    await_pool(context);
    LockGuard lock(context.pool_lock);
    if (CUmemoryPool pool = context.pool.exchange(nullptr)) {
        driver().cuMemPoolDestroy(pool);
    }
    // Another thread may make the next one already.
    for (uint32_t state : {made, impossible}) {
        context.pool_state.compare_exchange_strong(state, not_begun);
    }
}

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
