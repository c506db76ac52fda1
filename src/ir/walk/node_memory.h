// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory layout of nodes. To be included only where nodes are allocated.
#pragma once

#include <vector>

#include "ir/walk/field_walk.h"

namespace calotype::internal {

/// Lives while an operand is let go. Of operands nested deeply, some wait until the outermost one
/// is gone, so that the stack suffices however deep a tree is.
class Teardown {
public:
    Teardown();
    ~Teardown();
    Teardown(const Teardown &) = delete;
    Teardown &operator=(const Teardown &) = delete;
    /// Keeps the node until later, if it is too deep.
    void defer(const Node *node);

private:
    std::vector<IntrusivePtr<const Node>> waiting_;
};

/// Lets go of what a field holds.
struct OperandRelease {
    template<typename T>
    void handle(const IntrusivePtr<T> &operand) {
        if (operand.defined() && operand->is_unique()) {
            Teardown teardown;
            teardown.defer(operand.get());
            // The node that has this field is being destroyed.
            const_cast<IntrusivePtr<T> &>(operand) = nullptr;
        }
    }
    void operator()(const Expr &e) {
        handle(e);
    }
    void operator()(const Stmt &s) {
        handle(s);
    }
};

/// A node of kind T: what `make` allocates.
template<typename T>
struct StoredNode final : T {
    ~StoredNode() override {
        for_each_child(*this, OperandRelease());
    }
};

}  // namespace calotype::internal
