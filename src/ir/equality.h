// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Structural equality, order and hash of IR. Symbols and identity do not count: only what the
// printer shows.
#pragma once

#include <cstdint>

#include "ir/expr.h"

namespace calotype::internal {

/// Same structure; cost is linear in the DAG for graph-shaped input.
bool equal(const Expr &a, const Expr &b);
bool equal(const Stmt &a, const Stmt &b);
/// A total order consistent with equal(): -1, 0, 1.
int compare(const Expr &a, const Expr &b);
int compare(const Stmt &a, const Stmt &b);
/// Equal IR has equal hashes; the value is stable across processes.
uint64_t hash(const Expr &e);
uint64_t hash(const Stmt &s);
/// Of the operands of e down to so many levels, kinds and names alone: takes a time that does not grow with e.
uint64_t shallow_hash(const Expr &e, int levels);

/// Orders by structure, for std::map and std::set.
struct ExprDeepLess {
    bool operator()(const Expr &a, const Expr &b) const {
        return compare(a, b) < 0;
    }
};

}  // namespace calotype::internal
