// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a thread does now and then while it waits for a compilation.
#pragma once

#include <functional>

namespace calotype::internal {

/// As long as it lives, or until one that is made later, this thread calls `f` about every 50
/// milliseconds while what it compiles runs on a thread with a stack of its own. `f` must not throw;
/// to end the compilation, let what a ProgressScope calls throw.
///
///     ProgressScope ends([&](const CompileStep &) { if (is_cancelled) throw Cancelled(); });
///     WaitingScope polls([&] { is_cancelled = is_cancelled || user_has_had_enough(); });
///     blur.compile_jit();
class WaitingScope {
public:
    explicit WaitingScope(std::function<void()> f);
    ~WaitingScope();
    WaitingScope(const WaitingScope &) = delete;
    WaitingScope &operator=(const WaitingScope &) = delete;
    /// Of this thread; empty if there is none.
    static const std::function<void()> &current();

private:
    std::function<void()> f_;
    WaitingScope *outer_;
};

}  // namespace calotype::internal
