// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pieces of device memory: those that buffers use, found by their address, and those that were
// freed but are not the allocator's yet.
#pragma once

#include "runtime/cuda/memory/allocators.h"
#include "runtime/host/data/list.h"

namespace calotype::runtime::cuda {

/** On the heap of malloc; counted by its owner. */
struct Piece {
    CUdeviceptr handle;
    CUdeviceptr base;
    size_t bytes;
    ContextInfo *owner;
    const Allocator *from;
    bool in_graph;       ///< allocated by a node of a graph that was being captured
    uint64_t stream_id;  ///< of one that is kept: where it was freed
    Piece *next;

    int device() const {
        return owner->device->device;
    }
};

/** It is in use from now on. */
void remember(Piece *piece);
/** Not any more; null if none that is in use has that handle. */
Piece *take(CUdeviceptr handle);
/** The end of the record; its memory is the allocator's. */
void forget(Piece *piece);
/** Up by less than an eighth, so that sizes which differ a little share pieces. */
size_t size_class(size_t bytes);
/** Not used again, other than the handle, where the driver gives one. */
uint64_t id_of(CUstream stream);

/** Some pieces that were freed, and how many bytes they have. */
struct FreedPieces {
    Mutex lock;
    Piece *first = nullptr;
    std::atomic<uint64_t> bytes[max_devices] = {};
    std::atomic<int> count{0};

    void add(Piece *piece) {
        LockGuard guard(lock);
        push(first, piece);
        bytes[piece->device()].fetch_add(piece->bytes, std::memory_order_relaxed);
        count.fetch_add(1, std::memory_order_relaxed);
    }
    /** One that was taken out of the list. */
    void uncount(const Piece &piece) {
        bytes[piece.device()].fetch_sub(piece.bytes, std::memory_order_relaxed);
        count.fetch_sub(1, std::memory_order_relaxed);
    }
    /** All pieces of a context, or of a device, out of the list. */
    Piece *take_all(const ContextInfo &owner) {
        return take_all([&](const Piece &piece) { return piece.owner == &owner; });
    }
    Piece *take_all(int device) {
        return take_all([=](const Piece &piece) { return piece.device() == device; });
    }
    template<typename Choice>
    Piece *take_all(Choice is_chosen) {
        if (count.load(std::memory_order_relaxed) == 0) {
            return nullptr;
        }
        LockGuard guard(lock);
        Piece *taken = runtime::take_all(first, is_chosen);
        for (const Piece *piece = taken; piece; piece = piece->next) {
            uncount(*piece);
        }
        return taken;
    }
};
/** For the next allocation of their size, and until the driver may be called for them. */
extern constinit FreedPieces kept, deferred;

/** A kept piece for so many bytes that was last used on the stream, or null: that of the lowest
 * address, so that a pipeline which is called again has the same ones in the same places. */
Piece *take_kept(const ContextInfo &owner, size_t bytes, CUstream stream, const Allocator *from);

}  // namespace calotype::runtime::cuda
