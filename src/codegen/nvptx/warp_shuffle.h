// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the lanes of a warp exchange.
#pragma once

#include <cstdint>

#include <llvm/IR/IRBuilder.h>

namespace calotype::internal {

/// A bit for each lane.
constexpr uint32_t whole_warp = 0xffffffff;

/// From which lane, and in which way, among `width` lanes.
struct WarpShuffle {
    enum Mode { FromLane, Up, Down, Butterfly };
    llvm::Value *lane;
    int mode, width;
};

/// A scalar of up to 64 bits, word by word. Lanes of a warp that has fewer than 32 threads count as done.
llvm::Value *shuffle_scalar(llvm::IRBuilder<> &b, llvm::Value *v, const WarpShuffle &how);

}  // namespace calotype::internal
