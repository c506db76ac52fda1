// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// find_groups: which Funcs are computed together.
#pragma once

#include <vector>

#include "autoschedule/group.h"

namespace calotype::internal {

/// Each Func that is not inlined is in one group. Begins with a group for each, and takes the group
/// of a producer into that of its consumers as long as that makes the whole faster, the best first.
std::vector<Group> find_groups(const Model &model, const Machine &machine);

}  // namespace calotype::internal
