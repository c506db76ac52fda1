// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether anything that pipelines are made of has changed.
#pragma once

#include <cstdint>

namespace calotype::internal {

/// How often a Func, a stage, a parameter, a loop level or a pipeline was changed in this process.
/// As long as the number stays, so does what was compiled. Scalars and buffers that parameters are
/// set to for a run do not count.
uint64_t edit_count();
/// Whoever hands out something of a pipeline to be changed, or changes it, counts that.
void count_edit();

}  // namespace calotype::internal
