// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the driver has stream-ordered pools, memory comes from one of ours for each context, which
// keeps what is freed so that the next allocation costs a microsecond: an eighth of the device's
// memory, or all with calotype_reuse_device_allocations(). Elsewhere it comes from cuMemAlloc.
//
// With reuse freed pieces are kept in a list, and serve the next allocation of their size class on
// the same stream, which is after all that was queued there: some 100 ns instead of 3 us.
//
// Every piece in use has an Allocation, which says to which context it belongs: a buffer may be
// freed by a call that works in another context, or after its context was lost. Pools and what is
// of them are the device's: they outlive the context, and are ended after it without one.
#include "runtime/cuda/memory.h"

#include <new>
#include <stdlib.h>

#include "runtime/abi/device_interface.h"
#include "runtime/abi/kernel_cache.h"
#include "runtime/abi/runtime_cuda.h"
#include "runtime/cuda/captures.h"
#include "runtime/device/failure.h"
#include "runtime/device/host_allocation.h"

namespace calotype {
namespace runtime {
namespace cuda {

namespace {

struct Allocation {
    CUdeviceptr handle;
    CUdeviceptr base;
    size_t bytes;
    KnownContext *owner;
    bool from_pool;
    bool in_graph;       ///< allocated by a node of a graph that was being captured
    bool is_reusable;    ///< of a kept one
    uint64_t stream_id;  ///< where it was freed, then
    Allocation *next;
};

struct Stripe {
    Mutex lock;
    Allocation *first = nullptr;
};
constexpr int n_stripes = 64;
constinit Stripe stripes[n_stripes];
constinit std::atomic<int> live{0};

/** Freed, but still the driver's to take back: kept for reuse, or freed during a capture. */
constinit Mutex kept_lock;
Allocation *kept = nullptr;
constinit std::atomic<int> n_kept{0};

constinit Mutex registration_lock;
bool is_registered = false;

Stripe &stripe_of(CUdeviceptr handle) {
    return stripes[(handle >> 8 ^ handle >> 16) % n_stripes];
}

void remember(Allocation *piece) {
    Stripe &stripe = stripe_of(piece->handle);
    LockGuard lock(stripe.lock);
    piece->next = stripe.first;
    stripe.first = piece;
    live.fetch_add(1, std::memory_order_relaxed);
}

/** Out of the table; null if there is none of that handle. */
Allocation *take(CUdeviceptr handle) {
    Stripe &stripe = stripe_of(handle);
    LockGuard lock(stripe.lock);
    for (Allocation **link = &stripe.first; *link; link = &(*link)->next) {
        Allocation *piece = *link;
        if (piece->handle == handle) {
            *link = piece->next;
            live.fetch_sub(1, std::memory_order_relaxed);
            return piece;
        }
    }
    return nullptr;
}

void keep(Allocation *piece) {
    LockGuard lock(kept_lock);
    piece->next = kept;
    kept = piece;
    n_kept.fetch_add(1, std::memory_order_relaxed);
}

/** Not used again, other than the handle, where the driver gives one. */
uint64_t id_of(CUstream stream) {
    unsigned long long id = reinterpret_cast<uintptr_t>(stream);
    if (stream && driver().cuStreamGetId) {
        driver().cuStreamGetId(stream, &id);
    }
    return id;
}

/** A kept piece like the wanted one and last used on the stream, or null. */
Allocation *take_kept(const Allocation &wanted, CUstream stream) {
    if (n_kept.load(std::memory_order_relaxed) == 0) {
        return nullptr;
    }
    const uint64_t stream_id = id_of(stream);
    LockGuard lock(kept_lock);
    for (Allocation **link = &kept; *link; link = &(*link)->next) {
        Allocation *piece = *link;
        if (piece->is_reusable && piece->owner == wanted.owner && piece->bytes == wanted.bytes &&
            piece->from_pool == wanted.from_pool && piece->stream_id == stream_id) {
            *link = piece->next;
            n_kept.fetch_sub(1, std::memory_order_relaxed);
            return piece;
        }
    }
    return nullptr;
}

/** Up by less than an eighth, so that sizes which differ a little share pieces. */
size_t size_class(size_t bytes) {
    size_t step = 512;
    while (step * 8 < bytes && step < (size_t(1) << 58)) {
        step *= 2;
    }
    return (bytes + step - 1) / step * step;
}

uint64_t wanted_threshold(void *user_context, const KnownContext &context) {
    return calotype_can_reuse_device_allocations(user_context) ? UINT64_MAX
                                                               : context.device->memory / 8;
}

CUresult make_pool(KnownContext &context) {
    LockGuard lock(context.pool_lock);
    if (context.pool.load(std::memory_order_relaxed)) {
        return CUDA_SUCCESS;
    }
    CUmemPoolProps properties;
    properties.location_id = context.device->device;
    CUmemoryPool pool = nullptr;
    const CUresult code =
        note_failure("cuMemPoolCreate", driver().cuMemPoolCreate(&pool, &properties));
    if (code == CUDA_SUCCESS) {
        context.pool_keeps.store(0, std::memory_order_relaxed);
        context.pool.store(pool, std::memory_order_release);
    }
    return code;
}

CUresult allocate_from_pool(const Call &call, size_t bytes, CUdeviceptr *base) {
    KnownContext &context = call.context();
    if (!context.pool.load(std::memory_order_acquire)) {
        if (CUresult code = make_pool(context)) {
            return code;
        }
    }
    const CUmemoryPool pool = context.pool.load(std::memory_order_acquire);
    uint64_t keeps = wanted_threshold(call.scope().user_context, context);
    if (context.pool_keeps.exchange(keeps, std::memory_order_relaxed) != keeps) {
        driver().cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keeps);
    }
    return driver().cuMemAllocFromPoolAsync(base, bytes, pool, call.stream());
}

void forget(Allocation *piece) {
    piece->owner->pieces.fetch_sub(1, std::memory_order_release);
    free(piece);
}

CUresult allocate_once(const Call &call, Allocation *piece) {
    Allocation *old = piece->in_graph ? nullptr : take_kept(*piece, call.stream());
    if (old) {
        piece->base = old->base;
        forget(old);
        return CUDA_SUCCESS;
    }
    if (piece->from_pool) {
        return allocate_from_pool(call, piece->bytes, &piece->base);
    }
    return driver().cuMemAlloc(&piece->base, piece->bytes);
}

/** Give one freed piece back to the driver; its context must be current. */
CUresult give_back(const Allocation &piece, CUstream stream) {
    if (piece.from_pool) {
        return note_failure("cuMemFreeAsync", driver().cuMemFreeAsync(piece.base, stream));
    }
    return note_failure("cuMemFree", driver().cuMemFree(piece.base));
}

/** All kept pieces of the context, or those alone that are not kept for reuse, out of the list. */
Allocation *take_kept_of(const KnownContext &context, bool all) {
    Allocation *list = nullptr;
    LockGuard lock(kept_lock);
    for (Allocation **link = &kept; *link;) {
        Allocation *piece = *link;
        if (piece->owner == &context && (all || !piece->is_reusable)) {
            *link = piece->next;
            piece->next = list;
            list = piece;
            n_kept.fetch_sub(1, std::memory_order_relaxed);
        } else {
            link = &piece->next;
        }
    }
    return list;
}

/** The same, to the driver; the context is current. */
CUresult give_back_kept(const Call &call, bool all) {
    Allocation *list = take_kept_of(call.context(), all);
    CUresult first = CUDA_SUCCESS;
    while (list) {
        Allocation *piece = list;
        list = piece->next;
        const CUresult code = give_back(*piece, call.stream());
        first = first ? first : code;
        forget(piece);
    }
    return first;
}

/** Idle memory and idle modules of the context go, and pending frees are done. */
void make_room(const Call &call) {
    uint64_t freed = 0;
    calotype_trim(call.scope().user_context, 0, &freed);
    driver().cuCtxSynchronize();
    release_unused(call);
}

void register_once() {
    static constinit calotype_device_allocation_pool pool = {
        calotype_cuda_release_unused_device_allocations, nullptr};
    LockGuard lock(registration_lock);
    if (!is_registered) {
        is_registered = true;
        calotype_register_device_allocation_pool(&pool);
    }
}

void note_allocation_failure(const char *call, size_t bytes, CUresult code) {
    Text text;
    text << call << " of " << uint64_t(bytes) << " bytes: ";
    append_result(text, code);
    size_t available = 0, total = 0;
    if (code == CUDA_ERROR_OUT_OF_MEMORY &&
        driver().cuMemGetInfo(&available, &total) == CUDA_SUCCESS) {
        text << "; " << uint64_t(available) << " of " << uint64_t(total) << " bytes are free";
    }
    set_failure(text.c_str());
}

/** Of a context that is gone. It took its memory with it, but for that of its pool. */
CUresult give_back_late(const Allocation &piece) {
    return piece.from_pool && !piece.in_graph && piece.owner->pool.load()
               ? note_failure("cuMemFree", driver().cuMemFree(piece.base))
               : CUDA_SUCCESS;
}

/** Free in the context that owns the piece, which is not the call's. */
CUresult give_back_elsewhere(const Allocation &piece) {
    KnownContext &owner = *piece.owner;
    DeviceScope scope = {};
    scope.context = owner.context;
    if (!is_alive(owner.context, owner.uid) || enter(scope) != CALOTYPE_OK) {
        clear_failure();
        const CUresult code = give_back_late(piece);
        if (owner.pieces.load(std::memory_order_acquire) == 1) {
            destroy_pool(owner);
        }
        return code;
    }
    const CUresult code = give_back(piece, nullptr);
    leave(scope);
    return code;
}

}  // namespace

calotype_status allocate(const Call &call, size_t bytes, int64_t offset, CUdeviceptr *handle) {
    register_once();
    KnownContext &context = call.context();
    const bool capturing = call.stream() && is_capturing(call.scope(), nullptr);
    const bool from_pool = context.device->has_pools;
    if (capturing && !from_pool) {
        set_failure("allocating without a memory pool cannot be captured: let the buffers have "
                    "their device allocations before");
        return CALOTYPE_E_CAPTURE;
    }
    if (!capturing && n_kept.load(std::memory_order_relaxed) > 0) {
        give_back_kept(call, false);
    }
    void *memory = malloc(sizeof(Allocation));
    if (!memory) {
        set_failure("out of host memory");
        return CALOTYPE_E_OOM;
    }
    const bool reuse =
        !capturing && calotype_can_reuse_device_allocations(call.scope().user_context);
    const size_t size = from_pool && !reuse ? bytes : size_class(bytes);
    Allocation *piece =
        new (memory) Allocation{0, 0, size, &context, from_pool, capturing, false, 0, nullptr};
    context.pieces.fetch_add(1, std::memory_order_relaxed);
    CUresult code = allocate_once(call, piece);
    if (code == CUDA_ERROR_OUT_OF_MEMORY && !capturing) {
        make_room(call);
        code = allocate_once(call, piece);
    }
    if (code != CUDA_SUCCESS) {
        forget(piece);
        note_allocation_failure(from_pool ? "cuMemAllocFromPoolAsync" : "cuMemAlloc", bytes, code);
        return status_of(code);
    }
    piece->handle = *handle = piece->base + uint64_t(offset);
    remember(piece);
    return CALOTYPE_OK;
}

calotype_status deallocate(const Call &call, CUdeviceptr handle) {
    Allocation *piece = take(handle);
    if (!piece) {
        set_failure("the device pointer is not one that the runtime allocated");
        return CALOTYPE_E_INVALID;
    }
    CUresult code = CUDA_SUCCESS;
    if (piece->owner->uid != call.scope().context_uid) {
        code = give_back_elsewhere(*piece);
    } else {
        const bool capturing = call.stream() && is_capturing(call.scope(), nullptr);
        piece->is_reusable = !capturing && !piece->in_graph &&
                             calotype_can_reuse_device_allocations(call.scope().user_context);
        // Only what the graph itself allocated can be freed by it.
        if (piece->is_reusable || (capturing && !piece->in_graph)) {
            piece->stream_id = id_of(call.stream());
            keep(piece);
            return CALOTYPE_OK;
        }
        code = give_back(*piece, call.stream());
    }
    forget(piece);
    return status_of(code);
}

bool reuse_memory(const DeviceScope &scope, uint64_t freed, const calotype_buffer_t &buf,
                  uint64_t *handle) {
    Allocation *piece = take(freed);
    if (!piece) {
        return false;
    }
    const size_t bytes = bytes_to_allocate(buf);
    // Not much larger, or little buffers would keep large pieces from large ones.
    const bool fits = piece->owner->uid == scope.context_uid && bytes <= piece->bytes &&
                      piece->bytes / 2 <= size_class(bytes);
    if (fits) {
        piece->handle = *handle = piece->base + uint64_t(bytes_before_origin(buf));
    }
    remember(piece);
    return fits;
}

calotype_status release_unused(const Call &call) {
    CUresult code = give_back_kept(call, true);
    if (CUmemoryPool pool = call.context().pool.load(std::memory_order_acquire)) {
        driver().cuStreamSynchronize(call.stream());
        const CUresult trimmed = note_failure("cuMemPoolTrimTo", driver().cuMemPoolTrimTo(pool, 0));
        code = code ? code : trimmed;
    }
    return status_of(code);
}

bool end_memory(KnownContext &context) {
    Allocation *list = take_kept_of(context, true);
    while (Allocation *piece = list) {
        list = piece->next;
        give_back_late(*piece);
        forget(piece);
    }
    if (context.pieces.load(std::memory_order_acquire) != 0) {
        return false;
    }
    destroy_pool(context);
    return true;
}

void destroy_pool(KnownContext &context) {
    LockGuard lock(context.pool_lock);
    if (CUmemoryPool pool = context.pool.exchange(nullptr)) {
        driver().cuMemPoolDestroy(pool);
    }
}

int live_allocations() {
    return live.load(std::memory_order_relaxed);
}

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
