// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shuffles of vectors whose lanes are known.
#include <algorithm>

#include "arith/simplify/simplifier.h"
#include "ir/constants.h"

namespace calotype::internal {

namespace {

// True if the shuffle is its only vector unchanged.
bool is_identity(const std::vector<Expr> &vectors, const std::vector<int> &indices) {
    if (vectors.size() != 1 || int(indices.size()) != vectors[0].type().lanes()) {
        return false;
    }
    for (size_t i = 0; i < indices.size(); i++) {
        if (indices[i] != int(i)) {
            return false;
        }
    }
    return true;
}

bool in_progression(const std::vector<int> &indices) {
    for (size_t i = 2; i < indices.size(); i++) {
        if (indices[i] - indices[i - 1] != indices[1] - indices[0]) {
            return false;
        }
    }
    return true;
}

// The vector that all indices fall into, and the number of its first lane; null if there are
// several.
const Expr *only_source(const std::vector<Expr> &vectors, const std::vector<int> &indices,
                        int *first) {
    const auto [low, high] = std::minmax_element(indices.begin(), indices.end());
    int begin = 0;
    for (const Expr &v : vectors) {
        const int end = begin + v.type().lanes();
        if (begin <= *low && *high < end) {
            *first = begin;
            return &v;
        }
        begin = end;
    }
    return nullptr;
}

bool all_equal(const std::vector<int> &indices) {
    return std::all_of(indices.begin(), indices.end(), [&](int i) { return i == indices[0]; });
}

bool repeats_each(const std::vector<int> &indices, int lanes, int times) {
    bool result = times > 1 && int(indices.size()) == lanes * times;
    for (int i = 0; result && i < lanes * times; i++) {
        result = indices[size_t(i)] == i / times;
    }
    return result;
}

// The lanes that a shuffle of a repeated or shuffled vector takes of what is repeated or shuffled;
// empty where that would not be simpler.
std::vector<int> indices_inside(const Expr &vector, const std::vector<int> &indices) {
    const auto *repeated = vector.as<Broadcast>();
    const auto *shuffled = vector.as<Shuffle>();
    std::vector<int> inside;
    for (const int i : indices) {
        inside.push_back(repeated ? i % repeated->value.type().lanes()
                                  : (shuffled ? shuffled->indices[size_t(i)] : i));
    }
    const bool is_simple =
        all_equal(inside) || (inside[1] == inside[0] + 1 && in_progression(inside));
    return repeated || (shuffled && shuffled->vectors.size() == 1 && is_simple)
               ? inside
               : std::vector<int>();
}

}  // namespace

// Ramps one after the other, or lane by lane in turn, that make one ramp; undefined if they do not.
Expr Simplifier::join_ramps(const Shuffle *op, const std::vector<Expr> &vectors) {
    const bool in_turn = op->is_interleave();
    if (vectors.size() < 2 || !(in_turn || op->is_concat())) {
        return Expr();
    }
    const auto *first = vectors[0].as<Ramp>();
    const auto stride = first ? as_const_int(first->stride) : std::nullopt;
    if (!stride || !first->base.type().is_scalar()) {
        return Expr();
    }
    const int count = int(vectors.size()), lanes = first->lanes;
    if (in_turn && *stride % count != 0) {
        return Expr();
    }
    const int64_t step = in_turn ? *stride / count : *stride * lanes;
    for (int i = 1; i < count; i++) {
        const auto *next = vectors[i].as<Ramp>();
        if (!next || next->lanes != lanes || as_const_int(next->stride) != stride ||
            next->base.type() != first->base.type() ||
            as_const_int(sub(next->base, first->base)) != std::optional<int64_t>(step * i)) {
            return Expr();
        }
    }
    const Expr joined = in_turn ? make_const(first->base.type(), step) : first->stride;
    return ramp(first->base, joined, lanes * count);
}

Expr Simplifier::visit(const Shuffle *op) {
    const std::vector<Expr> vectors = mutate(op->vectors);
    const std::vector<int> &indices = op->indices;
    if (is_identity(vectors, indices)) {
        return vectors[0];
    }
    const int size = int(indices.size());
    if (vectors.size() == 1) {
        const auto *b = vectors[0].as<Broadcast>();
        if (b && b->value.type().is_scalar()) {
            return size == 1 ? b->value : broadcast(b->value, size);
        }
        const auto *r = vectors[0].as<Ramp>();
        if (r && r->base.type().is_scalar() && in_progression(indices)) {
            const Type t = r->base.type();
            const Expr base = add(r->base, mul(r->stride, make_const(t, indices[0])));
            const int step = size > 1 ? indices[1] - indices[0] : 0;
            return size == 1 ? base : ramp(base, mul(r->stride, make_const(t, step)), size);
        }
        // Each lane several times is a step of a ramp of vectors, to which more may be added.
        const int times = r ? size / r->lanes : 0;
        if (r && r->base.type().is_scalar() && repeats_each(indices, r->lanes, times)) {
            return mutate(Ramp::make(Broadcast::make(r->base, times),
                                     Broadcast::make(r->stride, times), r->lanes));
        }
    }
    if (const auto inside =
            vectors.size() == 1 ? indices_inside(vectors[0], indices) : std::vector<int>();
        !inside.empty()) {
        const auto *repeated = vectors[0].as<Broadcast>();
        const Expr source = repeated ? repeated->value : vectors[0].as<Shuffle>()->vectors[0];
        return size > 1 && all_equal(inside)
                   ? broadcast(mutate(Shuffle::make({source}, {inside[0]})), size)
                   : mutate(Shuffle::make({source}, inside));
    }
    int first = 0;
    const auto *parts = vectors.size() == 1 ? vectors[0].as<Shuffle>() : nullptr;
    if (parts && parts->is_concat() && only_source(parts->vectors, indices, &first)) {
        return mutate(Shuffle::make(parts->vectors, indices));
    }
    if (const Expr *source = only_source(vectors, indices, &first); source && vectors.size() > 1) {
        std::vector<int> shifted = indices;
        for (int &i : shifted) {
            i -= first;
        }
        return mutate(Shuffle::make({*source}, shifted));
    }
    if (Expr joined = join_ramps(op, vectors); joined.defined()) {
        return joined;
    }
    const bool changed = !std::equal(vectors.begin(), vectors.end(), op->vectors.begin(),
                                     [](const Expr &a, const Expr &b) { return a.same_as(b); });
    return changed ? Shuffle::make(vectors, indices) : Expr(op);
}

}  // namespace calotype::internal
