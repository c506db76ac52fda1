// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that the compiler carries along and runs for work that may crash.
#pragma once

#include <string>

namespace calotype::internal {

/// What came of it.
struct ChildResult {
    bool has_run = false;  ///< false where no process could be made
    std::string bytes;     ///< what it answered, if it came to its end
    std::string crash;     ///< else "signal 11 (Segmentation fault)" or "exit status 1"
};

/// Runs link_worker.c with that request as its input. Nothing of this process is copied: threads,
/// locks and memory stay where they are.
ChildResult run_link_worker(const std::string &request);

}  // namespace calotype::internal
