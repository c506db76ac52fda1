// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Templates of pipeline/function.h.
#pragma once

namespace calotype {

template<typename Fn>
void mutate_expressions(Definition &d, Fn &&fn) {
    auto each = [&](Expr &e) {
        if (e.defined()) {
            e = fn(e);
        }
    };
    for (Expr &e : d.args) {
        each(e);
    }
    for (Expr &e : d.values) {
        each(e);
    }
    each(d.predicate);
    for (ReductionVariable &rv : d.schedule.rvars) {
        each(rv.min);
        each(rv.extent);
    }
    for (Split &s : d.schedule.splits) {
        each(s.factor);
    }
    for (PrefetchDirective &p : d.schedule.prefetches) {
        each(p.offset);
    }
    for (Specialization &s : d.specializations) {
        each(s.condition);
        if (s.definition) {
            mutate_expressions(*s.definition, fn);
        }
    }
}

}  // namespace calotype
