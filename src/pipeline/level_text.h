// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// level_text: how messages name a loop level.
#pragma once

#include <string>

#include "pipeline/loop_level.h"

namespace calotype::internal {

/// "f.x", "f.s1.r$x", "root", "inlined", "undefined"; of levels as well that may still be set.
std::string level_text(const LoopLevel &level);

}  // namespace calotype::internal
