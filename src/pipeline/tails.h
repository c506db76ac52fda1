// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Questions about the tails of splits.
#pragma once

#include "ir/enums.h"

namespace calotype::internal {

/// True if iterations past the end of the old loop do nothing: no value outside of the old bounds
/// is computed.
inline bool is_guarded(TailStrategy tail) {
    return tail == TailStrategy::GuardWithIf || tail == TailStrategy::Predicate;
}

/// True if they do something, but load nothing or store nothing.
inline bool guards_accesses(TailStrategy tail) {
    return tail == TailStrategy::PredicateLoads || tail == TailStrategy::PredicateStores;
}

/// True if the last block begins earlier, and ends with the old loop.
inline bool shifts_inwards(TailStrategy tail) {
    return tail == TailStrategy::ShiftInwards || tail == TailStrategy::ShiftInwardsAndBlend;
}

}  // namespace calotype::internal
