// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Explains in errors why the storage of a Func in a kernel is not of constant size. Helper of
// fuse_thread_loops.
#pragma once

#include <string>

#include "lower/context.h"

namespace calotype::internal {

/// A part of a message: that the Func which f is computed in has a split whose guard cuts the last
/// tile short; "" if it has none.
std::string hint_at_guarded_tail(const Function *f, const LowerContext &ctx);

}  // namespace calotype::internal
