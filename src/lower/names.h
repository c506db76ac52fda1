// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The names that lowering gives. They are keys: made here and nowhere else, compared as a whole and
// never taken apart; who needs to know what a loop's name means asks LowerContext::loops. A name is
// found by others if it has a function of its own here. What concerns one place alone is a part()
// or, where passes have renamed and copied code, LowerContext::names.unique().
#pragma once

#include <string>

#include "ir/expr.h"

namespace calotype::internal::names {

/// "f.s1.x": loop variable x of stage 1 of Func f.
std::string loop(const std::string &func, int stage, const std::string &var);
/// "f.s1.x.loop_min", ".loop_max", ".loop_extent": the loop's own range, defined just outside of
/// it.
std::string loop_min(const std::string &loop);
std::string loop_max(const std::string &loop);
std::string loop_extent(const std::string &loop);
/// "f.s1.x.fused_min", ".fused_extent": the range of a loop that other stages share.
std::string fused_min(const std::string &loop);
std::string fused_extent(const std::string &loop);
/// "f.s1.x.min", ".max": the region of the stage required at this point of the nest.
std::string stage_min(const std::string &func, int stage, const std::string &var);
std::string stage_max(const std::string &func, int stage, const std::string &var);
/// "f.min_realized.0", "f.extent_realized.0": the storage of Func f.
std::string realized_min(const std::string &func, int d);
std::string realized_extent(const std::string &func, int d);
/// "f.required_min.0", ".required_max": what the pipeline reads of a buffer.
std::string required_min(const std::string &buffer, int d);
std::string required_max(const std::string &buffer, int d);
/// "f.stride.1.given": what a caller gives for a field of a buffer that a constraint says something
/// of. It is the field's value where the constraint has been checked.
std::string given(const std::string &field);
/// "f.extent.1.answered": the field of an output as the answer to a bounds query has it.
std::string answered(const std::string &field);
/// "f.crop": the header of the part of a buffer that an extern stage computes.
std::string crop(const std::string &buffer);
/// "f.query.g": the header by which the extern stage of Func f says what it needs of buffer g;
/// ".min.0", ".max.0" are the ends that it has answered.
std::string query_header(const std::string &func, const std::string &buffer);
std::string query_min(const std::string &func, const std::string &buffer, int d);
std::string query_max(const std::string &func, const std::string &buffer, int d);
/// "f.mutex": the locks that updates of Func f take.
std::string mutex(const std::string &func);
/// Semaphores of async Func f and its consumer of that number: what is there to be consumed, which
/// copies of hoisted storage are free again, and which places of folded storage.
std::string semaphore(const std::string &func, int consumer);
std::string ring_semaphore(const std::string &func, int consumer);
std::string folding_semaphore(const std::string &func, int consumer);
/// How many places the folded storage of async Func f has.
std::string folding_places(const std::string &func);
/// Which copy of the storage of async Func f is in use.
std::string ring_index(const std::string &func);
/// "f.trace_id": the event in which what is traced of f happens.
std::string trace_id(const std::string &func);

/// "f.what", "f.what.2": something of f that the place alone reads that makes it.
std::string part(const std::string &of, const std::string &what);
std::string part(const std::string &of, const std::string &what, size_t i);
/// The int32 Variable of that name.
Expr var(const std::string &name);

}  // namespace calotype::internal::names
