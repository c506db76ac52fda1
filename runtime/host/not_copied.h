// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What holds something as long as it lives is one thing: the base of such classes.
#pragma once

namespace calotype::runtime {

struct NotCopied {
    NotCopied() = default;
    NotCopied(const NotCopied &) = delete;
    NotCopied &operator=(const NotCopied &) = delete;
};

}  // namespace calotype::runtime
