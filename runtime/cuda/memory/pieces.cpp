// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/memory/pieces.h"

#include <stdlib.h>

#include "runtime/cuda/memory/memory.h"

namespace calotype {
namespace runtime {
namespace cuda {

namespace {

struct Stripe {
    Mutex lock;
    Piece *first = nullptr;
};
constexpr int n_stripes = 64;
constinit Stripe stripes[n_stripes];
constinit std::atomic<int> live{0};

Stripe &stripe_of(CUdeviceptr handle) {
    return stripes[(handle >> 8 ^ handle >> 16) % n_stripes];
}

/** The owner of a piece of the stripe; null if there is none such. */
template<typename Choice>
ContextInfo *owner_in(Stripe &stripe, Choice is_wanted) {
    LockGuard lock(stripe.lock);
    Piece *piece = stripe.first;
    while (piece && !is_wanted(*piece)) {
        piece = piece->next;
    }
    return piece ? piece->owner : nullptr;
}

}  // namespace

constinit FreedPieces kept, deferred;

void remember(Piece *piece) {
    Stripe &stripe = stripe_of(piece->handle);
    LockGuard lock(stripe.lock);
    piece->next = stripe.first;
    stripe.first = piece;
    live.fetch_add(1, std::memory_order_relaxed);
}

Piece *take(CUdeviceptr handle) {
    Stripe &stripe = stripe_of(handle);
    LockGuard lock(stripe.lock);
    for (Piece **link = &stripe.first; *link; link = &(*link)->next) {
        Piece *piece = *link;
        if (piece->handle == handle) {
            *link = piece->next;
            live.fetch_sub(1, std::memory_order_relaxed);
            return piece;
        }
    }
    return nullptr;
}

void forget(Piece *piece) {
    piece->owner->pieces.fetch_sub(1, std::memory_order_release);
    free(piece);
}

ContextInfo *owner_of(CUdeviceptr handle) {
    return owner_in(stripe_of(handle), [=](const Piece &p) { return p.handle == handle; });
}

ContextInfo *owner_of_part(CUdeviceptr address) {
    ContextInfo *owner = owner_of(address);
    for (int i = 0; i < n_stripes && !owner; i++) {
        owner = owner_in(stripes[i], [=](const Piece &p) { return address - p.base < p.bytes; });
    }
    return owner;
}

int live_allocations() {
    return live.load(std::memory_order_relaxed);
}

uint64_t id_of(CUstream stream) {
    unsigned long long id = reinterpret_cast<uintptr_t>(stream);
    if (stream && driver().cuStreamGetId) {
        driver().cuStreamGetId(stream, &id);
    }
    return id;
}

size_t size_class(size_t bytes) {
    size_t step = 512;
    while (step * 8 < bytes && step < (size_t(1) << 58)) {
        step *= 2;
    }
    return (bytes + step - 1) / step * step;
}

Piece *take_kept(const ContextInfo &owner, size_t bytes, CUstream stream, const Allocator *from) {
    if (kept.count.load(std::memory_order_relaxed) == 0) {
        return nullptr;
    }
    const size_t most = size_class(bytes);
    const uint64_t stream_id = id_of(stream);
    LockGuard lock(kept.lock);
    Piece **lowest = nullptr;
    for (Piece **link = &kept.first; *link; link = &(*link)->next) {
        const Piece &piece = **link;
        const bool fits = piece.owner == &owner && piece.from == from && piece.bytes >= bytes &&
                          piece.bytes <= most && piece.stream_id == stream_id;
        if (fits && (!lowest || piece.base < (*lowest)->base)) {
            lowest = link;
        }
    }
    return lowest ? kept.unlink(lowest) : nullptr;
}

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
