// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a stage reads of other Funcs.
#pragma once

#include <map>
#include <string>

#include "arith/box.h"
#include "lower/context.h"

namespace calotype::internal {

/// By name of Func, in terms of the reader's stage_min/max.
using Reads = std::map<std::string, Box>;

struct StageReads {
    /// The conditions of selects narrow what they choose.
    Reads needed;
    /// Only those do that are one comparison. More is read so, but where the reader's extents are
    /// constant, these are more often. Empty where all conditions are comparisons.
    Reads steady;
};

StageReads reads_of_stage(const LowerContext &ctx, const Function &f, int stage);

/// With the definitions of inlined Funcs in place of their calls.
Stmt expand_inlined(const LowerContext &ctx, Stmt s);

}  // namespace calotype::internal
