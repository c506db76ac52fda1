// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/memory/pieces.h"

#include <stdlib.h>

#include "runtime/cuda/memory/memory.h"

namespace calotype::runtime::cuda {

namespace {

struct Stripe {
    Mutex lock;
    Piece *first = nullptr;
};
constexpr int n_stripes = 64;
constinit Stripe stripes[n_stripes];

Stripe &stripe_of(CUdeviceptr handle) {
    return stripes[(handle >> 8 ^ handle >> 16) % n_stripes];
}

/** The owner of a piece of the stripe; null if there is none such. */
template<typename Choice>
ContextInfo *owner_in(Stripe &stripe, Choice is_wanted) {
    LockGuard lock(stripe.lock);
    const Piece *piece = find_in(stripe.first, is_wanted);
    return piece ? piece->owner : nullptr;
}

}  // namespace

constinit FreedPieces kept, deferred;

void remember(Piece *piece) {
    Stripe &stripe = stripe_of(piece->handle);
    LockGuard lock(stripe.lock);
    push(stripe.first, piece);
}

Piece *take(CUdeviceptr handle) {
    Stripe &stripe = stripe_of(handle);
    LockGuard lock(stripe.lock);
    return take_first(stripe.first, [=](const Piece &piece) { return piece.handle == handle; });
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
    const Piece *lowest = nullptr;
    for (const Piece *piece = kept.first; piece; piece = piece->next) {
        const bool fits = piece->owner == &owner && piece->from == from && piece->bytes >= bytes &&
                          piece->bytes <= most && piece->stream_id == stream_id;
        lowest = fits && (!lowest || piece->base < lowest->base) ? piece : lowest;
    }
    if (!lowest) {
        return nullptr;
    }
    kept.uncount(*lowest);
    return take_first(kept.first, [=](const Piece &piece) { return &piece == lowest; });
}

}  // namespace calotype::runtime::cuda
