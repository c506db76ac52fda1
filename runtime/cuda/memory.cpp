// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the driver has stream-ordered pools, memory comes from one of ours for each context, which
// keeps what is freed so that the next allocation costs a microsecond: an eighth of the device's
// memory, or all with calotype_reuse_device_allocations(). Elsewhere it comes from cuMemAlloc.
//
// With reuse freed pieces are kept in a list, and serve the next allocation of their size class on
// the same stream, which is after all that was queued there: some 100 ns instead of 3 us.
//
// Until the pool is there (pools.h) memory comes from cuMemAlloc: up to an eighth of the device's,
// beyond which a call waits for the pool. cuMemFree waits for all work of the context, so these
// early pieces are never given to it in the middle of a call: they are kept as with reuse, also
// once the pool is there, and of the pool's eighth they take their part. They are given back where
// all work has been waited for: when unused memory is released or there is no other, with the
// context, and, where reuse is not wanted, when a call waits for the whole device.
//
// What a call without a stream frees may still be in use on streams of other calls, which are not
// known, nor whether they still are. The default stream does not wait for all of them. So in a
// context where calls have named streams such a piece is parked: it goes once all work of the
// context has been waited for, by a call that does so anyway, or by the free with which more than a
// 64th of the device's memory would be parked.
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
#include "runtime/cuda/pools.h"
#include "runtime/device/failure.h"
#include "runtime/device/host_allocation.h"

namespace calotype {
namespace runtime {
namespace cuda {

namespace {

/** What a freed piece waits for that is kept. */
enum class WaitsFor { use, end_of_capture, all_work };

struct Allocation {
    CUdeviceptr handle;
    CUdeviceptr base;
    size_t bytes;
    KnownContext *owner;
    bool from_pool;
    bool in_graph;       ///< allocated by a node of a graph that was being captured
    WaitsFor waits_for;  ///< if it is kept
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

/** Freed, but still the driver's to take back. */
constinit Mutex kept_lock;
Allocation *kept = nullptr;
constinit std::atomic<int> n_waiting[3];  ///< of them, for each of WaitsFor

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

std::atomic<int> &number(WaitsFor what) {
    return n_waiting[int(what)];
}

void keep(Allocation *piece) {
    LockGuard lock(kept_lock);
    piece->next = kept;
    kept = piece;
    number(piece->waits_for).fetch_add(1, std::memory_order_relaxed);
    if (piece->waits_for == WaitsFor::all_work) {
        piece->owner->parked_bytes.fetch_add(piece->bytes, std::memory_order_relaxed);
    }
}

/** The one that the link of the list is to, out of it. With the lock held. */
Allocation *unlink(Allocation **link) {
    Allocation *piece = *link;
    *link = piece->next;
    number(piece->waits_for).fetch_sub(1, std::memory_order_relaxed);
    if (piece->waits_for == WaitsFor::all_work) {
        piece->owner->parked_bytes.fetch_sub(piece->bytes, std::memory_order_relaxed);
    }
    return piece;
}

/** Not used again, other than the handle, where the driver gives one. */
uint64_t id_of(CUstream stream) {
    unsigned long long id = reinterpret_cast<uintptr_t>(stream);
    if (stream && driver().cuStreamGetId) {
        driver().cuStreamGetId(stream, &id);
    }
    return id;
}

/** Up by less than an eighth, so that sizes which differ a little share pieces. */
size_t size_class(size_t bytes) {
    size_t step = 512;
    while (step * 8 < bytes && step < (size_t(1) << 58)) {
        step *= 2;
    }
    return (bytes + step - 1) / step * step;
}

/** A kept piece for so many bytes that was last used on the stream, or null: that of the lowest
 * address, so that a pipeline which is called again has the same ones in the same places, and what
 * is replayed as a graph need not be changed. */
Allocation *take_kept(const KnownContext &owner, size_t bytes, CUstream stream) {
    if (number(WaitsFor::use).load(std::memory_order_relaxed) == 0) {
        return nullptr;
    }
    const size_t size = size_class(bytes);
    const uint64_t stream_id = id_of(stream);
    LockGuard lock(kept_lock);
    Allocation **lowest = nullptr;
    for (Allocation **link = &kept; *link; link = &(*link)->next) {
        const Allocation &piece = **link;
        const bool fits = piece.waits_for == WaitsFor::use && piece.owner == &owner &&
                          piece.bytes == size && piece.stream_id == stream_id;
        if (fits && (!lowest || piece.base < (*lowest)->base)) {
            lowest = link;
        }
    }
    return lowest ? unlink(lowest) : nullptr;
}

uint64_t wanted_threshold(void *user_context, const KnownContext &context) {
    const uint64_t early = context.early_bytes.load(std::memory_order_relaxed);
    const uint64_t most = most_kept(context);
    return calotype_can_reuse_device_allocations(user_context) ? UINT64_MAX
           : early < most                                      ? most - early
                                                               : 0;
}

/** Whether it was allocated while there was no pool. */
bool is_early(const Allocation &piece) {
    return !piece.from_pool && piece.owner->device->has_pools;
}

/** Whether the early pieces with so many bytes more are no more than may be kept. */
bool is_room_for_early(const KnownContext &context, size_t more) {
    const uint64_t bytes = context.early_bytes.load(std::memory_order_relaxed);
    const uint64_t most = most_kept(context);
    return more <= most && bytes <= most - more;
}

/** Whether the next piece of so many bytes is to be one of the pool. */
bool is_for_pool(const Call &call, size_t bytes, bool capturing) {
    KnownContext &context = call.context();
    if (!context.device->has_pools || context.pool.load(std::memory_order_acquire)) {
        return context.device->has_pools;
    }
    const bool needs_pool = capturing || !can_do_without_pool(call);
    if (!needs_pool && is_room_for_early(context, size_class(bytes))) {
        return false;
    }
    await_pool(context);
    return needs_pool || context.pool.load(std::memory_order_acquire);
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
    if (Allocation *old =
            piece->in_graph ? nullptr : take_kept(*piece->owner, piece->bytes, call.stream())) {
        piece->base = old->base;
        piece->bytes = old->bytes;
        piece->from_pool = old->from_pool;
        forget(old);
        return CUDA_SUCCESS;
    }
    if (piece->from_pool) {
        return allocate_from_pool(call, piece->bytes, &piece->base);
    }
    const AllowedInCaptures allowed;
    const CUresult code = driver().cuMemAlloc(&piece->base, piece->bytes);
    if (code == CUDA_SUCCESS && is_early(*piece)) {
        piece->owner->early_bytes.fetch_add(piece->bytes, std::memory_order_relaxed);
    }
    return code;
}

/** It is the driver's, or the context took it along. */
void count_as_gone(const Allocation &piece) {
    if (is_early(piece)) {
        piece.owner->early_bytes.fetch_sub(piece.bytes, std::memory_order_relaxed);
    }
}

/** Give one freed piece back to the driver, which waits for all work; its context is current. */
CUresult give_back_at_once(const Allocation &piece) {
    const AllowedInCaptures allowed;
    count_as_gone(piece);
    return note_failure("cuMemFree", driver().cuMemFree(piece.base));
}

/** Give one freed piece back to the driver; its context must be current. */
CUresult give_back(const Allocation &piece, CUstream stream) {
    return piece.from_pool
               ? note_failure("cuMemFreeAsync", driver().cuMemFreeAsync(piece.base, stream))
               : give_back_at_once(piece);
}

/** Some of the pieces that are kept. */
using Choice = bool(const Allocation &);
bool any(const Allocation &) {
    return true;
}
bool is_captured(const Allocation &piece) {
    return piece.waits_for == WaitsFor::end_of_capture;
}
bool is_parked(const Allocation &piece) {
    return piece.waits_for == WaitsFor::all_work;
}
/** The driver waits for all work itself before it takes the piece back. */
bool is_given_back_alone(const Allocation &piece) {
    return !piece.from_pool && piece.waits_for == WaitsFor::use;
}
bool is_parked_or_early(const Allocation &piece) {
    return is_parked(piece) || is_early(piece);
}

/** Those of the context, out of the list. */
Allocation *take_kept_of(const KnownContext &context, Choice choice) {
    Allocation *list = nullptr;
    LockGuard lock(kept_lock);
    for (Allocation **link = &kept; *link;) {
        if ((*link)->owner == &context && choice(**link)) {
            Allocation *piece = unlink(link);
            piece->next = list;
            list = piece;
        } else {
            link = &(*link)->next;
        }
    }
    return list;
}

/** To the driver; the context is current. */
CUresult give_back_all(Allocation *list, CUstream stream) {
    CUresult first = CUDA_SUCCESS;
    while (list) {
        Allocation *piece = list;
        list = piece->next;
        const CUresult code = give_back(*piece, stream);
        first = first ? first : code;
        forget(piece);
    }
    return first;
}

CUresult give_back_kept(const Call &call, Choice choice) {
    return give_back_all(take_kept_of(call.context(), choice), call.stream());
}

/** Whether nobody may wait for all work of the context: one of its streams is being captured, which
 * its default stream tells. */
bool is_any_captured(const KnownContext &context) {
    DeviceScope scope = {};
    scope.context = context.context.load(std::memory_order_relaxed);
    return is_capturing(scope, nullptr);
}
bool is_any_captured(const Call &call) {
    return (call.stream() && is_capturing(call.scope(), nullptr)) ||
           is_any_captured(call.context());
}

/** After all work of the context, which is current. They are out of the list before the wait: what
 * is freed while it lasts may have work that it does not see. */
CUresult give_back_after_work(Allocation *list) {
    const CUresult code = note_failure("cuCtxSynchronize", driver().cuCtxSynchronize());
    if (code == CUDA_SUCCESS) {
        return give_back_all(list, nullptr);
    }
    while (Allocation *piece = list) {
        list = piece->next;
        keep(piece);
    }
    return code;
}

/** Idle memory and idle modules of the context go, and pending frees are done. */
void make_room(const Call &call) {
    uint64_t freed = 0;
    calotype_trim(call.scope().user_context, 0, &freed);
    if (!is_any_captured(call)) {
        driver().cuCtxSynchronize();
    }
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
    count_as_gone(piece);
    return piece.from_pool && !piece.in_graph && piece.owner->pool.load()
               ? note_failure("cuMemFree", driver().cuMemFree(piece.base))
               : CUDA_SUCCESS;
}

/** Of a record that is lost, with the last piece, which is being freed. */
void end_pool_with(KnownContext &owner) {
    if (owner.pieces.load(std::memory_order_acquire) == 1 && !is_pool_in_the_making(owner)) {
        destroy_pool(owner);
    }
}

/** Free in the context that owns the piece, which is not the call's or was told lost: which streams
 * work there is no longer known then. */
CUresult give_back_elsewhere(const Allocation &piece) {
    KnownContext &owner = *piece.owner;
    DeviceScope scope = {};
    scope.context = owner.context;
    if (!is_alive(owner.context, owner.uid) || enter(scope) != CALOTYPE_OK) {
        clear_failure();
        const CUresult code = give_back_late(piece);
        end_pool_with(owner);
        return code;
    }
    const bool is_lost = owner.is_lost.load(std::memory_order_relaxed);
    const CUresult code = is_lost ? give_back_at_once(piece) : give_back(piece, nullptr);
    leave(scope);
    if (is_lost) {
        end_pool_with(owner);
    }
    return code;
}

/** Whether nobody asks its owner for memory again: the context was told lost. If it answers all the
 * same, calls that work in it have another record. */
bool is_of_lost(const Allocation &piece) {
    return piece.owner->is_lost.load(std::memory_order_relaxed);
}

/** For its owner, which asks for it again. */
bool is_kept_early(const Allocation &piece) {
    return is_early(piece) && is_room_for_early(*piece.owner, 0);
}

/** Whether streams may use it of which the free says nothing. */
bool is_to_be_parked(const Allocation &piece, CUstream stream) {
    return !names_its_context(stream) && !piece.in_graph &&
           piece.owner->has_streams.load(std::memory_order_relaxed);
}

/** Whether a freed piece stays here, and what for. Freed from elsewhere it is free after what its
 * context's default stream does. */
bool is_to_be_kept(const Call &call, bool is_here, Allocation *piece) {
    const CUstream stream = is_here ? call.stream() : nullptr;
    const bool is_parked = is_to_be_parked(*piece, stream);
    const bool capturing = stream && is_capturing(call.scope(), nullptr);
    const bool is_wanted =
        is_kept_early(*piece) ||
        (is_here && !capturing && calotype_can_reuse_device_allocations(call.scope().user_context));
    const bool is_used_again = is_wanted && !piece->in_graph;
    // Only what the graph itself allocated can be freed by it.
    const bool is_kept = is_parked || is_used_again || (capturing && !piece->in_graph);
    if (!is_kept || is_of_lost(*piece) ||
        (!is_here && !is_alive(piece->owner->context, piece->owner->uid))) {
        return false;
    }
    piece->stream_id = id_of(stream);
    piece->waits_for = is_parked       ? WaitsFor::all_work
                       : is_used_again ? WaitsFor::use
                                       : WaitsFor::end_of_capture;
    return true;
}

/** Not more than is to be parked in the context; while it is captured one of the next frees sees to
 * that. */
calotype_status limit_parked(const KnownContext &owner, bool is_here) {
    if (owner.parked_bytes.load(std::memory_order_relaxed) <= most_parked(owner) ||
        is_any_captured(owner)) {
        return CALOTYPE_OK;
    }
    DeviceScope scope = {};
    scope.context = owner.context;
    calotype_status status = is_here ? CALOTYPE_OK : enter(scope);
    if (status == CALOTYPE_OK) {
        status = status_of(give_back_after_work(take_kept_of(owner, is_parked)));
        if (!is_here) {
            leave(scope);
        }
    }
    if (status == CALOTYPE_E_CAPTURE) {  // which has begun meanwhile
        clear_failure();
        return CALOTYPE_OK;
    }
    return status;
}

}  // namespace

calotype_status allocate(const Call &call, size_t bytes, int64_t offset, CUdeviceptr *handle) {
    register_once();
    KnownContext &context = call.context();
    const bool capturing = call.stream() && is_capturing(call.scope(), nullptr);
    if (capturing && !context.device->has_pools) {
        set_failure("allocating without a memory pool cannot be captured: let the buffers have "
                    "their device allocations before");
        return CALOTYPE_E_CAPTURE;
    }
    if (!capturing && number(WaitsFor::end_of_capture).load(std::memory_order_relaxed) > 0) {
        give_back_kept(call, is_captured);
    }
    void *memory = malloc(sizeof(Allocation));
    if (!memory) {
        set_failure("out of host memory");
        return CALOTYPE_E_OOM;
    }
    const bool from_pool = is_for_pool(call, bytes, capturing);
    const bool reuse =
        !capturing && calotype_can_reuse_device_allocations(call.scope().user_context);
    const size_t size = from_pool && !reuse ? bytes : size_class(bytes);
    Allocation *piece = new (memory)
        Allocation{0, 0, size, &context, from_pool, capturing, WaitsFor::use, 0, nullptr};
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
    const KnownContext &owner = *piece->owner;
    const bool is_here = owner.uid == call.scope().context_uid;
    if (is_to_be_kept(call, is_here, piece)) {
        keep(piece);
        return limit_parked(owner, is_here);
    }
    const bool is_known_here = is_here && (piece->in_graph || !is_of_lost(*piece));
    const CUresult code =
        is_known_here ? give_back(*piece, call.stream()) : give_back_elsewhere(*piece);
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

calotype_status await_all_work(const Call &call) {
    const KnownContext &context = call.context();
    if (is_any_captured(context)) {
        set_failure("a stream of the context is being captured");
        return CALOTYPE_E_CAPTURE;
    }
    const bool is_early_over = context.early_bytes.load(std::memory_order_relaxed) != 0 &&
                               context.pool.load(std::memory_order_acquire) &&
                               !calotype_can_reuse_device_allocations(call.scope().user_context);
    return status_in(call.scope(), give_back_after_work(take_kept_of(
                                       context, is_early_over ? is_parked_or_early : is_parked)));
}

calotype_status release_unused(const Call &call) {
    if (is_any_captured(call)) {
        return status_of(give_back_kept(call, is_given_back_alone));
    }
    CUresult code = CUDA_SUCCESS;
    if (Allocation *list = take_kept_of(call.context(), any)) {
        code = give_back_after_work(list);
    }
    if (CUmemoryPool pool = call.context().pool.load(std::memory_order_acquire)) {
        driver().cuStreamSynchronize(call.stream());
        const CUresult trimmed = note_failure("cuMemPoolTrimTo", driver().cuMemPoolTrimTo(pool, 0));
        code = code ? code : trimmed;
    }
    return status_of(code);
}

bool end_memory(KnownContext &context) {
    Allocation *list = take_kept_of(context, any);
    while (Allocation *piece = list) {
        list = piece->next;
        give_back_late(*piece);
        forget(piece);
    }
    if (context.pieces.load(std::memory_order_acquire) != 0 || is_pool_in_the_making(context)) {
        return false;
    }
    destroy_pool(context);
    return true;
}

int live_allocations() {
    return live.load(std::memory_order_relaxed);
}

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
