// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Definition: one stage of a Func: what is stored where, and in which loops.
#pragma once

#include <vector>

#include "pipeline/schedule.h"

namespace calotype::internal {

struct Definition;
using DefinitionPtr = IntrusivePtr<Definition>;

/// A copy of a definition with a schedule of its own, used where `condition` holds.
struct Specialization {
    Expr condition;
    DefinitionPtr definition;     ///< undefined if failure_message is set
    std::string failure_message;  ///< specialize_fail
};

/// `f(args) = values` (several for a Tuple), for all args where the predicate holds.
/// In update definitions calls to the Func itself carry no symbol: the name alone says it, and no
/// reference cycle arises.
struct Definition : RefCounted {
    bool is_init = true;
    ScheduleList<Expr> args;    ///< of the pure definition: Variables, one a dimension
    ScheduleList<Expr> values;  ///< one a tuple element
    Expr predicate;             ///< of the RDom; constant true elsewhere
    StageSchedule schedule;
    ScheduleList<Specialization> specializations;
};

}  // namespace calotype::internal
