// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which threads compile, for the end of the process and for fork().
#pragma once

namespace calotype::internal {

/// This thread compiles as long as it lives. exit() destroys the tables that compiling uses, ours
/// and LLVM's; before that it waits for the threads that compile, ten seconds at most. A thread that
/// begins to compile after that, unless the process ends on it, waits two seconds for the end; if that
/// does not come, as a destructor waits for the thread, it gets a CompileError. fork() waits for the
/// same threads, as long, so that its child can compile.
class CompilingScope {
public:
    /// With true for a thread that works for the one on which the process ends.
    explicit CompilingScope(bool for_ending = is_ending_process());
    ~CompilingScope();
    CompilingScope(const CompilingScope &) = delete;
    CompilingScope &operator=(const CompilingScope &) = delete;
    /// Whether this thread has called exit(), or works for one that has.
    static bool is_ending_process();
};

/// A function of the user's that is called while this thread compiles: it may never come back, and
/// nobody waits for it.
class UsersFunctionScope {
public:
    UsersFunctionScope();
    ~UsersFunctionScope();
    UsersFunctionScope(const UsersFunctionScope &) = delete;
    UsersFunctionScope &operator=(const UsersFunctionScope &) = delete;

private:
    const int depth_;
};

}  // namespace calotype::internal
