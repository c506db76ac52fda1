// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/vectors/reduce_rows.h"

#include <utility>
#include <vector>

#include "arith/simplify.h"
#include "ir/intrinsics.h"
#include "ir/language/match_types.h"
#include "ir/operators.h"
#include "lower/loops/atomic_update.h"

namespace calotype::internal {

namespace {

/// Rows of fewer bits are not worth an operation of their own.
constexpr int min_row_bits = 128;

/// One shuffle in place of a shuffle of a shuffle.
Expr composed(const Shuffle *op) {
    const Shuffle *inner = op->vectors.size() == 1 ? op->vectors[0].as<Shuffle>() : nullptr;
    if (!inner) {
        return op;
    }
    std::vector<int> indices;
    for (const int i : op->indices) {
        indices.push_back(inner->indices[size_t(i)]);
    }
    return Shuffle::make(inner->vectors, indices);
}

bool is_in_order(const Shuffle *op) {
    for (size_t i = 0; i < op->indices.size(); i++) {
        if (op->indices[i] != int(i)) {
            return false;
        }
    }
    return true;
}

/// Lanes that are neighbours in a vector, one run after the other; undefined if runs are short.
Expr concat_of_runs(const Expr &vector, const std::vector<int> &indices) {
    std::vector<Expr> runs;
    for (size_t begin = 0, end = 0; begin < indices.size(); begin = end) {
        while (end < indices.size() && indices[end] == indices[begin] + int(end - begin)) {
            end++;
        }
        const int lanes = int(end - begin);
        if (lanes * vector.type().bits() < min_row_bits) {
            return Expr();
        }
        runs.push_back(simplify(Shuffle::make_slice(vector, indices[begin], 1, lanes)));
    }
    return Shuffle::make_concat(runs);
}

/// By pairs.
Expr combine_all(VectorReduce::Operator op, std::vector<Expr> parts) {
    while (parts.size() > 1) {
        std::vector<Expr> next;
        for (size_t i = 0; i + 1 < parts.size(); i += 2) {
            next.push_back(combine(op, parts[i], parts[i + 1]));
        }
        if (parts.size() % 2 != 0) {
            next.push_back(parts.back());
        }
        parts = std::move(next);
    }
    return parts[0];
}

/// e in half of its bits, or undefined.
Expr narrow(const Expr &e) {
    return lossless_cast(e.type().with_bits(e.type().bits() / 2), e);
}

/// The lanes of a slice of a product of narrow factors, as such a product; undefined for others.
Expr slice_of_product(const Expr &e) {
    const Shuffle *slice = e.as<Shuffle>();
    const Mul *product = slice && slice->is_slice() ? slice->vectors[0].as<Mul>() : nullptr;
    if (!product || !e.type().is_int_or_uint() || e.type().bits() != 32) {
        return Expr();
    }
    const Expr a = narrow(product->a), b = narrow(product->b);
    if (!a.defined() || !b.defined()) {
        return Expr();
    }
    const auto part = [&](const Expr &factor) {
        return Cast::make(e.type(), simplify(Shuffle::make({factor}, slice->indices)));
    };
    return part(a) * part(b);
}

/// The reduction of a sum of rows of such products, each row by itself: machines add up neighbours
/// of products in the operation that multiplies. Undefined for others.
Expr reduce_products(const Expr &value, int lanes) {
    if (const Add *sum = value.as<Add>()) {
        const Expr a = reduce_products(sum->a, lanes);
        const Expr b = a.defined() ? reduce_products(sum->b, lanes) : Expr();
        return b.defined() ? a + b : Expr();
    }
    const Expr product = slice_of_product(value);
    return product.defined() ? VectorReduce::make(VectorReduce::Add, product, lanes) : Expr();
}

}  // namespace

Expr reduce_rows(VectorReduce::Operator op, const Expr &value, int lanes) {
    if (op == VectorReduce::Add && value.as<Add>()) {
        const Expr reduced = reduce_products(value, lanes);
        if (reduced.defined()) {
            return reduced;
        }
    }
    const Shuffle *shuffle = value.as<Shuffle>();
    const Expr order = shuffle ? composed(shuffle) : value;
    shuffle = order.as<Shuffle>();
    if (!shuffle || is_in_order(shuffle)) {
        return VectorReduce::make(op, order, lanes);
    }
    const Expr vector = Shuffle::make_concat(shuffle->vectors);
    const int factor = value.type().lanes() / lanes;
    std::vector<Expr> rows;
    for (int i = 0; i < factor; i++) {
        std::vector<int> row;
        for (int group = 0; group < lanes; group++) {
            row.push_back(shuffle->indices[size_t(group * factor + i)]);
        }
        rows.push_back(concat_of_runs(vector, row));
        if (!rows.back().defined()) {
            return VectorReduce::make(op, value, lanes);
        }
    }
    return combine_all(op, rows);
}

}  // namespace calotype::internal
