// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory of the host that runs out, for executables that are linked with
// CALOTYPE_FAILING_MEMORY_OPTIONS: all that is linked statically allocates through this. C++'s new
// does not.
#pragma once

namespace calotype_test {

/// While it lives one allocation fails, on whatever thread: the nth (1: the next).
class FailingMemory {
public:
    explicit FailingMemory(long nth);
    ~FailingMemory();
    FailingMemory(const FailingMemory &) = delete;
    FailingMemory &operator=(const FailingMemory &) = delete;

    /// Whether there have been so many.
    static bool has_failed();
};

}  // namespace calotype_test
