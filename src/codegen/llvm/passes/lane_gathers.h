// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gathers on processors that have none, or none that is faster than as many loads.
#pragma once

#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace calotype::internal {

/// The lanes of an index vector in 64 bits. Two neighbours of 32 bits leave the vector register
/// together and are taken apart in a general one: moves between the two kinds are what costs.
std::vector<llvm::Value *> index_lanes(llvm::IRBuilderBase &b, llvm::Value *index);

/// Makes a gather without a mask one that take_lanes_apart takes apart.
void mark_for_lanes(llvm::CallInst &gather);

/// What was marked is loaded lane by lane. Last of all: until then it is one instruction and not four for each
/// lane, which took the optimizer a third of its time in tables that are read at 64 places at once.
void take_lanes_apart(llvm::Module &module);

}  // namespace calotype::internal
