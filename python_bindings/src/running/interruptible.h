// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiling that Ctrl-C ends.
#pragma once

#include <atomic>
#include <exception>
#include <optional>
#include <utility>

#include <calotype/driver/progress.h>
#include <calotype/support/edit_lock.h>
#include <calotype/support/waiting.h>

#include "bindings.h"

namespace calotype::python {

/// Pipelines are changed by code of Python, which has the GIL.
class GilForReading final : public internal::EditLock {
public:
    void acquire() override {
        gil_.emplace();
    }
    void release() override {
        gil_.reset();
    }

private:
    std::optional<HeldGil> gil_;
};

/// While it lives, what this thread compiles ends at its next step after a signal whose handler in
/// Python raises; as Python calls handlers on its main thread, there is nothing to do on others. Where
/// it reads the pipeline, it has the GIL.
class Interruptible {
public:
    Interruptible();
    /// Raises what a handler has raised. With the GIL.
    void check();

private:
    void step(const CompileStep &s);
    void poll();
    const CompileProgress told_;  ///< who wanted to know of the steps before
    std::atomic<bool> is_ended_{false};
    std::exception_ptr raised_;
    ProgressScope steps_;
    internal::WaitingScope polls_;
    GilForReading gil_;
    internal::EditLockScope reads_with_gil_{gil_};
};

/// Gives f(), which compiles, with other threads of Python running meanwhile.
template<typename F>
auto compile(const F &f) {
    Interruptible interruptible;
    std::exception_ptr thrown;
    decltype(f()) result;
    {
        ReleasedGil without_gil;
        try {
            result = f();
        } catch (...) {
            thrown = caught();
        }
    }
    interruptible.check();
    if (thrown) {
        std::rethrow_exception(thrown);
    }
    return result;
}

/// The same where f() gives nothing.
template<typename F>
void compile_files(const F &f) {
    compile([&] {
        f();
        return true;
    });
}

}  // namespace calotype::python
