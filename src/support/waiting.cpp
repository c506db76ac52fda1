// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/waiting.h"

#include <utility>

namespace calotype::internal {

namespace {

thread_local WaitingScope *innermost = nullptr;

}  // namespace

WaitingScope::WaitingScope(std::function<void()> f) : f_(std::move(f)), outer_(innermost) {
    innermost = this;
}

WaitingScope::~WaitingScope() {
    innermost = outer_;
}

const std::function<void()> &WaitingScope::current() {
    static const std::function<void()> nothing;
    return innermost ? innermost->f_ : nothing;
}

}  // namespace calotype::internal
