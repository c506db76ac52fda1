// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uniformity analysis: whether all threads of a block have the same value. Helper of the passes on
// kernels.
#pragma once

#include "ir/queries.h"
#include "ir/walk/search.h"

namespace calotype::internal {

/// True if all threads find the same value of e: none of its free variables `differs(name)` from
/// thread to thread, it has no effect, and of what it loads `is_common(load)` holds, which is that
/// all threads see the same memory and nothing is being written there.
template<typename Differs, typename IsCommon>
bool is_uniform(const Expr &e, Differs &&differs, IsCommon &&is_common) {
    const auto is_own = [&](const Node *node) {
        const Call *call = node_as<Call>(node);
        const Load *load = node_as<Load>(node);
        return (call && !call->is_pure()) || (load && !is_common(load));
    };
    return !any_free_variable(e, differs) && !contains_node(e, is_own);
}

/// The same, where no load counts as that of a common value.
template<typename Differs>
bool is_uniform(const Expr &e, Differs &&differs) {
    return is_uniform(e, differs, [](const Load *) { return false; });
}

}  // namespace calotype::internal
