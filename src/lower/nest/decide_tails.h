// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// decide_tails: what happens past the end of each split loop, once for all of lowering.
#pragma once

#include "pipeline/function.h"

namespace calotype::internal {

/// In the schedules of all stages: a split whose factor divides the extent, as one does, and others
/// as far as domains, bound() and align_bounds() say, has no tail; of a fused loop the tail is
/// guarded, as past its end there is no place to compute instead; PredicateLoads, which stores
/// values that mean nothing past the end, guards everything where the storage is that of several
/// computations, and on a loop whose last iterations are repeated past its end; Auto becomes what it
/// means.
void decide_tails(const Function &f);

}  // namespace calotype::internal
