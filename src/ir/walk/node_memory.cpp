// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/walk/node_memory.h"

namespace calotype::internal {

namespace {

constexpr int max_depth = 100;
thread_local int depth = 0;
thread_local std::vector<IntrusivePtr<const Node>> *waiting = nullptr;

}  // namespace

Teardown::Teardown() {
    if (depth++ == 0) {
        waiting = &waiting_;
    }
}

Teardown::~Teardown() {
    if (depth == 1) {
        while (!waiting_.empty()) {
            IntrusivePtr<const Node> next = std::move(waiting_.back());
            waiting_.pop_back();
        }
        waiting = nullptr;
    }
    depth--;
}

void Teardown::defer(const Node *node) {
    if (depth > max_depth) {
        waiting->emplace_back(node);
    }
}

}  // namespace calotype::internal
