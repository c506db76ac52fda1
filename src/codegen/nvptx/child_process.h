// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work that may crash, done in a copy of this process.
#pragma once

#include <functional>
#include <mutex>
#include <shared_mutex>
#include <string>

namespace calotype::internal {

/// What came of it.
struct ChildResult {
    bool has_run = false;  ///< false where no process could be made
    std::string bytes;     ///< what the work gave, if it came to its end
    std::string crash;     ///< else "signal 11 (Segmentation fault)" or "exit status 1"
};

/// Calls `work` in a copy of this process, in which other threads are not there: locks that they
/// hold stay locked. `quiet` is held while the copy is made: whoever may be inside of what the work
/// calls takes it too.
ChildResult run_in_child(const std::function<std::string()> &work,
                         std::unique_lock<std::shared_mutex> quiet);

}  // namespace calotype::internal
