// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Storage of one thread whose size only the launch knows, in device memory that the host makes.
// Helper of offload_kernels.
#pragma once

#include <string>
#include <vector>

#include "ir/mutator.h"
#include "lower/context.h"
#include "lower/gpu/kernel_nest.h"
#include "lower/known_here.h"

namespace calotype::internal {

/// Rewrites a kernel: storage in Stack whose size is not constant becomes a part of one buffer for
/// all threads of the launch.
///
///     gpu_block (b, 0, n) {                            gpu_block (b, 0, n) {
///       gpu_thread (t, 0, 64) {                          gpu_thread (t, 0, 64) {
///         allocate f[int32, w] in stack          ->        f.scratch[i*64 + b*64*w + t] = ...
///         f[i] = ...                                     }
///       }                                              }
///     }
///
/// The same for Heap where the device has no heap of its own. What has no bound outside of the
/// kernel comes from the device's heap (../../storage/device_heap.h).
class ThreadScratch : public StmtMutator {
public:
    ThreadScratch(const KernelNest &nest, DeviceAPI api, LowerContext &ctx);
    /// The nest's body, rewritten.
    Stmt body();
    /// Of one of the buffers.
    bool is_made(const std::string &buffer) const;
    /// The launch, between the making of those buffers and their end.
    Stmt around_launch(Stmt launch) const;

private:
    using Mutator::visit;
    struct Scratch {
        std::string name;  ///< of the buffer
        std::string func;  ///< as the user knows it
        Type type;
        std::vector<Expr> extents;  ///< of one thread's
    };
    Stmt visit(const LetStmt *op) override;
    Stmt visit(const For *op) override;
    Stmt visit(const Allocate *op) override;
    Stmt visit(const Free *op) override;
    bool is_known_outside(const Expr &e) const;
    Stmt with_buffer(const Scratch &scratch, const Stmt &launch) const;

    const KernelNest &nest_;
    const DeviceAPI api_;
    LowerContext &ctx_;
    Expr thread_, block_;  ///< which of the block, and which block
    Expr block_size_;      ///< in threads
    Expr threads_ = 1;     ///< of the launch, an int64
    KnownHere ranges_;
    Scope<> inside_;  ///< names that the kernel binds
    Scope<> moved_;
    std::vector<Scratch> made_;
};

}  // namespace calotype::internal
