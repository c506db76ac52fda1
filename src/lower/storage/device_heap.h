// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Storage of one thread whose size only the kernel knows: from the device runtime (runtime/nrt).
// Helper of offload_kernels.
#pragma once

#include <string>

#include "ir/enums.h"
#include "ir/linkable.h"
#include "ir/mutator.h"
#include "lower/context.h"
#include "lower/names.h"

namespace calotype::internal {

/// Rewrites a kernel's body: what is allocated in MemoryType::Heap comes from the device's heap and
/// goes back there. A thread that gets none does nothing but store how many bytes it wanted.
class DeviceHeap : public StmtMutator {
public:
    /// CompileError at the first such storage if the device has no heap.
    DeviceHeap(const std::string &kernel, DeviceAPI api)
        : kernel_(kernel), flag_(names::part(kernel, "heap")), api_(api) {
    }
    /// True if it was needed.
    bool is_used() const {
        return is_used_;
    }
    /// Where threads without memory store what they wanted: a buffer of one uint64.
    const std::string &flag() const {
        return flag_;
    }
    /// The launch, between the making of that buffer and a look at it.
    Stmt around_launch(const Stmt &launch, LowerContext &ctx) const;
    /// The functions that the kernel calls.
    static void add_functions(LinkedCode &code);

private:
    using Mutator::visit;
    Stmt visit(const Allocate *op) override;
    Stmt visit(const Free *op) override;

    const std::string kernel_, flag_;
    const DeviceAPI api_;
    bool is_used_ = false;
};

}  // namespace calotype::internal
