// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/progress.h"

#include <utility>

#include "ir/module.h"
#include "support/compiling.h"

namespace calotype {

namespace {

thread_local ProgressScope *innermost = nullptr;

/// What the callback itself compiles is reported to nobody, or each step of that would be one more
/// call that compiles.
CompileProgress silent_inside(CompileProgress progress) {
    if (!progress) {
        return progress;
    }
    return [progress = std::move(progress)](const CompileStep &step) {
        const ProgressScope silence{CompileProgress()};
        const internal::UsersFunctionScope users;
        progress(step);
    };
}

}  // namespace

ProgressScope::ProgressScope(CompileProgress progress)
    : progress_(std::move(progress)), outer_(innermost) {
    innermost = this;
}

// Coroutines may end them in another order than they began.
ProgressScope::~ProgressScope() {
    ProgressScope **place = &innermost;
    while (*place && *place != this) {
        place = &(*place)->outer_;
    }
    if (*place) {
        *place = outer_;
    }
}

CompileProgress ProgressScope::current() {
    return innermost ? silent_inside(innermost->progress_) : CompileProgress();
}

namespace internal {

CompileStep step_of_code(const LoweredModule &module, bool is_device_code) {
    CompileStep step;
    step.pipeline = module.name;
    step.stage = is_device_code ? "device code" : "host code";
    size_t kernels = 0;
    for (const DeviceModule &m : module.device_modules) {
        kernels += m.kernels.size();
    }
    if (is_device_code) {
        step.detail = std::to_string(kernels) + (kernels == 1 ? " kernel" : " kernels");
    }
    return step;
}

}  // namespace internal
}  // namespace calotype
