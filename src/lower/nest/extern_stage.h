// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stages computed by a C function (define_extern).
#pragma once

#include "arith/box.h"
#include "lower/context.h"

namespace calotype::internal {

/// The call of f's C function over the region required of f: inputs and outputs as buffers, an
/// error code back. Loops of the schedule that are not left to the C function stand around the
/// call.
///
///     f.define_extern("work", {g, 3}, Int(32), {x})   ->
///         let f.crop = buffer_crop(..., f.buffer, f.s0.x.min, ...)
///         let f.extern_result = work(g.buffer, 3, f.crop)
///         assert(f.extern_result == 0,
///             calotype_error_extern_stage_failed("work", f.extern_result))
Stmt extern_stage_call(const Function &f, const Box &region);

/// The buffer parameter or constant image that is called, as an argument.
ExternFuncArgument image_argument(const Call &call);

/// A step of the bounds query, in order: a let, or (no name) a check.
struct QueryStep {
    std::string name;
    Expr value;
    Stmt check;
};

/// The call of f's C function with buffers that have a shape and no memory: it fills in what it
/// needs of its inputs. Free Variables: names::stage_min/max of f. Defines names::query_min/query_max
/// of every buffer of a Func that f reads.
/// Where it is a part of a larger region that is asked for, the answers are kept within those for
/// the whole: these have the same names, outside.
std::vector<QueryStep> query_extern_stage(const Function &f, bool is_part);

/// `e` for a query that is made before images are checked: they may have no memory, being asked
/// themselves, or too little of it. What cannot be read is 0.
Expr read_what_is_there(const Expr &e);

/// After the query: the region that the C function wants to compute, which holds the one asked for,
/// is that of the stage.
std::vector<QueryStep> grow_as_answered(const Function &f);

/// A buffer that the C function gets and that no Func computes.
struct ExternImage {
    std::string name;
    Type type;
    int dimensions;
    SymbolPtr symbol;
};
std::vector<ExternImage> extern_images(const Function &f);
/// States what the stage needs of them, by the query: maybe nothing.
Stmt touch_images(const Function &f);

/// The buffers of Funcs that the C function reads: (Func, buffer's name).
std::vector<std::pair<Function, std::string>> extern_inputs(const Function &f);

}  // namespace calotype::internal
