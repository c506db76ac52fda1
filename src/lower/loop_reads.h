// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a loop reads and none of its iterations changes.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// Reads that give the same in all iterations of a loop, for functions that take long.
class LoopReads {
public:
    explicit LoopReads(const For *loop);

    /// Each iteration computes a function of such reads, and they may stand in front of the loop if it runs at all:
    /// nothing in it has effects but its stores.
    bool feed_functions() const {
        return feed_functions_;
    }
    /// Nothing in the loop has effects but its stores.
    bool stores_are_all() const {
        return stores_are_all_;
    }
    /// Storage that the loop neither has of its own nor writes.
    bool is_unwritten(const std::string &buffer) const {
        return !written_.count(buffer) && !bound_.count(buffer);
    }
    /// What e reads may be read in front of the loop, as far as its place does not depend on the iteration: single
    /// elements of inputs, which no iteration writes.
    bool are_of_inputs(const Expr &e) const;

private:
    std::set<std::string> bound_;    ///< names whose meaning the loop gives
    std::set<std::string> written_;  ///< buffers
    bool stores_are_all_ = false;
    bool feed_functions_ = false;
};

/// Whether a condition says something of more than the names that is_own accepts, what it reads left out. Bounds inference
/// may have taken that for granted of what is read under the condition.
bool says_more(const Expr &condition, const std::function<bool(const std::string &)> &is_own);

}  // namespace calotype::internal
