// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/vectors/bit_lanes.h"

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/operators.h"
#include "lower/vectors/strided_index.h"

namespace calotype::internal {

Expr bits_in_turn(const Call *extract_bits, const Expr &value, const std::vector<int64_t> &begins) {
    const Shuffle *repeated = value.as<Shuffle>();
    const int bits = extract_bits->type.bits(), parts = value.type().bits() / bits;
    const int lanes = extract_bits->type.lanes();
    if (!repeated || repeated->vectors.size() != 1 || parts < 2 ||
        repeated->vectors[0].type().lanes() * parts != lanes || int(begins.size()) != lanes) {
        return Expr();
    }
    for (int i = 0; i < lanes; i++) {
        if (repeated->indices[size_t(i)] != i / parts || begins[size_t(i)] != i % parts * bits) {
            return Expr();
        }
    }
    return Reinterpret::make(extract_bits->type, repeated->vectors[0]);
}

namespace {

/// One load of scalars that are neighbours; undefined if they are none.
Expr joined_loads(const Call *concat_bits, const std::vector<Expr> &parts) {
    const Load *first = parts[0].as<Load>();
    const int count = int(parts.size());
    if (!first || !concat_bits->type.is_scalar() || count < 2) {
        return Expr();
    }
    for (int i = 0; i < count; i++) {
        const Load *part = parts[size_t(i)].as<Load>();
        if (!part || part->name != first->name || !is_always(part->predicate) ||
            !is_const(simplify(part->index - first->index), i)) {
            return Expr();
        }
    }
    return Reinterpret::make(concat_bits->type,
                             Load::make(first->type.with_lanes(count), first->name,
                                        dense_index(first->index, 0, count), const_true(count),
                                        Alignment(), first->symbol, first->is_streaming));
}

}  // namespace

Expr joined_neighbours(const Call *concat_bits, const std::vector<Expr> &parts, bool in_kernel) {
    const Expr loaded = in_kernel ? Expr() : joined_loads(concat_bits, parts);
    if (loaded.defined()) {
        return loaded;
    }
    const int count = int(parts.size()), lanes = concat_bits->type.lanes();
    const Shuffle *first = parts[0].as<Shuffle>();
    if (!first || lanes < 2 || first->vectors[0].type().lanes() != count * lanes) {
        return Expr();
    }
    for (int i = 0; i < count; i++) {
        const Shuffle *part = parts[size_t(i)].as<Shuffle>();
        if (!part || !part->is_slice() || part->slice_begin() != i ||
            part->slice_stride() != count || !equal(part->vectors[0], first->vectors[0])) {
            return Expr();
        }
    }
    return Reinterpret::make(concat_bits->type, first->vectors[0]);
}

}  // namespace calotype::internal
