// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/nest/decide_tails.h"

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/operators.h"
#include "pipeline/loop_graph.h"
#include "pipeline/tails.h"

namespace calotype::internal {

namespace {

/// True if the storage holds what several computations yield: past the end of what one computes may
/// be what another one does.
bool is_stored_further_out(const Function &f) {
    return !(f.schedule().store_level == f.schedule().compute_level);
}

/// The extents of a stage's loops, as far as the schedule fixes them.
class KnownExtents {
public:
    KnownExtents(const Function &f, const StageSchedule &schedule, const LoopGraph &graph)
        : graph_(graph), known_(graph.loops().size()) {
        for (size_t i = 0; i < graph.loops().size() && graph.loop(int(i)).made_by < 0; i++) {
            known_[i] = of_dimension(f, schedule, graph.loop(int(i)).var);
        }
        for (const LoopStep &step : graph.steps()) {
            apply(step);
        }
    }

    bool divides(const LoopStep &step) const {
        const Expr &old = known_[size_t(step.old)];
        return is_const_one(step.factor) ||
               (old.defined() && is_const_zero(simplify(old % step.factor)));
    }

    /// Of a loop; undefined unless it is a constant.
    Expr constant(int loop) const {
        const Expr &extent = known_[size_t(loop)];
        return extent.defined() && is_const(extent) ? extent : Expr();
    }

private:
    static Expr of_dimension(const Function &f, const StageSchedule &schedule,
                             const std::string &var) {
        for (const ReductionVariable &rv : schedule.rvars) {
            if (rv.var == var) {
                return rv.extent;
            }
        }
        Expr extent;
        for (const Bound &b : f.schedule().bounds) {
            // A window that slides along the dimension computes a part of the extent alone.
            const bool is_whole = b.min.defined() || !is_stored_further_out(f);
            if (b.var == var && b.extent.defined() && is_whole) {
                extent = b.extent;
            } else if (b.var == var && b.modulus.defined()) {
                extent = b.modulus * unknown(var);
            }
        }
        return extent;
    }

    /// Stands for a number of which nothing is known.
    static Expr unknown(const std::string &what) {
        return Variable::make(Int(32), "extent of " + what);
    }

    Expr &known(int loop) {
        return known_[size_t(loop)];
    }

    void apply(const LoopStep &step) {
        switch (step.kind) {
        case Split::Kind::Split:
            known(step.inner) = step.factor;
            if (known(step.old).defined()) {
                known(step.outer) = simplify((known(step.old) + step.factor - 1) / step.factor);
            }
            break;
        case Split::Kind::Fuse:
            // Of one alone: a multiple of it, which shows that its factors divide the whole.
            if (known(step.inner).defined() || known(step.outer).defined()) {
                known(step.old) = simplify(or_unknown(step.inner) * or_unknown(step.outer));
            }
            break;
        case Split::Kind::Rename:
            known(step.outer) = known(step.old);
            break;
        }
    }

    Expr or_unknown(int loop) {
        return known(loop).defined() ? known(loop) : unknown(graph_.loop(loop).name);
    }

    const LoopGraph &graph_;
    std::vector<Expr> known_;
};

/// True if a split of the loop, with a tail that is shifted, may have a factor above the loop's extent:
/// then it gets iterations past its end, which the split that made the loop must guard.
bool has_too_few_blocks(int loop, const KnownExtents &extents, const LoopGraph &graph) {
    const LoopStep *s = graph.split_of(loop);
    const Expr extent = extents.constant(loop);
    return s && shifts_inwards(s->tail) && !s->divides &&
           !(extent.defined() && is_const_one(simplify(extent >= s->factor)));
}

void decide(const Function &f, Definition &def, bool is_update) {
    const LoopGraph graph(f.args(), def.schedule);
    const KnownExtents extents(f, def.schedule, graph);
    for (size_t i = 0; i < graph.steps().size(); i++) {
        Split &s = def.schedule.splits[i];
        const LoopStep &step = graph.steps()[i];
        if (s.is_fuse()) {
            s.factor = extents.constant(step.inner);
        }
        if (!s.is_split()) {
            continue;
        }
        s.divides = extents.divides(step);
        if (graph.loop(step.old).is_fused) {
            s.tail = TailStrategy::GuardWithIf;
        } else if (s.tail == TailStrategy::Auto) {
            // What was decided has a say in it.
            const LoopGraph now(f.args(), def.schedule);
            s.tail = now.default_tail(step.old, step.factor, is_update);
        } else if (s.tail == TailStrategy::PredicateLoads &&
                   (is_stored_further_out(f) || graph.loop(step.old).is_shifted)) {
            s.tail = TailStrategy::Predicate;
        }
    }
    for (size_t i = 0; i < graph.steps().size(); i++) {
        Split &s = def.schedule.splits[i];
        s.divides = s.divides && !has_too_few_blocks(graph.steps()[i].outer, extents,
                                                     LoopGraph(f.args(), def.schedule));
    }
    for (const Specialization &s : def.specializations) {
        if (s.definition) {
            decide(f, *s.definition, is_update);
        }
    }
}

}  // namespace

void decide_tails(const Function &f) {
    for (int stage = 0; stage < f.stages(); stage++) {
        if (const DefinitionPtr &def = f.stage(stage)) {
            decide(f, *def, stage > 0);
        }
    }
    if (f.has_extern_definition()) {
        decide(f, *f->extern_schedule, false);
    }
}

}  // namespace calotype::internal
