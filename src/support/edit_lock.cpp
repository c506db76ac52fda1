// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/edit_lock.h"

namespace calotype::internal {

namespace {

thread_local EditLockScope *innermost = nullptr;

}  // namespace

EditLockScope::EditLockScope(EditLock &lock) : lock_(lock), outer_(innermost) {
    innermost = this;
}

EditLockScope::~EditLockScope() {
    innermost = outer_;
}

ReadingScope::ReadingScope() : scope_(innermost) {
    if (scope_ && scope_->depth_++ == 0) {
        scope_->lock_.acquire();
    }
}

ReadingScope::~ReadingScope() {
    if (scope_ && --scope_->depth_ == 0) {
        scope_->lock_.release();
    }
}

}  // namespace calotype::internal
