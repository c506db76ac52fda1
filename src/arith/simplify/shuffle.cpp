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

}  // namespace

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
    }
    const bool changed = !std::equal(vectors.begin(), vectors.end(), op->vectors.begin(),
                                     [](const Expr &a, const Expr &b) { return a.same_as(b); });
    return changed ? Shuffle::make(vectors, indices) : Expr(op);
}

}  // namespace calotype::internal
