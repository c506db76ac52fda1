// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The largest that a size is in any block of a kernel, for what is chosen before it runs: storage
// and the number of threads.
// Helper of the passes in this folder.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/stmt_nodes.h"
#include "lower/context.h"
#include "lower/known_here.h"

namespace calotype::internal {

/// A loop over blocks.
struct BlockRange {
    std::string name;
    Expr min, extent;  ///< the extent in terms of what is outside of the kernel
};

/// What is known at a place in a kernel.
class PlaceInKernel {
public:
    /// For the length of a C++ block, the place is inside of a let or of a loop.
    class Inside {
    public:
        Inside(PlaceInKernel &place, const LetStmt *op);
        Inside(PlaceInKernel &place, const For *op);
        ~Inside();
        Inside(const Inside &) = delete;
        Inside &operator=(const Inside &) = delete;

    private:
        PlaceInKernel &place_;
        const size_t blocks_, lets_;  ///< how many there were
        std::optional<KnownHere::Inside> of_kernel_, of_block_;
    };

    const std::vector<BlockRange> &blocks() const {
        return blocks_;
    }
    const std::vector<std::pair<std::string, Expr>> &lets() const {
        return lets_;
    }
    const KnownHere &of_kernel() const {
        return of_kernel_;
    }
    const KnownHere &of_block() const {
        return of_block_;
    }

private:
    /// Of a loop over blocks, in terms of what is outside of the kernel, as its min is; else undefined.
    Expr number_of_blocks(const For *op) const;

    std::vector<BlockRange> blocks_;                  ///< of which each may have a size of its own
    std::vector<std::pair<std::string, Expr>> lets_;  ///< pure ones, outermost first
    KnownHere of_kernel_;                             ///< of all that the kernel binds
    KnownHere of_block_;                              ///< of the same without the blocks
};

/// A size that grows or shrinks from block to block is largest in the first or the last. Where it
/// does neither, interval arithmetic would ask for as much as the whole image, so the host asks
/// each block:
///
///     gpu_block (b, 0, n) {                        allocate g.largest[int32, 1] in stack
///       allocate g[int32, b*(n - b)]               g.largest[0] = 0
///       ...                                   ->   for (b.0, 0, n) {
///     }                                              g.largest[0] = max(g.largest[0], b.0*(n-b.0))
///                                                  }
///                                                  let g.extent = g.largest[0]
///                                                  gpu_block (b, 0, n) { ... g.extent ... }
class LargestOfBlocks {
public:
    explicit LargestOfBlocks(LowerContext &ctx) : ctx_(ctx) {
    }
    /// The largest value of `size`, in terms of what is outside of the kernel and of what around()
    /// adds there; undefined if it has no bound. `what` is in names.
    Expr of(const std::string &what, const Expr &size, const PlaceInKernel &place);
    /// The kernel, after what was asked for.
    Stmt around(Stmt kernel);

private:
    struct Asked {
        std::string name;
        Expr size;
        std::vector<BlockRange> blocks;
    };
    Stmt asked_before(const Asked &asked, const Stmt &kernel) const;

    LowerContext &ctx_;
    std::vector<Asked> asked_;
};

}  // namespace calotype::internal
