// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reports of how far a compilation is.
#pragma once

#include <functional>
#include <string>

namespace calotype {

namespace internal {
struct LoweredModule;
}

/// A step of compiling, reported when it begins.
struct CompileStep {
    std::string pipeline;
    /// "lower", then "device code" if there are kernels, "host code", and in process "load".
    std::string stage;
    std::string detail;  ///< the pass of lowering, or how many kernels
    int number = 0;      ///< of the pass, from 0
    int count = 0;       ///< of the passes, those that this pipeline does without among them
};

/// Called on the thread that compiles, which need not be the one that asked for it. What it throws
/// ends the compilation, and is thrown to who began that. What it compiles itself is not reported.
using CompileProgress = std::function<void(const CompileStep &)>;

/// As long as it lives, or until one that is made later, all that this thread begins to compile is
/// reported. What is found compiled takes no steps.
///
///     ProgressScope scope([](const CompileStep &s) { std::cerr << s.stage << s.detail << "\n"; });
///     blur.compile_jit();
class ProgressScope {
public:
    explicit ProgressScope(CompileProgress progress);
    ~ProgressScope();
    ProgressScope(const ProgressScope &) = delete;
    ProgressScope &operator=(const ProgressScope &) = delete;
    /// Of this thread; empty if nobody wants to know.
    static CompileProgress current();

private:
    CompileProgress progress_;
    ProgressScope *outer_;
};

namespace internal {

/// The device code or the host code of a module is begun with.
CompileStep step_of_code(const LoweredModule &module, bool is_device_code);

}  // namespace internal
}  // namespace calotype
