// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How device memory works:
//
// 1. Memory comes from one allocator, the built-in one (device_pool.cpp) or the application's, in the
//    order of the stream of the call that allocates. A piece remembers which.
// 2. It goes back to it in the order of the stream of the call that frees. A call that names none,
//    in a context where calls have named some, frees on a stream of the runtime's that waits for
//    all that was queued in the context before.
// 3. With calotype_reuse_device_allocations() a piece that is freed on a stream is kept for the
//    next allocation of its size there: 100 ns in place of a microsecond, and a graph that is
//    replayed finds its buffers where they were. Where nobody has said whether to, a few pieces of
//    the built-in allocator's are kept in the runtime's own contexts, for what pipelines allocate
//    in each call.
// 4. While a capture forbids to free, and where a free does not name the context of the application
//    that a piece is in, pieces are deferred to the next call for memory there.
// 5. When memory runs out, idle modules of all contexts of the device and what is kept there are
//    given back, and the allocator is asked once more.
#include "runtime/cuda/memory/memory.h"

#include <initializer_list>
#include <new>
#include <stdlib.h>

#include "runtime/abi/device_interface.h"
#include "runtime/abi/device_memory.h"
#include "runtime/abi/runtime_cuda.h"
#include "runtime/cuda/captures.h"
#include "runtime/cuda/context_table.h"
#include "runtime/cuda/kernels.h"
#include "runtime/cuda/memory/allocators.h"
#include "runtime/cuda/memory/pieces.h"
#include "runtime/device/device_options.h"
#include "runtime/device/failure.h"
#include "runtime/device/host_allocation.h"
#include "runtime/host/data/atomic_flag.h"

namespace calotype::runtime::cuda {

namespace {

// ---- giving back -----------------------------------------------------------------------------

/** To the allocator, in the order of the stream; the owner's context is current. */
calotype_status give_back(Piece *piece, CUstream stream, void *user_context) {
    const calotype_device_place place = {sizeof place, piece->device(),
                                         piece->owner->handle.load(std::memory_order_relaxed),
                                         stream, user_context};
    const calotype_status status = call_free(*piece->from, place, piece->base, piece->bytes);
    forget(piece);
    return status;
}

/** The context of the piece has ended, and all its work with it. The driver may have, too, so a
 * failure is not told. */
void give_back_late(Piece *piece) {
    const FailureScope ignored;
    const calotype_device_place place = {sizeof place, piece->device(), nullptr, nullptr, nullptr};
    if (!piece->in_graph) {
        call_free(*piece->from, place, piece->base, piece->bytes);
    }
    forget(piece);
}

/** Frees are not urgent: where a capture may go on they wait for the next call for memory. */
calotype_status stream_of_late_frees(ContextInfo &owner, CUstream *stream) {
    return owner.may_be_captured.load(std::memory_order_relaxed)
               ? CALOTYPE_E_CAPTURE
               : stream_after_all_work(owner, stream);
}

/** What is freed without a stream in that context. */
calotype_status give_back_after_all(Piece *pieces, ContextInfo &owner) {
    calotype_status first = CALOTYPE_OK;
    if (!pieces) {
        return first;
    }
    FailureScope failures;
    const ContextUse use(owner);
    while (Piece *piece = pop(pieces)) {
        CUstream stream = nullptr;
        calotype_status status =
            use.is_entered ? stream_of_late_frees(owner, &stream) : CALOTYPE_E_CONTEXT_LOST;
        if (status == CALOTYPE_E_CAPTURE) {
            deferred.add(piece);
            status = CALOTYPE_OK;
        } else if (status == CALOTYPE_OK) {
            status = give_back(piece, stream, nullptr);
        } else {
            give_back_late(piece);
        }
        first = first ? first : status;
    }
    if (!use.is_entered) {
        return CALOTYPE_OK;  // it has ended, and nobody is told of that
    }
    if (first != CALOTYPE_OK) {
        failures.pass_on();
    }
    return first;
}

calotype_status give_back_one(Piece *piece) {
    piece->next = nullptr;
    return give_back_after_all(piece, *piece->owner);
}

/** Each piece of a list in the order of its own context. */
void give_back_each(Piece *pieces) {
    while (Piece *piece = pop(pieces)) {
        give_back_one(piece);
    }
}

calotype_status give_back_deferred(ContextInfo &owner) {
    return give_back_after_all(deferred.take_all(owner), owner);
}

/** A free by a call that does not name the context of the piece. The driver is not given a context
 * of the application's that nobody has named, as it may have been destroyed without a word: there
 * the piece goes with the next call for memory that names it. */
calotype_status free_elsewhere(Piece *piece) {
    ContextInfo &owner = *piece->owner;
    if (is_own(owner)) {
        return give_back_one(piece);
    }
    owner.users.fetch_add(1, std::memory_order_seq_cst);  // it does not end meanwhile
    if (owner.uid.load(std::memory_order_seq_cst) != 0) {
        deferred.add(piece);
        end_use(owner);
    } else {
        end_use(owner);
        give_back_late(piece);
    }
    return CALOTYPE_OK;
}

/** Also under another identity: a call may name a context while its former one is ending. */
bool is_same_context(const ContextInfo &a, const ContextInfo &b) {
    return &a == &b ||
           (a.handle.load(std::memory_order_relaxed) == b.handle.load(std::memory_order_relaxed) &&
            a.number.load(std::memory_order_relaxed) != 0 &&
            a.number.load(std::memory_order_relaxed) == b.number.load(std::memory_order_relaxed));
}

void adopt(Piece *piece, ContextInfo &owner) {
    owner.pieces.fetch_add(1, std::memory_order_relaxed);
    piece->owner->pieces.fetch_sub(1, std::memory_order_release);
    piece->owner = &owner;
}

/** So that calotype_reuse_device_allocations() finds what is kept. */
void register_once() {
    static constinit AtomicFlag is_registered{false};
    static constinit calotype_device_allocation_pool pool = {
        calotype_cuda_release_unused_device_allocations, nullptr};
    if (!is_registered.load(std::memory_order_relaxed) && !is_registered.exchange(true)) {
        calotype_register_device_allocation_pool(&pool);
    }
}

/** Whether pieces are kept there although nobody has said so. */
bool is_kept_by_default(const ContextInfo &owner, const Allocator *from) {
    return is_reuse_unsaid() && from == &device_pool && is_own(owner);
}

/** Sizes that are not asked for any more make room for others. */
void limit_kept_by_default() {
    constexpr int most_pieces = 64;
    if (kept.count.load(std::memory_order_relaxed) >= most_pieces) {
        release_all_kept();
    }
}

/** Whether the next allocation there is to find the piece. */
bool keep_for_reuse(const DeviceScope &scope, CUstream stream, Piece *piece) {
    const int device = piece->device();
    const bool is_ordered =
        names_its_context(stream) || !piece->owner->has_streams.load(std::memory_order_relaxed);
    const bool by_default = is_kept_by_default(*piece->owner, piece->from);
    const uint64_t most = release_threshold(*piece->owner->device) / (by_default ? 8 : 1);
    if (!is_ordered || piece->in_graph ||
        !(by_default || calotype_can_reuse_device_allocations(scope.user_context)) ||
        piece->bytes > most ||
        kept.bytes[device].load(std::memory_order_relaxed) > most - piece->bytes) {
        return false;
    }
    if (by_default) {
        limit_kept_by_default();
    }
    register_once();
    piece->stream_id = id_of(stream);
    kept.add(piece);
    return true;
}

/** A free by a call in the context of the piece. */
calotype_status free_here(const DeviceScope &scope, Piece *piece) {
    const CUstream stream = static_cast<CUstream>(scope.stream);
    if (stream && is_capturing(scope, nullptr)) {
        if (piece->in_graph) {
            return give_back(piece, stream, scope.user_context);
        }
        deferred.add(piece);  // only what the graph itself allocated can be freed by it
        return CALOTYPE_OK;
    }
    if (deferred.count.load(std::memory_order_relaxed) > 0) {
        give_back_deferred(*piece->owner);
    }
    if (keep_for_reuse(scope, stream, piece)) {
        return CALOTYPE_OK;
    }
    if (!names_its_context(stream)) {
        return give_back_one(piece);
    }
    calotype_status status = enter(scope);
    if (status != CALOTYPE_OK) {
        give_back_late(piece);
        return status;
    }
    status = give_back(piece, stream, scope.user_context);
    leave(scope);
    return status;
}

// ---- room ------------------------------------------------------------------------------------

/** Everything that is idle on the device goes, and pending frees are done. */
void make_room(const Call &call) {
    const FailureScope ignored;
    const int device = call.context().device->device;
    trim_device(kernel_backend, device, call.scope());
    give_back_each(kept.take_all(device));
    give_back_each(deferred.take_all(device));
    if (!is_any_captured(call.context()) && !is_capturing(call.scope(), nullptr)) {
        driver().cuCtxSynchronize();
    }
    call_trim(device, 0);
}

/** Whether so many bytes more are within the limit. */
bool is_within_limit(int device, size_t bytes) {
    const uint64_t limit = device_memory[device].limit.load(std::memory_order_relaxed);
    if (limit == 0) {
        return true;
    }
    const uint64_t in_use = device_memory[device].in_use.load(std::memory_order_relaxed) +
                            kept.bytes[device].load(std::memory_order_relaxed) +
                            deferred.bytes[device].load(std::memory_order_relaxed);
    if (bytes > limit || in_use > limit - bytes) {
        return false;
    }
    if (kept_by_allocators(device) > limit - bytes - in_use) {
        call_trim(device, limit - bytes - in_use);
    }
    return true;
}

void note_limit(int device) {
    set_failure(Text() << device_memory[device].in_use.load(std::memory_order_relaxed)
                       << " bytes are in use, and the limit is "
                       << device_memory[device].limit.load(std::memory_order_relaxed));
}

void note_no_memory(const DeviceScope &scope, size_t bytes) {
    size_t available = 0, total = 0;
    Text text;
    text << "no " << uint64_t(bytes) << " bytes on CUDA device " << scope.device;
    if (failure_text()[0]) {
        text << ": " << failure_text();
    }
    if (driver().cuMemGetInfo(&available, &total) == CUDA_SUCCESS) {
        text << "; " << uint64_t(available) << " of " << uint64_t(total) << " bytes are free";
    }
    replace_failure(text);
}

calotype_status allocate_once(const Call &call, Piece *piece) {
    const DeviceScope &scope = call.scope();
    if (Piece *old = piece->in_graph
                         ? nullptr
                         : take_kept(*piece->owner, piece->bytes, call.stream(), piece->from)) {
        piece->base = old->base;
        piece->bytes = old->bytes;
        forget(old);
        return CALOTYPE_OK;
    }
    if (!is_within_limit(scope.device, piece->bytes)) {
        note_limit(scope.device);
        return CALOTYPE_E_OOM;
    }
    const calotype_device_place place = {sizeof place, scope.device, scope.context, scope.stream,
                                         scope.user_context};
    return call_allocate(*piece->from, place, piece->bytes, &piece->base);
}

calotype_status allocate_piece(const Call &call, Piece *piece) {
    calotype_status status = allocate_once(call, piece);
    if (status == CALOTYPE_E_OOM && !piece->in_graph) {
        take_failure();
        make_room(call);
        device_memory[call.scope().device].retries.fetch_add(1, std::memory_order_relaxed);
        status = allocate_once(call, piece);
    }
    return status;
}

Piece *new_piece(ContextInfo &owner, size_t bytes, bool in_graph) {
    void *memory = malloc(sizeof(Piece));
    if (!memory) {
        return fail_with(nullptr, "out of host memory");
    }
    owner.pieces.fetch_add(1, std::memory_order_relaxed);
    return new (memory) Piece{0, 0, bytes, &owner, current_allocator(), in_graph, 0, nullptr};
}

}  // namespace

calotype_status allocate(const Call &call, size_t bytes, int64_t offset, CUdeviceptr *handle) {
    ContextInfo &context = call.context();
    const bool capturing = call.stream() && is_capturing(call.scope(), nullptr);
    if (capturing && !context.device->has_pools) {
        return fail_with(
            CALOTYPE_E_CAPTURE,
            "allocating without a memory pool cannot be captured: let the buffers have "
            "their device allocations before");
    }
    context.may_be_captured.store(capturing, std::memory_order_relaxed);
    if (!capturing && deferred.count.load(std::memory_order_relaxed) > 0) {
        give_back_deferred(context);
    }
    const bool reuse =
        !capturing && calotype_can_reuse_device_allocations(call.scope().user_context);
    Piece *piece = new_piece(context, reuse ? size_class(bytes) : bytes, capturing);
    if (!piece) {
        return CALOTYPE_E_OOM;
    }
    const calotype_status status = allocate_piece(call, piece);
    if (status != CALOTYPE_OK) {
        forget(piece);
        note_no_memory(call.scope(), bytes);
        return status;
    }
    piece->handle = *handle = piece->base + uint64_t(offset);
    device_memory[piece->device()].note_allocation(piece->bytes);
    remember(piece);
    return CALOTYPE_OK;
}

calotype_status deallocate(void *user_context, CUdeviceptr handle) {
    Piece *piece = take(handle);
    if (!piece) {
        return fail_with(CALOTYPE_E_INVALID,
                         "the device pointer is not one that the runtime allocated");
    }
    device_memory[piece->device()].note_free(piece->bytes);
    DeviceScope scope;
    if (!acquire_existing(user_context, &scope)) {
        return free_elsewhere(piece);
    }
    const bool is_here = is_same_context(context_info(scope), *piece->owner);
    if (is_here) {
        adopt(piece, context_info(scope));
    }
    const calotype_status status = is_here ? free_here(scope, piece) : free_elsewhere(piece);
    release(scope);
    return status;
}

bool reuse_memory(const DeviceScope &scope, uint64_t freed, const calotype_buffer_t &buf,
                  uint64_t *handle) {
    Piece *piece = take(freed);
    if (!piece) {
        return false;
    }
    const size_t bytes = bytes_to_allocate(buf);
    // Not much larger, or little buffers would keep large pieces from large ones.
    const bool fits = piece->owner == scope.extra && bytes <= piece->bytes &&
                      piece->bytes / 2 <= size_class(bytes);
    if (fits) {
        piece->handle = *handle = piece->base + uint64_t(bytes_before_origin(buf));
    }
    remember(piece);
    return fits;
}

calotype_status await_all_work(const Call &call) {
    if (is_any_captured(call.context())) {
        return fail_with(CALOTYPE_E_CAPTURE, "a stream of the context is being captured");
    }
    const CUresult code = invoke(&Driver::cuCtxSynchronize);
    call.context().may_be_captured.store(false, std::memory_order_relaxed);
    return code == CUDA_SUCCESS ? give_back_deferred(call.context()) : status_of(code);
}

void release_all_kept() {
    Piece *pieces = kept.take_all([](const Piece &) { return true; });
    while (Piece *piece = pop(pieces)) {
        free_elsewhere(piece);
    }
}

calotype_status release_unused(const Call &call) {
    ContextInfo &context = call.context();
    calotype_status status = CALOTYPE_OK;
    release_all_kept();
    if (!is_any_captured(context) && !is_capturing(call.scope(), nullptr)) {
        context.may_be_captured.store(false, std::memory_order_relaxed);
        status = give_back_deferred(context);
        driver().cuStreamSynchronize(call.stream());
        if (CUstream stream = context.ordered_stream.load(std::memory_order_acquire)) {
            driver().cuStreamSynchronize(stream);
        }
    }
    call_trim(context.device->device, 0);
    return status;
}

void end_context(uint64_t context_uid, bool has_driver) {
    const FailureScope ignored;
    ContextInfo *info = find_by_uid(context_uid);
    if (!info) {
        return;
    }
    DeviceScope scope = {};
    scope.context = info->handle.load(std::memory_order_relaxed);
    info->is_ending.store(true, std::memory_order_seq_cst);
    info->uid.store(0, std::memory_order_seq_cst);
    await_users(*info);
    has_driver = has_driver && enter(scope) == CALOTYPE_OK;
    if (has_driver && info->pieces.load(std::memory_order_acquire) > 0) {
        driver().cuCtxSynchronize();  // nobody orders frees after its work from now on
    }
    for (FreedPieces *list : {&kept, &deferred}) {
        Piece *pieces = list->take_all(*info);
        while (Piece *piece = pop(pieces)) {
            if (has_driver) {
                give_back(piece, nullptr, nullptr);
            } else {
                give_back_late(piece);
            }
        }
    }
    end_ordered_stream(*info, has_driver);
    if (has_driver) {
        leave(scope);
    }
    info->is_ending.store(false, std::memory_order_release);
}

void add_memory_stats(int32_t device, calotype_memory_stats *stats) {
    for (int i = device < 0 ? 0 : device; i < (device < 0 ? max_devices : device + 1); i++) {
        const DeviceMemory &d = device_memory[i];
        stats->pieces += d.pieces.load(std::memory_order_relaxed);
        stats->in_use += d.in_use.load(std::memory_order_relaxed);
        stats->kept += kept_by_allocators(i) + kept.bytes[i].load(std::memory_order_relaxed);
        stats->peak += d.peak.load(std::memory_order_relaxed);
        stats->allocations += d.allocations.load(std::memory_order_relaxed);
        stats->frees += d.frees.load(std::memory_order_relaxed);
        stats->retries += d.retries.load(std::memory_order_relaxed);
        stats->deferred += deferred.bytes[i].load(std::memory_order_relaxed);
    }
}

}  // namespace calotype::runtime::cuda
