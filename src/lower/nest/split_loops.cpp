// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/nest/split_loops.h"

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/operators.h"
#include "lower/names.h"

namespace calotype {

using namespace internal;

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

bool known_multiple(const std::map<std::string, Expr> &extents, const std::string &var,
                    const Expr &factor) {
    auto it = extents.find(var);
    return it != extents.end() && is_const_zero(simplify(it->second % factor));
}

SplitEffect split(const std::string &func, int stage, const Split &s, bool guarded,
                  std::map<std::string, Expr> *extents) {
    Loop old(func, stage, s.old_var), outer(func, stage, s.outer), inner(func, stage, s.inner);
    Expr factor = cast(Int(32), s.factor);
    SplitEffect effect;
    add_range(&effect, inner, 0, factor - 1, factor);
    Expr outer_extent = (old.max() - old.min() + factor) / factor;
    add_range(&effect, outer, 0, outer_extent - 1, outer_extent);

    bool exact_fit = known_multiple(*extents, s.old_var, factor);
    TailStrategy tail = exact_fit ? TailStrategy::RoundUp
                        : guarded ? TailStrategy::GuardWithIf
                                  : resolve_tail(s, stage);
    Expr base = outer.var() * factor + old.min();
    switch (tail) {
    case TailStrategy::ShiftInwardsAndBlend:
        effect.blend = old.var() >= base;
        [[fallthrough]];
    case TailStrategy::ShiftInwards:
        base = min(likely_if_innermost(base), old.max() + (1 - factor));
        break;
    case TailStrategy::RoundUpAndBlend:
        effect.blend = likely(old.var() <= old.max());
        break;
    case TailStrategy::GuardWithIf:
    case TailStrategy::Predicate:
    case TailStrategy::PredicateLoads:
    case TailStrategy::PredicateStores:
        effect.guard = likely(old.var() <= old.max());
        break;
    case TailStrategy::RoundUp:
    case TailStrategy::Auto:
        break;
    }
    effect.lets.emplace_back(old.name, base + inner.var());
    (*extents)[s.inner] = factor;
    auto it = extents->find(s.old_var);
    if (it != extents->end()) {
        (*extents)[s.outer] = simplify((it->second + factor - 1) / factor);
    }
    return effect;
}

SplitEffect fuse(const std::string &func, int stage, const Split &s,
                 std::map<std::string, Expr> *extents) {
    Loop fused(func, stage, s.old_var), outer(func, stage, s.outer), inner(func, stage, s.inner);
    SplitEffect effect;
    Expr extent = inner.extent() * outer.extent();
    add_range(&effect, fused, 0, extent - 1, extent);
    // The quotient of two ranges is more than bounds analysis can follow, so it is told.
    auto promise = [](const Expr &e, const Loop &range) {
        return Call::make(Int(32), Intrinsic::promise_clamped, {e, range.min(), range.max()});
    };
    auto i = extents->find(s.inner), o = extents->find(s.outer);
    // A number where there is one: what a thread touches is then seen to be of constant size.
    const Expr width = i != extents->end() ? i->second : inner.extent();
    effect.lets.emplace_back(inner.name, promise(fused.var() % width + inner.min(), inner));
    effect.lets.emplace_back(outer.name, promise(fused.var() / width + outer.min(), outer));
    if (i != extents->end() && o != extents->end()) {
        (*extents)[s.old_var] = simplify(i->second * o->second);
    } else if (i != extents->end() || o != extents->end()) {
        // A multiple of the one that is known: enough to see that a factor of it divides the whole.
        const Expr &known = i != extents->end() ? i->second : o->second;
        (*extents)[s.old_var] = known * (i != extents->end() ? outer.extent() : inner.extent());
    }
    return effect;
}

}  // namespace

TailStrategy resolve_tail(const Split &split, int stage) {
    if (split.tail != TailStrategy::Auto) {
        return split.tail;
    }
    if (split.exact) {
        return TailStrategy::GuardWithIf;
    }
    return stage == 0 ? TailStrategy::ShiftInwards : TailStrategy::RoundUp;
}

SplitEffect split_loops(const std::string &func, int stage, const Split &s,
                        std::map<std::string, Expr> *extents, std::set<std::string> *fused) {
    bool guarded = fused->count(s.old_var) != 0;
    if (s.is_fuse()) {
        fused->insert(s.old_var);
    } else if (guarded) {
        fused->insert({s.outer, s.inner});
    }
    if (s.is_split()) {
        return split(func, stage, s, guarded, extents);
    }
    if (s.is_fuse()) {
        return fuse(func, stage, s, extents);
    }
    Loop old(func, stage, s.old_var), renamed(func, stage, s.outer);
    SplitEffect effect;
    add_range(&effect, renamed, old.min(), old.max(), old.extent());
    effect.lets.emplace_back(old.name, renamed.var());
    auto it = extents->find(s.old_var);
    if (it != extents->end()) {
        (*extents)[s.outer] = it->second;
    }
    return effect;
}

Expr covered_extent(const std::vector<Split> &splits, int stage, const std::string &var,
                    Expr extent) {
    for (size_t i = 0; i < splits.size(); i++) {
        const Split &s = splits[i];
        if (s.is_fuse() && (s.inner == var || s.outer == var)) {
            return extent;  // the name may be given to another loop from here on
        }
        if (s.is_fuse() || s.old_var != var) {
            continue;
        }
        std::vector<Split> later(splits.begin() + i + 1, splits.end());
        if (s.is_rename()) {
            return covered_extent(later, stage, s.outer, extent);
        }
        Expr factor = cast(Int(32), s.factor);
        Expr outer = covered_extent(later, stage, s.outer, (extent + factor - 1) / factor);
        Expr inner = covered_extent(later, stage, s.inner, factor);
        switch (resolve_tail(s, stage)) {
        case TailStrategy::RoundUp:
        case TailStrategy::RoundUpAndBlend:
            return simplify((outer - 1) * factor + inner);
        case TailStrategy::ShiftInwards:
        case TailStrategy::ShiftInwardsAndBlend:
            return simplify(max(extent, factor) - factor + inner);
        default:
            return extent;
        }
    }
    return extent;
}

}  // namespace calotype
