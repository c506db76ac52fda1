// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// inject_profiling: adds calls that tell the profiler which Func is being computed.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

/// Calls of the runtime's profiler (runtime/abi/profiler.h): a run begins and ends, another Func is
/// at work, threads come and go, memory is taken and released.
///
///     produce f {      set_current_func(instance, f)
///       ...        ->  produce f {...}
///     }                set_current_func(instance, whatever was before)
///
/// Row 0 of the report is what belongs to no Func. Funcs marked no_profiling count for the Func
/// around them.
///
/// Requires:    flat storage, heap storage with its Frees.
/// Establishes: nothing that other passes rely on.
/// Order:       late: what is counted is what is left to run.
Stmt inject_profiling(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
