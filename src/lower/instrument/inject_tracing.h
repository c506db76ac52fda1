// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// inject_tracing: adds calls that report loads, stores and realizations to the tracing callback.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

/// Calls of calotype_trace (runtime/abi/tracing.h) for what the schedule or the target asks for.
///
///     f(x) = v        ->  f(x) = let f.value = v
///                                in return_second(trace(store, x, f.value), f.value)
///     ... im(x) ...   ->  ... let im.value = im(x)
///                             in return_second(trace(load, x, im.value), im.value) ...
///     produce f {...} ->  let f.trace_id = trace(produce, parent f.trace_id)
///                         produce f {...}
///                         trace(end_produce, parent f.trace_id)
///
/// The parent of an event is the innermost one of the same Func around it, of the outermost ones
/// the pipeline.
///
/// Requires:    the nest of build_nest.
/// Establishes: nothing that other passes rely on.
/// Order: before bounds inference and all that drops or repeats computations: what is traced is
///     what happens then.
Stmt inject_tracing(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
