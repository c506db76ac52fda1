// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Base of classes that own something as long as they live and cannot be copied.
#pragma once

namespace calotype::runtime {

struct NotCopied {
    NotCopied() = default;
    NotCopied(const NotCopied &) = delete;
    NotCopied &operator=(const NotCopied &) = delete;
};

}  // namespace calotype::runtime
