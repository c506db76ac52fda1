// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The names that lowering gives to loops and bounds. Made here and nowhere else, and never taken
// apart again: who needs to know what a name means asks LowerContext::loops.
#pragma once

#include <string>

#include "ir/expr.h"

namespace calotype::names {

/// "f.s1.x": loop variable x of stage 1 of Func f.
std::string loop(const std::string &func, int stage, const std::string &var);
/// "f.s1.x.loop_min", ".loop_max", ".loop_extent": the loop's own range, defined just outside of
/// it.
std::string loop_min(const std::string &loop);
std::string loop_max(const std::string &loop);
std::string loop_extent(const std::string &loop);
/// "f.s1.x.fused_min", ".fused_extent": the range of a loop that other stages share.
std::string fused_min(const std::string &loop);
std::string fused_extent(const std::string &loop);
/// "f.s1.x.min", ".max": the region of the stage required at this point of the nest.
std::string stage_min(const std::string &func, int stage, const std::string &var);
std::string stage_max(const std::string &func, int stage, const std::string &var);
/// "f.min_realized.0", "f.extent_realized.0": the storage of Func f.
std::string realized_min(const std::string &func, int d);
std::string realized_extent(const std::string &func, int d);
/// The int32 Variable of that name.
Expr var(const std::string &name);

}  // namespace calotype::names
