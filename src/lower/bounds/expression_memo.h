// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ExpressionMemo: shared nodes of an expression are rewritten once, by a Mutator for which the same
// node may become another elsewhere.
#pragma once

#include <map>
#include <utility>

#include "ir/expr.h"

namespace calotype::internal {

/// What a Mutator has made of the nodes of the outermost expression that it is in; the next begins
/// anew. Where nodes become the same everywhere, a GraphMutator does without it.
class ExpressionMemo {
    using Results = std::map<std::pair<const ExprNode *, bool>, Expr>;
    Results done_;
    int depth_ = 0;

public:
    /// What rewrite() gives for e, or gave before for the same node and `variant`.
    template<typename Rewrite>
    Expr of(const Expr &e, bool variant, Rewrite rewrite) {
        if (depth_ == 0) {
            done_.clear();
        }
        const std::pair<const ExprNode *, bool> key(e.get(), variant);
        const auto known = done_.find(key);
        if (known != done_.end()) {
            return known->second;
        }
        depth_++;
        const Expr result = rewrite();
        depth_--;
        return done_[key] = result;
    }
    /// What body() rewrites has a memo of its own: names mean something else there.
    template<typename Body>
    auto apart(Body body) {
        Results outside;
        outside.swap(done_);
        auto result = body();
        outside.swap(done_);
        return result;
    }
};

}  // namespace calotype::internal
