// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// describe_traced: says at the start of a trace what it is about.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// For each image and Func that is traced and used, images first and producers before their
/// consumers, a tag with its types and with all that the pipeline touches of it:
///
///     let __pipeline.trace_id = trace(begin_pipeline)
///     for x in [0, n) { ... im(x) ... }
///     ->
///     let __pipeline.trace_id = trace(begin_pipeline)
///     trace(tag, im, stringify("func_type_and_dim: 1 2 32 1 1", " ", 0, " ", n))
///     for x in [0, n) { ... im(x) ... }
///
/// The numbers are those that programs which show traces expect: how many types; code, bits and
/// lanes of each; how many dimensions; min and extent of each.
///
/// Requires:    infer_bounds, by which it is known what is touched.
/// Establishes: nothing that other passes rely on.
/// Order:       before slide_windows, after which regions are less simple.
Stmt describe_traced(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
