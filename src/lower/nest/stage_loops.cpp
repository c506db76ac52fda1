// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A nest is a list of enclosing constructs, outermost first: loops in the order of the schedule's
// dims, and between them the lets that define split variables and the conditions that guard them,
// each as far out as what it uses allows.
#include "lower/nest/stage_loops.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <set>

#include "arith/box.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/walk/search.h"
#include "ir/with.h"
#include "lower/checks/error_call.h"
#include "lower/names.h"
#include "lower/nest/extern_stage.h"
#include "lower/nest/provide.h"
#include "lower/nest/split_loops.h"

namespace calotype::internal {

namespace {

/// A let between two loops, or, without a name, a condition.
struct Enclosing {
    std::string name;
    Expr value;
};

class StageNest {
public:
    StageNest(const Function &f, int stage, const Definition &def, LowerContext &ctx)
        : f_(f), stage_(stage), def_(def), schedule_(def.schedule), graph_(f.args(), schedule_),
          ctx_(ctx) {
        for (size_t i = 0; i < loops(); i++) {
            ctx_.loops[loop_name(i)] = {f_.name(), stage_, plain_name(i), {}};
        }
        apply_splits();
    }

    /// The outer loops of `child`, down to the one called `var`, become those of this nest.
    void fuse(std::unique_ptr<StageNest> child, const std::string &var) {
        size_t depth = depth_of_loop(var), child_depth = child->depth_of_loop(var);
        std::string what =
            "func " + child->f_.name() + " is computed with " + f_.name() + " at " + var;
        user_assert(depth && child_depth)
            << what << ", but " << (depth ? child->f_.name() : f_.name()) << " has no loop over "
            << var;
        user_assert(depth == child_depth)
            << what << ", but that is loop " << depth - 1 << " of " << f_.name() << " and loop "
            << child_depth - 1 << " of " << child->f_.name();
        for (size_t i = 0; i < depth; i++) {
            user_assert(dim(i).for_type == child->dim(i).for_type)
                << what << ", but the loops over " << plain_name(i) << " are "
                << to_string(dim(i).for_type) << " and " << to_string(child->dim(i).for_type);
            LoopInfo &own = ctx_.loops[loop_name(i)];
            const LoopInfo &theirs = ctx_.loops[child->loop_name(i)];
            own.fused.emplace_back(child->f_.name(), child->stage_);
            own.fused.insert(own.fused.end(), theirs.fused.begin(), theirs.fused.end());
            own.stands_for.push_back(child->loop_name(i));
            own.stands_for.insert(own.stands_for.end(), theirs.stands_for.begin(),
                                  theirs.stands_for.end());
        }
        // What shares fewer loops with the child shares them with this nest, too.
        std::vector<Child> &theirs = child->children_;
        const auto outer = std::stable_partition(
            theirs.begin(), theirs.end(), [&](const Child &other) { return other.depth >= depth; });
        std::move(outer, theirs.end(), std::back_inserter(children_));
        theirs.erase(outer, theirs.end());
        shared_ = std::max(shared_, depth);
        child->shared_ = std::max(child->shared_, depth);
        children_.push_back({std::move(child), depth});
    }

    Stmt build() {
        arrange();
        const Stmt s = inside(0);
        std::vector<NamedValue> ranges;
        collect_ranges(&ranges);
        return wrap_in_lets(ranges, s);
    }

private:
    struct Child {
        std::unique_ptr<StageNest> nest;
        size_t depth;  ///< how many loops it shares with this nest
    };

    size_t loops() const {
        return schedule_.dims.size();
    }
    /// Loop i, outermost first.
    const Dim &dim(size_t i) const {
        return schedule_.dims[loops() - 1 - i];
    }
    const std::string &plain_name(size_t i) const {
        return dim(i).var;
    }
    /// How many loops there are down to and with the one of that name; 0 if there is none.
    size_t depth_of_loop(const std::string &var) const {
        for (size_t i = loops(); i-- > 0;) {
            if (plain_name(i) == var) {
                return i + 1;
            }
        }
        return 0;
    }

    /// What stands inside of the first `depth` loops.
    Stmt inside(size_t depth) {
        if (is_left_to_extern(depth)) {
            return make_extern_call(depth);
        }
        Stmt s = depth == loops() ? make_provide() : make_loop(depth, inside(depth + 1));
        for (size_t i = at_[depth].size(); i-- > 0;) {
            s = wrap(at_[depth][i], std::move(s));
        }
        if (!children_.empty() && depth == shared_) {
            s = IfThenElse::make(in_own_range(depth), s);
        }
        for (const Child &child : children_) {
            if (child.depth == depth) {
                s = Block::make(s, child.nest->as_child(*this, depth));
            }
        }
        return s;
    }

    /// Whether the loops from here on are those of the stage's C function.
    bool is_left_to_extern(size_t depth) const {
        return !calls_extern_ && stage_ == 0 && f_.has_extern_definition() &&
               (depth == loops() || dim(depth).for_type == ForType::Extern);
    }

    /// The region that these loops cover is what the C function is asked for.
    Stmt make_extern_call(size_t depth) {
        for (size_t i = depth; i < loops(); i++) {
            user_assert(dim(i).for_type == ForType::Extern)
                << "func " << f_.name() << ": loop " << plain_name(i) << " is inside of loop "
                << plain_name(depth) << ", which its extern stage has; reorder them, or make "
                << plain_name(depth) << " serial";
        }
        calls_extern_ = true;
        const Stmt covered = inside(depth);
        calls_extern_ = false;
        Box region = box_provided(covered, f_.name());
        for (int d = 0; d < f_.dimensions(); d++) {
            const std::string loop = loop_name(f_.args()[d]);
            const Expr first = names::var(names::loop_min(loop)),
                       last = names::var(names::loop_max(loop));
            // No tail leaves the region of the stage.
            Interval &range = region[size_t(d)];
            if (equal(range.min, first)) {
                range.max = last;  // all of it, which may be nothing
                continue;
            }
            for (Expr *end : {&range.min, &range.max}) {
                const bool inside = can_prove(*end >= first && *end <= last);
                *end = inside ? *end : clamp(*end, first, last);
            }
        }
        return extern_stage_call(f_, region);
    }

    /// The rest of this nest inside of the first `depth` loops of its parent.
    Stmt as_child(const StageNest &parent, size_t depth) {
        arrange();
        Stmt s = inside(depth);
        // With children, only what is our own has been guarded there: they have other ranges.
        if (children_.empty()) {
            s = IfThenElse::make(in_own_range(depth), s);
        }
        for (size_t i = depth; i-- > 0;) {
            std::string loop = loop_name(i);
            s = LetStmt::make(loop, names::var(parent.loop_name(i)) + shift(parent, i), s);
        }
        return s;
    }

    /// What to add to the parent's loop variable i to get ours.
    Expr shift(const StageNest &parent, size_t i) const {
        const auto &align = schedule_.fuse_level.align;
        auto it = align.find(plain_name(i));
        std::string own = loop_name(i), theirs = parent.loop_name(i);
        if (it != align.end() && it->second == LoopAlignStrategy::AlignStart) {
            return names::var(names::loop_min(own)) - names::var(names::loop_min(theirs));
        }
        if (it != align.end() && it->second == LoopAlignStrategy::AlignEnd) {
            return names::var(names::loop_max(own)) - names::var(names::loop_max(theirs));
        }
        return 0;
    }

    Expr in_own_range(size_t depth) const {
        Expr result = const_true();
        for (size_t i = 0; i < depth; i++) {
            std::string loop = loop_name(i);
            Expr v = names::var(loop);
            result = result && likely(v >= names::var(names::loop_min(loop))) &&
                     likely(v <= names::var(names::loop_max(loop)));
        }
        return result;
    }

    /// Of the loops that children share: what they and this nest run over together.
    void collect_ranges(std::vector<NamedValue> *ranges) const {
        ranges->insert(ranges->end(), ranges_.begin(), ranges_.end());
        for (const Child &child : children_) {
            child.nest->collect_ranges(ranges);
        }
        for (size_t i = 0; has_common_range(i); i++) {
            std::string loop = loop_name(i);
            Expr first = names::var(names::loop_min(loop)),
                 last = names::var(names::loop_max(loop));
            for (const Child &child : children_) {
                if (child.depth > i) {
                    Expr offset = child.nest->shift(*this, i);
                    first = min(first, child.nest->common_min(i) - offset);
                    last = max(last, child.nest->common_max(i) - offset);
                }
            }
            ranges->emplace_back(names::fused_min(loop), first);
            ranges->emplace_back(names::fused_extent(loop),
                                 last + 1 - names::var(names::fused_min(loop)));
        }
    }

    /// Whether children share loop i.
    bool has_common_range(size_t i) const {
        return !children_.empty() && i < shared_;
    }
    /// The range of loop i: of this nest and of all children that share it.
    Expr common_min(size_t i) const {
        std::string loop = loop_name(i);
        return names::var(has_common_range(i) ? names::fused_min(loop) : names::loop_min(loop));
    }
    Expr common_max(size_t i) const {
        std::string loop = loop_name(i);
        return has_common_range(i) ? common_min(i) + names::var(names::fused_extent(loop)) - 1
                                   : names::var(names::loop_max(loop));
    }

    Stmt make_loop(size_t i, Stmt body) {
        std::string loop = loop_name(i);
        Expr min = common_min(i);
        Expr extent =
            names::var(has_common_range(i) ? names::fused_extent(loop) : names::loop_extent(loop));
        Stmt s = For::make(loop, min, extent, dim(i).for_type, dim(i).partition, dim(i).device_api,
                           with_prefetches(i, std::move(body)));
        for (size_t c = factor_checks_.size(); i == 0 && c-- > 0;) {
            s = Block::make(factor_checks_[c], s);
        }
        return s;
    }

    /// The body of loop i with what is to be fetched there, of which no region is known yet.
    Stmt with_prefetches(size_t i, Stmt body) const {
        for (const PrefetchDirective &p : schedule_.prefetches) {
            const std::vector<Type> types = types_of(p);
            if (p.at != plain_name(i) || types.empty()) {
                continue;
            }
            const size_t from = depth_of_loop(p.from);
            user_assert(from) << "prefetch of " << p.name << " at loop " << p.at << " of func "
                              << f_.name() << " from loop " << p.from << ": there is no such loop";
            body = Prefetch::make(p.name, types, {}, loop_name(i), loop_name(from - 1), p.offset,
                                  p.strategy, const_true(), std::move(body), p.symbol);
        }
        return body;
    }

    /// None of a Func that is not part of the pipeline.
    std::vector<Type> types_of(const PrefetchDirective &p) const {
        const auto f = ctx_.env.find(p.name);
        if (f != ctx_.env.end()) {
            return f->second.output_types();
        }
        return p.symbol ? std::vector<Type>{Parameter(p.symbol).type()} : std::vector<Type>();
    }

    /// Of loop i, outermost first.
    std::string loop_name(size_t i) const {
        return loop_name(graph_.loop(graph_.nest()[loops() - 1 - i]).name);
    }
    std::string loop_name(const std::string &name) const {
        return names::loop(f_.name(), stage_, name);
    }

    void add_base_range(const std::string &var, const Expr &min, const Expr &max) {
        std::string loop = loop_name(var);
        ranges_.emplace_back(names::loop_min(loop), min);
        ranges_.emplace_back(names::loop_max(loop), max);
        ranges_.emplace_back(names::loop_extent(loop), names::var(names::loop_max(loop)) + 1 -
                                                           names::var(names::loop_min(loop)));
    }

    /// Whether, where less than a block is required, the block lies before the end of it rather than
    /// beyond its start: in a loop's last tile, what is before it is what tiles before it needed. Not
    /// at root, where nothing is, nor where storage outlives the loop, which holds what was computed.
    bool shifts_over_earlier() const {
        const FuncSchedule &s = f_.schedule();
        return !s.compute_level.is_root() && s.store_level == s.compute_level &&
               !f_.has_extern_definition();
    }

    /// A region that a condition leaves less than nothing of has such; of an output none has. Within kernels extents
    /// that are constants have to be seen to be.
    bool extents_may_be_negative() const {
        return !ctx_.is_output(f_.name()) && !has_gpu_loops(schedule_);
    }

    void apply_splits() {
        for (const PureVar &v : pure_vars(f_, stage_)) {
            // The loops of splits may cover more than is required.
            const Expr min = names::var(names::stage_min(f_.name(), stage_, v.name)),
                       max = names::var(names::stage_max(f_.name(), stage_, v.name));
            const Expr extent = simplify(max - min + 1),
                       covered = covered_extent(graph_, v.dimension, extent);
            const Expr shifted =
                shifts_over_earlier() ? shifted_extent(graph_, v.dimension, extent) : extent;
            if (equal(covered, extent)) {
                add_base_range(v.name, min, max);
            } else if (equal(shifted, extent)) {
                add_base_range(v.name, min, simplify(min + covered - 1));
            } else {
                add_base_range(v.name, simplify(max - shifted + 1),
                               simplify(max + (covered - shifted)));
            }
        }
        for (const ReductionVariable &rv : schedule_.rvars) {
            Expr min = qualify(rv.min, f_, stage_), extent = qualify(rv.extent, f_, stage_);
            add_base_range(rv.var, min, min + extent - 1);
        }
        add_base_range(outermost_name, 0, 0);
        const bool may_be_negative = extents_may_be_negative();
        for (const LoopStep &step : graph_.steps()) {
            SplitEffect effect = split_loops(f_.name(), stage_, graph_, step, may_be_negative);
            ranges_.insert(ranges_.end(), effect.loop_ranges.begin(), effect.loop_ranges.end());
            lets_.insert(lets_.begin(), effect.lets.begin(), effect.lets.end());
            if (effect.guard.defined()) {
                guards_.push_back(effect.guard);
            }
            const auto also = [](Expr *all, const Expr &condition) {
                *all = all->defined() && condition.defined() ? *all && condition
                       : condition.defined()                 ? condition
                                                             : *all;
            };
            also(&blend_, effect.blend);
            also(&guard_of_loads_, effect.guard_of_loads);
            also(&guard_of_stores_, effect.guard_of_stores);
        }
        for (const Split &split : schedule_.splits) {
            check_factor(split);
        }
        if (!is_trivially_true(def_.predicate)) {
            add_predicate(qualify(def_.predicate, f_, stage_));
        }
    }

    /// Both operands of && may be evaluated, so what reads memory stands inside of the conditions that
    /// say where it may be read:
    ///
    ///     if (r < 5 && in(r) > 3)    ->    if (r < 5) { if (in(r) > 3) { ... } }
    void add_predicate(const Expr &predicate) {
        std::vector<Expr> reads;
        Expr others;
        const std::function<void(const Expr &)> collect = [&](const Expr &e) {
            if (const And *both = e.as<And>()) {
                collect(both->a);
                collect(both->b);
            } else if (reads_memory(e)) {
                reads.push_back(e);
            } else {
                others = others.defined() ? others && e : e;
            }
        };
        collect(predicate);
        if (others.defined()) {
            guards_.push_back(others);
        }
        guards_.insert(guards_.end(), reads.begin(), reads.end());
    }

    static bool reads_memory(const Expr &e) {
        return contains<Call>(e, [](const Call *call) {
            return call->call_type == CallKind::Func || call->call_type == CallKind::Image;
        });
    }

    /// A factor that is only known at run time must be positive then.
    void check_factor(const Split &split) {
        if (split.is_split() && !is_const(split.factor)) {
            Expr factor = cast(Int(32), split.factor);
            factor_checks_.push_back(AssertStmt::make(
                factor > 0, error_call("split_factor_not_positive",
                                       {f_.name(), split.old_var, split.outer, split.inner,
                                        to_text(split.factor), factor})));
        }
    }

    Stmt make_provide() {
        std::vector<Expr> args, values;
        for (const Expr &e : def_.args) {
            args.push_back(guard_loads(stream_loads(qualify(e, f_, stage_), f_, schedule_)));
        }
        for (size_t i = 0; i < def_.values.size(); i++) {
            Expr value =
                guard_loads(stream_loads(qualify(def_.values[i], f_, stage_), f_, schedule_));
            if (blend_.defined()) {
                Expr old = Call::make(value.type(), f_.name(), args, CallKind::Func, int(i));
                value = select(blend_, value, old);
            }
            values.push_back(value);
        }
        if (calls_extern_) {
            values.push_back(0);  // only where it is written matters
        }
        const Stmt s = make_provide(values, args);
        return schedule_.stream_stores ? stream_stores(s) : s;
    }

    Stmt make_provide(const std::vector<Expr> &values, const std::vector<Expr> &args) const {
        if (guard_of_stores_.defined() && !schedule_.atomic) {
            return provide_where(guard_of_stores_, f_.name(), values, args);
        }
        const Stmt s = schedule_.atomic ? provide_atomically(f_.name(), values, args)
                                        : provide_all(f_.name(), values, args);
        return guard_of_stores_.defined() ? IfThenElse::make(guard_of_stores_, s) : s;
    }

    Expr guard_loads(Expr e) const {
        e = guard_of_loads_.defined() ? load_where(guard_of_loads_, e) : e;
        // What is not stored is not there to be loaded either.
        return guard_of_stores_.defined() ? load_where(guard_of_stores_, e, f_.name()) : e;
    }

    /// Puts lets and guards as far out as what they use allows, but inside of all loops that are
    /// shared. Guards are inside of all block loops, too: the blocks of a kernel are one nest.
    void arrange() {
        std::map<std::string, size_t> depth;  // of loops and lets, by name
        size_t in_blocks = 0;
        for (size_t i = 0; i < loops(); i++) {
            depth[loop_name(i)] = i + 1;
            in_blocks = dim(i).for_type == ForType::GPUBlock ? i + 1 : in_blocks;
        }
        auto depth_of = [&](const Expr &e) {
            size_t d = shared_;
            for (const std::string &v : free_variables(e)) {
                auto it = depth.find(v);
                d = it == depth.end() ? d : std::max(d, it->second);
            }
            return d;
        };
        at_.assign(loops() + 1, {});
        for (const NamedValue &let : lets_) {
            size_t d = depth[let.first] = depth_of(let.second);
            at_[d].push_back({let.first, let.second});
        }
        for (const Expr &guard : guards_) {
            const size_t d = is_fixed(guard) ? std::max(depth_of(guard), in_blocks) : loops();
            at_[d].push_back({"", guard});
        }
    }

    /// False for a condition whose value depends on when it is evaluated: a predicate may read what
    /// the stage itself changes from one iteration to the next.
    bool is_fixed(const Expr &guard) const {
        return is_pure(guard) && !uses_buffer(guard, f_.name());
    }

    static Stmt wrap(const Enclosing &e, Stmt body) {
        return e.name.empty() ? IfThenElse::make(e.value, std::move(body))
                              : LetStmt::make(e.name, e.value, std::move(body));
    }

    const Function &f_;
    int stage_;
    const Definition &def_;
    const StageSchedule &schedule_;
    const LoopGraph graph_;
    LowerContext &ctx_;
    std::vector<NamedValue> ranges_;  ///< outside of all loops
    std::vector<NamedValue> lets_;    ///< inside, outermost first
    std::vector<Expr> guards_;
    std::vector<Stmt> factor_checks_;
    Expr blend_, guard_of_loads_, guard_of_stores_;
    bool calls_extern_ = false;               ///< while the loops of an extern stage are built
    std::vector<std::vector<Enclosing>> at_;  ///< inside of the first n loops
    std::vector<Child> children_;
    size_t shared_ = 0;  ///< outer loops that this nest shares with children or parent
};

/// The code of a definition, behind that of its specializations.
template<typename Special, typename Plain>
Stmt with_specializations(const Definition &def, const Special &make_special, const Plain &make) {
    Stmt s = make();
    for (size_t i = def.specializations.size(); i-- > 0;) {
        const Specialization &special = def.specializations[i];
        if (special.definition) {
            s = IfThenElse::make(special.condition, make_special(*special.definition), s);
        } else {
            s = AssertStmt::make(const_false(),
                                 error_call("specialize_fail", {special.failure_message}));
            s = IfThenElse::make(special.condition, s, Stmt());
        }
    }
    return s;
}

Stmt make_definition(const Function &f, int stage, const Definition &def, LowerContext &ctx) {
    return with_specializations(
        def, [&](const Definition &special) { return make_definition(f, stage, special, ctx); },
        [&] { return StageNest(f, stage, def, ctx).build(); });
}

/// Stage -> the stages that are computed with it.
using FusedStages = std::map<StageKey, std::vector<StageKey>>;

/// The nest of a stage with those of all stages fused into it, and into those. Where some are
/// specialized, one such nest for each choice among their definitions:
///
///     if (special) { nest of f's special definition and g } else { nest of f and g }
class FusedNest {
public:
    FusedNest(const StageKey &root, const FusedStages &fused, LowerContext &ctx)
        : root_(root), fused_(fused), ctx_(ctx) {
        collect(root);
    }

    Stmt build() {
        return cases_from(0);
    }

private:
    void collect(const StageKey &key) {
        stages_.push_back(key);
        for (const StageKey &child : children(key)) {
            collect(child);
        }
    }

    std::vector<StageKey> children(const StageKey &key) const {
        const auto it = fused_.find(key);
        return it == fused_.end() ? std::vector<StageKey>() : it->second;
    }

    const Definition &definition(const StageKey &key) const {
        return *ctx_.env.at(key.first).stage(key.second);
    }

    Stmt cases_from(size_t i) {
        return i == stages_.size() ? make_nest(root_)->build()
                                   : cases_of(i, definition(stages_[i]));
    }

    Stmt cases_of(size_t i, const Definition &def) {
        return with_specializations(
            def, [&](const Definition &special) { return cases_of(i, special); },
            [&] {
                chosen_[stages_[i]] = &def;
                return cases_from(i + 1);
            });
    }

    std::unique_ptr<StageNest> make_nest(const StageKey &key) const {
        auto nest =
            std::make_unique<StageNest>(ctx_.env.at(key.first), key.second, *chosen_.at(key), ctx_);
        for (const StageKey &child : children(key)) {
            nest->fuse(make_nest(child), definition(child).schedule.fuse_level.level.var_name());
        }
        return nest;
    }

    const StageKey root_;
    const FusedStages &fused_;
    LowerContext &ctx_;
    std::vector<StageKey> stages_;
    std::map<StageKey, const Definition *> chosen_;
};

}  // namespace

Expr qualify(const Expr &e, const Function &f, int stage) {
    if (!e.defined()) {
        return e;
    }
    std::set<std::string> own(f.args().begin(), f.args().end());
    for_each<Variable>(e, [&](const Variable *op) {
        if (op->symbol && op->symbol->kind == SymbolKind::ReductionDomain) {
            own.insert(op->name);
        }
    });
    if (const auto &def = f.stage(stage)) {
        for (const ReductionVariable &rv : def->schedule.rvars) {
            own.insert(rv.var);
        }
    }
    std::map<std::string, Expr> qualified;
    for (const std::string &name : own) {
        qualified[name] = Variable::make(Int(32), names::loop(f.name(), stage, name));
    }
    return substitute(qualified, e);
}

namespace {
/// Whether the definition, or a specialization of it, stores at all places of dimension i.
bool is_pure_in(const Definition &def, int i, const std::string &name) {
    const Variable *v = def.args[size_t(i)].as<Variable>();
    return (v && !v->symbol && v->name == name) ||
           std::any_of(def.specializations.begin(), def.specializations.end(),
                       [&](const Specialization &s) {
                           return s.definition && is_pure_in(*s.definition, i, name);
                       });
}
}  // namespace

std::vector<PureVar> pure_vars(const Function &f, int stage) {
    std::vector<PureVar> result;
    for (int i = 0; i < f.dimensions(); i++) {
        const std::string &name = f.args()[i];
        if (stage == 0 || is_pure_in(*f.stage(stage), i, name)) {
            result.push_back({i, name});
        }
    }
    return result;
}

/// True if the definition, or a specialization of it, stores around the cache.
bool streams_stores(const Definition &def) {
    return def.schedule.stream_stores ||
           std::any_of(def.specializations.begin(), def.specializations.end(),
                       [](const Specialization &s) {
                           return s.definition && streams_stores(*s.definition);
                       });
}

Stmt make_stage_loops(const Function &f, int stage, LowerContext &ctx) {
    const bool is_extern = stage == 0 && f.has_extern_definition();
    const Definition &def = is_extern ? *f->extern_schedule : *f.stage(stage);
    const Stmt s = make_definition(f, stage, def, ctx);
    return streams_stores(def) ? Block::make(s, stream_store_fence()) : s;
}

bool has_gpu_loops(const StageSchedule &schedule) {
    return std::any_of(schedule.dims.begin(), schedule.dims.end(),
                       [](const Dim &dim) { return is_gpu(dim.for_type); });
}

std::optional<StageKey> fused_with(const Definition &def) {
    const LoopLevel &level = def.schedule.fuse_level.level;
    if (level.is_inlined() || level.is_root()) {
        return std::nullopt;
    }
    return StageKey(level.func_name(), std::max(level.stage_index(), 0));
}

Stmt make_group_loops(const std::vector<std::string> &group, LowerContext &ctx) {
    FusedStages fused;
    std::vector<StageKey> roots;
    std::map<StageKey, StageKey> root_of;
    for (const std::string &name : group) {
        const Function &f = ctx.env.at(name);
        for (int i = 0; i < f.stages(); i++) {
            std::optional<StageKey> parent = f.stage(i) ? fused_with(*f.stage(i)) : std::nullopt;
            StageKey key(name, i);
            parent ? fused[*parent].push_back(key) : roots.push_back(key);
            root_of[key] = key;
        }
    }
    for (auto &entry : root_of) {
        for (size_t steps = 0; steps < root_of.size(); steps++) {
            std::optional<StageKey> up =
                fused_with(*ctx.env.at(entry.second.first).stage(entry.second.second));
            entry.second = up ? *up : entry.second;
        }
        const StageKey &last = entry.second;
        const auto next = fused_with(*ctx.env.at(last.first).stage(last.second));
        user_assert(!next) << "func " << last.first << " is computed with func " << next->first
                           << ", which is itself computed with func " << last.first;
    }
    // A nest comes after those of all earlier stages of the Funcs in it.
    std::vector<Stmt> nests;
    std::set<StageKey> done;
    while (done.size() < roots.size()) {
        size_t before = done.size();
        for (const StageKey &root : roots) {
            bool ready = !done.count(root);
            for (const auto &entry : root_of) {
                StageKey earlier(entry.first.first, entry.first.second - 1);
                bool mine =
                    entry.second == root && earlier.second >= 0 && root_of.at(earlier) != root;
                ready = ready && (!mine || done.count(root_of.at(earlier)));
            }
            if (ready) {
                nests.push_back(FusedNest(root, fused, ctx).build());
                done.insert(root);
            }
        }
        user_assert(done.size() > before) << "the stages of func " << group[0]
                                          << " and those computed with it cannot be put in order";
    }
    return Block::make(nests);
}

}  // namespace calotype::internal
