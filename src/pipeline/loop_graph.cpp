// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/loop_graph.h"

#include <algorithm>

#include "ir/constants.h"
#include "pipeline/tails.h"
#include "support/error.h"

namespace calotype::internal {

LoopGraph::LoopGraph(const std::vector<std::string> &args, const StageSchedule &schedule) {
    const auto begin_with = [&](const std::string &var, bool is_rvar) {
        StageLoop loop;
        loop.var = var;
        loop.is_rvar = is_rvar;
        add(std::move(loop));
    };
    for (const std::string &arg : args) {
        begin_with(arg, false);
    }
    for (const ReductionVariable &rv : schedule.rvars) {
        begin_with(rv.var, true);
    }
    begin_with(outermost_name, false);
    for (const Split &s : schedule.splits) {
        apply(s);
    }
    for (const Dim &d : schedule.dims) {
        nest_.push_back(find(d.var));
        internal_assert(nest_.back() >= 0) << "no directive makes the loop " << d.var;
    }
}

int LoopGraph::add(StageLoop loop) {
    const auto is_taken = [&](const std::string &name) {
        return std::any_of(loops_.begin(), loops_.end(),
                           [&](const StageLoop &other) { return other.name == name; });
    };
    // Passes of the user find a loop by the end of its name, which is that of its variable.
    for (loop.name = loop.var; is_taken(loop.name);) {
        loop.name += "." + loop.var;
    }
    loops_.push_back(std::move(loop));
    return int(loops_.size()) - 1;
}

int LoopGraph::find(const std::string &var) const {
    for (size_t i = loops_.size(); i-- > 0;) {
        if (loops_[i].var == var && loops_[i].replaced_by < 0) {
            return int(i);
        }
    }
    return -1;
}

void LoopGraph::apply(const Split &s) {
    const int number = int(steps_.size());
    LoopStep step = {s.kind, s.factor, s.tail, s.divides, -1, -1, -1};
    const auto replace = [&](const std::string &var) {
        const int i = find(var);
        internal_assert(i >= 0) << "no directive makes the loop " << var;
        loops_[size_t(i)].replaced_by = number;
        return i;
    };
    const auto make = [&](const std::string &var, const StageLoop &from) {
        StageLoop loop = from;
        loop.var = var;
        loop.made_by = number;
        loop.replaced_by = -1;
        return add(std::move(loop));
    };
    if (s.is_fuse()) {
        step.inner = replace(s.inner);
        step.outer = replace(s.outer);
        StageLoop fused;
        fused.is_rvar = loop(step.inner).is_rvar || loop(step.outer).is_rvar;
        fused.is_fused = true;
        step.old = make(s.old_var, fused);
    } else {
        step.old = replace(s.old_var);
        const StageLoop old = loop(step.old);
        step.outer = make(s.outer, old);
        step.inner = s.is_rename() ? -1 : make(s.inner, old);
    }
    steps_.push_back(step);
    if (s.is_split()) {
        split(step);
    }
}

void LoopGraph::split(const LoopStep &step) {
    const StageLoop &old = loop(step.old);
    StageLoop &outer = loops_[size_t(step.outer)], &inner = loops_[size_t(step.inner)];
    const auto factor = as_const_int(step.factor);
    if (old.is_inner && old.iterations && factor && *factor > 0) {
        outer.iterations = (*old.iterations + *factor - 1) / *factor;
    } else {
        outer.iterations = std::nullopt;
    }
    outer.is_shifted = old.is_shifted || shifts_inwards(step.tail);
    inner.is_inner = true;
    inner.iterations = factor;
    inner.is_shifted = false;
}

const LoopStep *LoopGraph::replaced_by(int i) const {
    const int step = loop(i).replaced_by;
    return step < 0 ? nullptr : &steps_[size_t(step)];
}

const LoopStep *LoopGraph::split_of(int i) const {
    const LoopStep *s = replaced_by(i);
    while (s && s->kind == Split::Kind::Rename) {
        s = replaced_by(s->outer);
    }
    return s && s->kind == Split::Kind::Split ? s : nullptr;
}

bool LoopGraph::is_made_of(int i, int origin) const {
    const int made_by = loop(i).made_by;
    if (i == origin || made_by < 0) {
        return i == origin;
    }
    const LoopStep &step = steps_[size_t(made_by)];
    return step.kind == Split::Kind::Fuse
               ? is_made_of(step.inner, origin) || is_made_of(step.outer, origin)
               : is_made_of(step.old, origin);
}

FactorFit LoopGraph::fit(int i, const Expr &factor) const {
    const std::optional<int64_t> &iterations = loop(i).iterations;
    const auto f = as_const_int(factor);
    if (!loop(i).is_inner) {
        return FactorFit::NotInner;
    }
    if (!iterations || !f) {
        return FactorFit::Unknown;
    }
    return *iterations % *f == 0 ? FactorFit::Divides
           : *f <= *iterations   ? FactorFit::Fits
                                 : FactorFit::Unknown;
}

// An inner part of a loop that is already shifted inwards need not be shifted again: guarding it
// costs less than redoing the work of both.
TailStrategy LoopGraph::default_tail(int i, const Expr &factor, bool is_update) const {
    const FactorFit fits = fit(i, factor);
    if (loop(i).is_rvar || fits == FactorFit::Unknown) {
        return TailStrategy::GuardWithIf;
    }
    if (is_update) {
        return fits == FactorFit::Fits ? TailStrategy::GuardWithIf : TailStrategy::RoundUp;
    }
    return loop(i).is_shifted ? TailStrategy::GuardWithIf : TailStrategy::ShiftInwards;
}

}  // namespace calotype::internal
