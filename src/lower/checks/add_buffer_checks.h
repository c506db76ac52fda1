// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// add_buffer_checks: makes the pipeline read the shapes of its buffer arguments, answer bounds queries and check, before
// it computes.
#pragma once

#include "ir/conventions/names.h"
#include "lower/context.h"

namespace calotype::internal {

///     s   ->   assert(in.buffer is not null ...)
///              let in = buffer_get_host(in.buffer)
///              ...
///              if (bounds query) { fill in } else { assert(shape is right) ...; s }
///
/// Requires: every access of an argument is still a call of its coordinates; bounds are inferred.
/// Establishes: for each buffer argument and constant image b: the Variables b (its host address),
///     names::buffer_min, buffer_extent and buffer_stride of it. Where the body runs, the buffer is
///     there, has the right type, and holds everything that will be touched. If any argument is a
///     bounds query, the queried shapes are filled in and nothing is computed.
/// Order: after bound_allocations (which must see the whole of the body alone), before storage is
///     flattened.
Stmt add_buffer_checks(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
