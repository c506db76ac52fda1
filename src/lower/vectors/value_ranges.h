// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ValueRanges: what integers can be. Helper of narrow_lanes and narrow_long_lanes.
#pragma once

#include <unordered_map>
#include <utility>

#include "arith/integer_info.h"
#include "ir/expr.h"

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

}  // namespace calotype::internal
