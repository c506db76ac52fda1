// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What narrow_lanes and narrow_long_lanes share: what integers can be, and which code they look at.
#pragma once

#include <unordered_map>
#include <utility>

#include "arith/integer_info.h"
#include "ir/mutator.h"
#include "ir/with.h"

namespace calotype::internal {

/// Ranges of integers, each node's found once.
class ValueRanges {
public:
    const ConstantInterval &operator()(const Expr &e) {
        return info(e).range;
    }

private:
    const IntegerInfo &info(const Expr &e) {
        const auto found = known_.find(e.get());
        if (found != known_.end()) {
            return found->second.second;
        }
        const IntegerInfo result =
            info_of_operation(e, [this](const Expr &operand) { return info(operand); });
        return known_.emplace(e.get(), std::make_pair(e, result)).first->second.second;
    }

    std::unordered_map<const ExprNode *, std::pair<Expr, IntegerInfo>> known_;
};

/// Rewrites the values that host code stores as vectors: no indices, and nothing that is reduced or atomic.
class StoredLanesMutator : public GraphMutator {
protected:
    using GraphMutator::visit;

    Stmt visit(const For *op) override {
        return is_gpu(op->for_type) ? Stmt(op) : GraphMutator::visit(op);
    }
    Stmt visit(const Atomic *op) override {
        return op;
    }
    Stmt visit(const Store *op) override {
        return op->value.type().is_scalar() ? Stmt(op) : with(op, &Store::value, mutate(op->value));
    }
    Expr visit(const Load *op) override {
        return op;
    }
    Expr visit(const VectorReduce *op) override {
        return op;
    }
};

}  // namespace calotype::internal
