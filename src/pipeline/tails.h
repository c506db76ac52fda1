// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Questions about the tails of splits.
#pragma once

#include "ir/enums.h"

namespace calotype::internal {

/// True if iterations past the end of the old loop do nothing: no value outside of the old bounds
/// is computed.
inline bool is_guarded(TailStrategy tail) {
    return tail == TailStrategy::GuardWithIf || tail == TailStrategy::Predicate ||
           tail == TailStrategy::PredicateLoads || tail == TailStrategy::PredicateStores;
}

}  // namespace calotype::internal
