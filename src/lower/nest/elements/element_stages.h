// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stages of a single element, which a loop around them computes one by one. Helper of skip_stages.
#pragma once

#include <string>
#include <vector>

#include "ir/stmt_nodes.h"
#include "lower/let_scope.h"

namespace calotype::internal {

/// The code around a place: lets with what they stand for, and the innermost loop of more than one iteration.
class ElementLoop {
public:
    void enter(const LetStmt *op);
    void leave(const LetStmt *op);
    void enter(const For *op);
    void leave(const For *op);

    /// Whether `func` is better computed for each element than only where `condition` holds: its production in `body`
    /// is one element, takes few operations and reads nothing whose place depends on data, and the condition asks data
    /// of the element itself. LLVM then makes vectors of the loop, in which a load under a condition is in the way: it
    /// does not know that the element is there in any case.
    bool is_better_without(const Expr &condition, const std::string &func, const Stmt &body) const;

private:
    /// It is another one in each iteration of the innermost loop, and depends on values in memory.
    bool asks_data_of_element(const Expr &condition) const;

    LetScope lets_;
    /// Names of innermost loops, and of the lets inside of each.
    std::vector<std::vector<std::string>> loops_;
};

}  // namespace calotype::internal
