// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/instrument/trace_event.h"

#include "ir/constants.h"
#include "ir/operators.h"
#include "lower/names.h"

namespace calotype::internal {

namespace {

Expr null() {
    return make_zero(UInt(64));
}

Expr as_struct(const std::vector<Expr> &values) {
    return values.empty() ? null() : Call::make(Handle(), Intrinsic::make_struct, values);
}

}  // namespace

Expr TraceEvent::call() const {
    std::vector<Expr> places;
    for (const Expr &e : coordinates) {
        places.push_back(cast(Int(32), e));
    }
    const bool has_value = value.defined();
    const Type type = has_value ? value.type() : Handle();
    return Call::make(Int(32), Intrinsic::trace,
                      {StringImm::make(func), has_value ? as_struct({value}) : null(),
                       as_struct(places), int(type.code()), has_value ? type.bits() : 0,
                       has_value ? type.lanes() : 0, int(code), parent, value_index,
                       int(coordinates.size()), tag.defined() ? tag : StringImm::make(""),
                       thread_id});
}

std::string pipeline_trace_id() {
    return names::trace_id("__pipeline");  // no Func can have this name
}

bool traces_realizations(const Function &f, const LowerContext &ctx) {
    return f.schedule().trace_realizations ||
           ctx.target.features_any_of(
               {Target::TraceLoads, Target::TraceStores, Target::TraceRealizations});
}

bool traces_loads(const Function &f, const LowerContext &ctx) {
    return ctx.target.has_feature(Target::TraceLoads) || f.schedule().trace_loads;
}

bool traces_loads(const Parameter &p, const LowerContext &ctx) {
    return p.is_buffer() && (ctx.target.has_feature(Target::TraceLoads) || p->trace_loads);
}

bool traces_stores(const Function &f, const LowerContext &ctx) {
    return ctx.target.has_feature(Target::TraceStores) || f.schedule().trace_stores;
}

bool is_traced(const Function &f, const LowerContext &ctx) {
    return traces_realizations(f, ctx) || traces_loads(f, ctx) || traces_stores(f, ctx);
}

}  // namespace calotype::internal
