// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Templates of pipeline/function.h.
#pragma once

#include "pipeline/definition.h"

namespace calotype {

template<typename MaybeConstDefinition, typename Fn>
void for_each_expression(MaybeConstDefinition &d, Fn &&fn) {
    auto each = [&](auto &e) {
        if (e.defined()) {
            fn(e);
        }
    };
    for (auto &e : d.args) {
        each(e);
    }
    for (auto &e : d.values) {
        each(e);
    }
    each(d.predicate);
    for (auto &rv : d.schedule.rvars) {
        each(rv.min);
        each(rv.extent);
    }
    for (auto &s : d.schedule.splits) {
        each(s.factor);
    }
    for (auto &p : d.schedule.prefetches) {
        each(p.offset);
    }
    for (auto &s : d.specializations) {
        each(s.condition);
        if (s.definition.defined()) {
            MaybeConstDefinition &inner = *s.definition;
            for_each_expression(inner, fn);
        }
    }
}

template<typename Fn>
void mutate_expressions(Definition &d, Fn &&fn) {
    for_each_expression(d, [&](Expr &e) { e = fn(e); });
}

}  // namespace calotype
