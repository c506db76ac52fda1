// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mutator of kernels for CUDA. Base of the passes that join accesses.
#pragma once

#include "ir/mutator.h"
#include "ir/with.h"
#include "pipeline/schedule.h"
#include "support/scope.h"

namespace calotype::internal {

/// Knows whether it is in a kernel, and which storage is a thread's own. Kernels for other devices stay as they are, and
/// so do atomic updates, which are known by their form.
class KernelMutator : public Mutator {
protected:
    using Mutator::visit;

    Stmt visit(const For *op) override {
        const bool kernel = op->for_type == ForType::GPUBlock && !in_kernel_;
        if (kernel && op->device_api != DeviceAPI::CUDA) {
            return op;
        }
        in_kernel_ |= kernel;
        const Stmt s = with(op, &For::body, mutate(op->body));
        in_kernel_ = in_kernel_ && !kernel;
        return s;
    }

    Stmt visit(const Allocate *op) override {
        const ScopedBinding<> own(in_kernel_ && !is_gpu_shared(op->memory_type), own_, op->name);
        return Mutator::visit(op);
    }

    Stmt visit(const Atomic *op) override {
        return op;
    }

    bool in_kernel_ = false;
    Scope<> own_;  ///< storage of a thread
};

}  // namespace calotype::internal
