// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/bounds/func_value_bounds.h"

#include "ir/operators.h"

namespace calotype::internal {

namespace {

/// Pure variables may be anything; reduction variables lie in their domain.
Scope<Interval> stage_variables(const Function &f, const Definition &def) {
    Scope<Interval> vars;
    for (const std::string &arg : f.args()) {
        vars.push(arg, Interval::everything());
    }
    for (const ReductionVariable &rv : def.schedule.rvars) {
        Interval range = bounds_of_expr(rv.min, vars);
        Interval last = bounds_of_expr(rv.min + rv.extent - 1, vars);
        vars.push(rv.var, Interval(range.min, last.max));
    }
    return vars;
}

}  // namespace

FuncValueBounds func_value_bounds(const LowerContext &ctx) {
    FuncValueBounds result;
    for (const std::string &name : ctx.order) {
        const Function &f = ctx.env.at(name);
        for (int i = 0; i < f.outputs(); i++) {
            // Updates see earlier values of f itself, of which nothing is known but the type.
            Interval range = bounds_of_type(f.output_types()[i]);
            if (f.is_pure()) {
                Scope<Interval> vars = stage_variables(f, *f.stage(0));
                Interval values = bounds_of_expr(f.stage(0)->values[i], vars, result);
                range.min = values.has_lower_bound() ? values.min : range.min;
                range.max = values.has_upper_bound() ? values.max : range.max;
            }
            result[{name, i}] = range;
        }
    }
    return result;
}

}  // namespace calotype::internal
