// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helper of slide_windows and fold_storage: how much there is to an expression.
#pragma once

#include "ir/visitor.h"

namespace calotype::internal {

/// Ends of windows that are looked into. Along a chain of windows whose ends are minima and maxima
/// of the ends of those before, they double from one to the next.
constexpr int largest_end = 500;

/// True if the expression, written as a tree, has no more nodes. Takes no longer than these do.
inline bool has_at_most(int nodes, const Expr &e) {
    struct Count : Visitor {
        using Visitor::operator();
        void operator()(const Expr &e) override {
            if (left > 0 && e.defined()) {
                left--;
                Visitor::operator()(e);
            }
        }
        int left = 0;
    } count;
    count.left = nodes + 1;
    count(e);
    return count.left > 0;
}

}  // namespace calotype::internal
