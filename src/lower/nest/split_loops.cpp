// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/nest/split_loops.h"

#include <algorithm>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/operators.h"
#include "lower/names.h"
#include "pipeline/tails.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

/// A loop of the stage, and Variables for its range.
struct Loop {
    std::string name;
    Loop(const std::string &func, int stage, const std::string &var)
        : name(names::loop(func, stage, var)) {
    }
    Expr var() const {
        return names::var(name);
    }
    Expr min() const {
        return names::var(names::loop_min(name));
    }
    Expr max() const {
        return names::var(names::loop_max(name));
    }
    Expr extent() const {
        return names::var(names::loop_extent(name));
    }
};

void add_range(SplitEffect *effect, const Loop &loop, const Expr &min, const Expr &max,
               const Expr &extent) {
    effect->loop_ranges.emplace_back(names::loop_min(loop.name), min);
    effect->loop_ranges.emplace_back(names::loop_max(loop.name), max);
    effect->loop_ranges.emplace_back(names::loop_extent(loop.name), extent);
}

/// The loops of a step.
struct StepLoops {
    Loop old, outer, inner;
};

bool is_rounded_up(TailStrategy tail) {
    return tail == TailStrategy::RoundUp || tail == TailStrategy::RoundUpAndBlend;
}

/// How many blocks of `factor` a range has. The sum of both is not made where it may be too large for the type: a
/// factor may be any number.
Expr blocks_of(const Expr &min, const Expr &max, const Expr &factor) {
    constexpr int64_t small = 1 << 24;
    const std::optional<int64_t> number = as_const_int(factor);
    return number && *number <= small ? (max - min + factor) / factor : (max - min) / factor + 1;
}

/// How many iterations the outer loop has. Where it is split with a tail that is shifted, at least one
/// block, as a loop may not begin before 0: what is past the old loop's end is guarded, or its last
/// block again. A loop that is rounded up has as many already.
Expr extent_of_outer(const LoopGraph &graph, const Loop &old, const LoopStep &s) {
    const Expr blocks = blocks_of(old.min(), old.max(), s.factor);
    return s.divides || is_rounded_up(s.tail) ? blocks : shifted_extent(graph, s.outer, blocks);
}

SplitEffect split(const LoopGraph &graph, const StepLoops &loops, const LoopStep &s) {
    const Loop &old = loops.old, &outer = loops.outer, &inner = loops.inner;
    const Expr &factor = s.factor;
    SplitEffect effect;
    add_range(&effect, inner, 0, factor - 1, factor);
    const Expr outer_extent = extent_of_outer(graph, old, s);
    add_range(&effect, outer, 0, outer_extent - 1, outer_extent);

    Expr base = outer.var() * factor + old.min();
    const Expr in_range = likely(old.var() <= old.max());
    switch (s.divides ? TailStrategy::RoundUp : s.tail) {
    case TailStrategy::ShiftInwardsAndBlend:
        effect.blend = old.var() >= base;
        [[fallthrough]];
    case TailStrategy::ShiftInwards:
        base = min(likely_if_innermost(base), old.max() + (1 - factor));
        break;
    case TailStrategy::RoundUpAndBlend:
        effect.blend = in_range;
        break;
    case TailStrategy::GuardWithIf:
    case TailStrategy::Predicate:
        effect.guard = in_range;
        break;
    case TailStrategy::PredicateLoads:
        effect.guard_of_loads = in_range;
        break;
    case TailStrategy::PredicateStores:
        effect.guard_of_stores = in_range;
        break;
    case TailStrategy::RoundUp:
        break;
    case TailStrategy::Auto:
        internal_error << "the tail of " << old.name << " is not decided";
    }
    effect.lets.emplace_back(old.name, base + inner.var());
    return effect;
}

SplitEffect fuse(const StepLoops &loops, const LoopStep &s, bool may_be_negative) {
    const Loop &fused = loops.old, &outer = loops.outer, &inner = loops.inner;
    SplitEffect effect;
    // Two negative extents make no loop.
    const bool may_both_be = may_be_negative && !s.factor.defined();
    const Expr extent = inner.extent() * (may_both_be ? max(outer.extent(), 0) : outer.extent());
    add_range(&effect, fused, 0, extent - 1, extent);
    // The quotient of two ranges is more than bounds analysis can follow, so it is told.
    auto promise = [](const Expr &e, const Loop &range) {
        return Call::make(Int(32), Intrinsic::promise_clamped, {e, range.min(), range.max()});
    };
    // A number where there is one: what a thread touches is then seen to be of constant size.
    const Expr width = s.factor.defined() ? s.factor : inner.extent();
    effect.lets.emplace_back(inner.name, promise(fused.var() % width + inner.min(), inner));
    effect.lets.emplace_back(outer.name, promise(fused.var() / width + outer.min(), outer));
    return effect;
}

SplitEffect rename(const Loop &old, const Loop &renamed) {
    SplitEffect effect;
    add_range(&effect, renamed, old.min(), old.max(), old.extent());
    effect.lets.emplace_back(old.name, renamed.var());
    return effect;
}

}  // namespace

SplitEffect split_loops(const std::string &func, int stage, const LoopGraph &graph,
                        const LoopStep &s, bool may_be_negative) {
    const auto loop = [&](int i) {
        return Loop(func, stage, graph.loop(i).name);
    };
    switch (s.kind) {
    case Split::Kind::Split:
        return split(graph, {loop(s.old), loop(s.outer), loop(s.inner)}, s);
    case Split::Kind::Fuse:
        return fuse({loop(s.old), loop(s.outer), loop(s.inner)}, s, may_be_negative);
    case Split::Kind::Rename:
        break;
    }
    return rename(loop(s.old), loop(s.outer));
}

Expr shifted_extent(const LoopGraph &graph, int loop, const Expr &extent) {
    const LoopStep *s = graph.split_of(loop);
    return s && shifts_inwards(s->tail) ? simplify(max(extent, s->factor)) : extent;
}

static bool fills_blocks(const Function &f, const Definition &def) {
    const LoopGraph graph(f.args(), def.schedule);
    const bool fills =
        std::any_of(graph.steps().begin(), graph.steps().end(), [&](const LoopStep &s) {
            return s.kind == Split::Kind::Split && !s.divides && !is_guarded(s.tail) &&
                   !graph.loop(s.old).is_rvar;
        });
    return fills || std::any_of(def.specializations.begin(), def.specializations.end(),
                                [&](const Specialization &s) {
                                    return s.definition && fills_blocks(f, *s.definition);
                                });
}

bool fills_blocks(const Function &f) {
    for (int stage = 0; stage < f.stages(); stage++) {
        const DefinitionPtr &def = f.stage(stage);
        if (def && fills_blocks(f, *def)) {
            return true;
        }
    }
    return false;
}

Expr covered_extent(const LoopGraph &graph, int loop, Expr extent) {
    const LoopStep *s = graph.split_of(loop);
    if (!s || !is_rounded_up(s->tail)) {
        return shifted_extent(graph, loop, extent);
    }
    const Expr blocks = blocks_of(0, extent - 1, s->factor);
    return simplify(covered_extent(graph, s->outer, blocks) * s->factor);
}

}  // namespace calotype::internal
