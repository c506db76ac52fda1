// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/schedule/loop_editor.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "pipeline/associativity.h"
#include "pipeline/check_parameters.h"
#include "pipeline/pure_rvar.h"
#include "pipeline/tails.h"
#include "support/error.h"

namespace calotype::internal {

LoopEditor::LoopEditor(const Stage &stage) : stage_(stage), definition_(&stage.edit()) {
    schedule().touched = true;
}

std::string LoopEditor::loops_as_text() const {
    std::string text;
    for (const Dim &d : definition_->schedule.dims) {
        if (d.var != outermost_name) {
            text += (text.empty() ? "" : ", ") + d.var;
        }
    }
    return text.empty() ? "none" : text;
}

size_t LoopEditor::find(const char *directive, const VarOrRVar &var) const {
    const std::vector<Dim> &dims = definition_->schedule.dims;
    for (size_t i = 0; i < dims.size(); i++) {
        if (dims[i].var == var.name()) {
            return i;
        }
    }
    user_error << directive << " of " << stage_.name() << ": there is no loop " << var.name()
               << ", the loops are " << loops_as_text();
}

// `replaced` are the loops that the directive removes: their names are free again.
void LoopEditor::check_new_name(const char *directive, const VarOrRVar &var,
                                const std::vector<std::string> &replaced) const {
    if (std::count(replaced.begin(), replaced.end(), var.name())) {
        return;
    }
    for (const Dim &d : definition_->schedule.dims) {
        user_assert(d.var != var.name())
            << directive << " of " << stage_.name() << ": there is already a loop " << var.name();
    }
}

bool LoopEditor::is_name_taken(const std::string &name) const {
    for (const Dim &d : definition_->schedule.dims) {
        if (d.var == name) {
            return true;
        }
    }
    for (const Split &s : definition_->schedule.splits) {
        if (s.old_var == name || s.outer == name || s.inner == name) {
            return true;
        }
    }
    return false;
}

VarOrRVar LoopEditor::name_inner(const VarOrRVar &var) const {
    std::string name = var.name() + "$i";
    for (int n = 1; is_name_taken(name); n++) {
        name = var.name() + "$i" + std::to_string(n);
    }
    return VarOrRVar(name, var.is_rvar);
}

void LoopEditor::check_same_kind(const char *directive, const VarOrRVar &old,
                                 const VarOrRVar &made) const {
    user_assert(old.is_rvar == made.is_rvar)
        << directive << " of " << stage_.name() << ": " << old.name() << " is "
        << (old.is_rvar ? "an RVar" : "a Var") << " and " << made.name() << " is "
        << (made.is_rvar ? "an RVar" : "a Var") << ", both must be of one kind";
}

void LoopEditor::check_factor(const VarOrRVar &old, const Expr &factor) const {
    const std::string what = "split of " + stage_.name() + ": the factor of " + old.name();
    user_assert(factor.defined()) << what << " is undefined";
    user_assert(Int(32).can_represent(factor.type()))
        << what << " has type " << factor.type() << ", must fit in int32";
    check_int32_of_parameters(factor, what);
    const auto value = as_const_int(factor);
    user_assert(!value || *value > 0) << what << " is " << *value << ", must be at least 1";
}

void LoopEditor::check_tail(const LoopGraph &graph, int old, const Expr &factor,
                            TailStrategy tail) const {
    const StageLoop &loop = graph.loop(old);
    user_assert(!loop.is_rvar || is_guarded(tail))
        << "split of " << stage_.name() << ": tail strategy " << to_string(tail) << " on RVar "
        << loop.var << " would change the result, only guard_with_if and predicate are allowed";
    user_assert(definition_->is_init || tail != TailStrategy::ShiftInwards)
        << "split of " << stage_.name()
        << ": tail strategy shift_inwards computes some values twice, so it is allowed for pure "
           "definitions alone";
    const FactorFit fit = graph.fit(old, factor);
    user_assert(!guards_accesses(tail) || fit == FactorFit::NotInner)
        << "split of " << stage_.name() << ": tail strategy " << to_string(tail) << " on "
        << loop.var << ", which an earlier split made: only the outermost split may have it";
    const LoopStep *made_by = loop.made_by < 0 ? nullptr : &graph.steps()[size_t(loop.made_by)];
    user_assert(!made_by || made_by->inner != old || !guards_accesses(made_by->tail) ||
                fit == FactorFit::Divides)
        << "split of " << stage_.name() << ": loop " << loop.var << " was made with tail strategy "
        << to_string(made_by->tail) << ", so it can be split by divisors of its factor alone";
    // Beyond its iterations lie those of the next block, which come to the same values.
    const bool may_repeat = definition_->is_init && tail == TailStrategy::RoundUp;
    user_assert(is_guarded(tail) || fit == FactorFit::NotInner || fit == FactorFit::Divides ||
                (shifts_inwards(tail) && fit == FactorFit::Fits) || may_repeat)
        << "split of " << stage_.name() << ": tail strategy " << to_string(tail) << " on "
        << loop.var << " with factor " << factor
        << " would leave the iterations that an earlier split gave it, use guard_with_if";
}

namespace {

// Whether iterations of the outer loop write what others compute. A block beyond the end lies beside the others,
// unless its iterations are shifted inwards.
bool blocks_overlap(TailStrategy tail, bool is_shifted, ForType type) {
    const bool rounds = tail == TailStrategy::RoundUpAndBlend;
    return tail == TailStrategy::ShiftInwardsAndBlend ||
           (rounds && (is_shifted || type != ForType::Vectorized));
}

}  // namespace

// Lanes run together as tasks do: of two blocks that overlap, each would write back what the other
// computes.
void LoopEditor::check_blend(const Dim &dim, ForType type) const {
    if (!is_parallel(type) || definition_->schedule.allow_race_conditions) {
        return;
    }
    const LoopGraph graph = loop_graph();
    const int loop = graph.find(dim.var);
    for (const LoopStep &s : graph.steps()) {
        if (s.kind != Split::Kind::Split) {
            continue;
        }
        const bool is_shifted = graph.loop(s.old).is_shifted;
        const bool shifted = is_shifted && s.tail == TailStrategy::RoundUpAndBlend;
        const bool overlaps = blocks_overlap(s.tail, is_shifted, type);
        user_assert(!(overlaps && graph.is_made_of(loop, s.outer)) &&
                    !(shifted && graph.is_made_of(loop, s.inner)))
            << stage_.name() << ": loop " << dim.var << " cannot be " << to_string(type)
            << ", it is split with tail strategy " << to_string(s.tail)
            << ", which reads and writes back what the next iteration computes";
    }
}

LoopGraph LoopEditor::loop_graph() const {
    return {stage_.function().args(), definition_->schedule};
}

void LoopEditor::split(const VarOrRVar &old, const VarOrRVar &outer, const VarOrRVar &inner,
                       const Expr &factor, TailStrategy tail) {
    const size_t i = find("split", old);
    check_new_name("split", outer, {old.name()});
    check_new_name("split", inner, {old.name()});
    user_assert(outer.name() != inner.name())
        << "split of " << stage_.name() << ": both new loops are named " << outer.name();
    check_same_kind("split", old, outer);
    check_same_kind("split", old, inner);
    check_factor(old, factor);

    Split s;
    s.old_var = old.name();
    s.outer = outer.name();
    s.inner = inner.name();
    s.factor = factor.type() == Int(32) ? factor : Cast::make(Int(32), factor);
    const LoopGraph graph = loop_graph();
    const int loop = graph.find(old.name());
    s.tail = tail == TailStrategy::Auto ? graph.default_tail(loop, s.factor, !definition_->is_init)
                                        : tail;
    check_tail(graph, loop, s.factor, s.tail);

    std::vector<Dim> &dims = schedule().dims;
    user_assert(!is_parallel(dims[i].for_type) || schedule().allow_race_conditions ||
                !blocks_overlap(s.tail, graph.loop(loop).is_shifted, dims[i].for_type))
        << "split of " << stage_.name() << ": loop " << old.name() << " is "
        << to_string(dims[i].for_type) << ", so it cannot be split with tail strategy "
        << to_string(s.tail) << ", which reads and writes back what the next iteration computes";
    dims.insert(dims.begin() + long(i), dims[i]);
    dims[i].var = inner.name();
    dims[i + 1].var = outer.name();
    // The extern function is called for each tile.
    if (dims[i].for_type == ForType::Extern) {
        dims[i + 1].for_type = ForType::Serial;
    }
    schedule().splits.push_back(s);
}

void LoopEditor::fuse(const VarOrRVar &inner, const VarOrRVar &outer, const VarOrRVar &fused) {
    const size_t i = find("fuse", inner), o = find("fuse", outer);
    user_assert(i != o) << "fuse of " << stage_.name() << ": loop " << inner.name()
                        << " cannot be fused with itself";
    check_new_name("fuse", fused, {inner.name(), outer.name()});
    std::vector<Dim> &dims = schedule().dims;
    user_assert(fused.is_rvar == (dims[i].is_rvar() || dims[o].is_rvar()))
        << "fuse of " << stage_.name() << ": " << fused.name() << " must be "
        << (fused.is_rvar ? "a Var, as both loops are" : "an RVar, as one of the loops is");
    user_assert(dims[i].for_type != ForType::Extern && dims[o].for_type != ForType::Extern)
        << "fuse of " << stage_.name() << ": loop " << inner.name()
        << " is inside of an extern stage";

    check_fuse(i, o);
    Split s;
    s.kind = Split::Kind::Fuse;
    s.inner = inner.name();
    s.outer = outer.name();
    s.old_var = fused.name();
    // Of the two kinds the fused loop has the one that allows less.
    dims[i].dim_type = std::max(dims[i].dim_type, dims[o].dim_type);
    dims[i].var = fused.name();
    dims.erase(dims.begin() + long(o));
    schedule().splits.push_back(s);
}

// The fused loop stands where the inner one stood and has its kind.
void LoopEditor::check_fuse(size_t inner, size_t outer) const {
    const std::vector<Dim> &dims = definition_->schedule.dims;
    if (definition_->schedule.allow_race_conditions) {
        return;
    }
    for (const size_t i : {inner, outer}) {
        check_race_of_fused(dims[i], dims[i == inner ? outer : inner]);
    }
    if (internal::iterations_commute(*definition_, stage_.function().name())) {
        return;
    }
    // The outer loop passes those between the two.
    for (size_t i = std::min(inner, outer) + 1; i < std::max(inner, outer); i++) {
        user_assert(dims[i].is_pure() || dims[outer].is_pure())
            << "fuse of " << stage_.name() << ": RVars " << dims[i].var << " and "
            << dims[outer].var << " cannot change places, because that may change the result";
    }
    user_assert(inner < outer || dims[inner].is_pure() || dims[outer].is_pure())
        << "fuse of " << stage_.name() << ": RVars " << dims[inner].var << " and "
        << dims[outer].var << " cannot change places, because that may change the result";
}

void LoopEditor::check_race_of_fused(const Dim &dim, const Dim &other) const {
    user_assert(!is_parallel(dim.for_type) || other.is_pure() || definition_->schedule.atomic)
        << "fuse of " << stage_.name() << ": loop " << dim.var << " is " << to_string(dim.for_type)
        << ", and iterations of RVar " << other.var << " may race";
}

void LoopEditor::rename(const VarOrRVar &old_name, const VarOrRVar &new_name) {
    const size_t i = find("rename", old_name);
    check_same_kind("rename", old_name, new_name);
    if (old_name.name() == new_name.name()) {
        return;
    }
    // A loop that has the name already stays, under a name that no program says.
    const std::vector<Dim> &dims = schedule().dims;
    for (size_t k = 0; k < dims.size(); k++) {
        if (dims[k].var == new_name.name()) {
            set_name(k, name_inner(new_name).name());
        }
    }
    set_name(i, new_name.name());
}

void LoopEditor::set_name(size_t dim, const std::string &name) {
    const std::string old_name = schedule().dims[dim].var;
    // A loop that a directive made gets its name there.
    const LoopGraph graph = loop_graph();
    const int loop = graph.find(old_name), made_by = graph.loop(loop).made_by;
    schedule().dims[dim].var = name;
    if (made_by >= 0) {
        const LoopStep &step = graph.steps()[size_t(made_by)];
        Split &made = schedule().splits[size_t(made_by)];
        (step.old == loop ? made.old_var : step.inner == loop ? made.inner : made.outer) = name;
        return;
    }
    Split s;
    s.kind = Split::Kind::Rename;
    s.old_var = old_name;
    s.outer = name;
    schedule().splits.push_back(s);
}

void LoopEditor::reorder(const std::vector<VarOrRVar> &vars) {
    const std::vector<Dim> old = schedule().dims;
    std::vector<size_t> from;
    std::set<size_t> places;
    for (const VarOrRVar &v : vars) {
        from.push_back(find("reorder", v));
        user_assert(places.insert(from.back()).second)
            << "reorder of " << stage_.name() << ": loop " << v.name() << " is named twice";
    }
    std::vector<size_t> order(old.size());
    std::iota(order.begin(), order.end(), size_t(0));
    size_t next = 0;
    for (size_t place : places) {
        order[place] = from[next++];
    }
    std::optional<bool> known;
    const auto commute = [&] {
        if (!known) {
            known = internal::iterations_commute(*definition_, stage_.function().name());
        }
        return *known;
    };
    // Of all loops, as one that is named may move past one that is not.
    for (size_t i = 0; i < order.size(); i++) {
        for (size_t j = i + 1; j < order.size(); j++) {
            const Dim &a = old[order[i]], &b = old[order[j]];
            user_assert(order[i] < order[j] || a.is_pure() || b.is_pure() ||
                        schedule().allow_race_conditions || commute())
                << "reorder of " << stage_.name() << ": RVars " << a.var << " and " << b.var
                << " cannot change places, because that may change the result";
        }
    }
    for (size_t place : places) {
        schedule().dims[place] = old[order[place]];
    }
}

void LoopEditor::check_race(const Dim &dim, ForType type) const {
    const StageSchedule &s = definition_->schedule;
    if (!is_parallel(type) || dim.is_pure() || s.allow_race_conditions) {
        return;
    }
    user_assert(s.atomic)
        << stage_.name() << ": making RVar " << dim.var << " " << to_string(type)
        << " may make iterations race; use atomic() if the update is associative, "
           "or allow_race_conditions() if races do no harm";
    user_assert(s.override_atomic_associativity_test ||
                prove_associative(stage_.function().name(), *definition_).associative() ||
                internal::iterations_commute(*definition_, stage_.function().name()))
        << stage_.name() << ": making RVar " << dim.var << " " << to_string(type)
        << " with atomic() needs an associative update, which this one could not be shown to be; "
           "atomic(true) skips the test";
}

void LoopEditor::set_for_type(const VarOrRVar &var, ForType type) {
    Dim &dim = schedule().dims[find(to_string(type), var)];
    user_assert(dim.for_type != ForType::Extern || type == ForType::Serial ||
                type == ForType::Parallel)
        << stage_.name() << ": loop " << dim.var << " of an extern stage cannot be "
        << to_string(type) << ", only serial or parallel";
    check_race(dim, type);
    check_blend(dim, type);
    dim.for_type = type;
}

// A store around the cache is seen late: another iteration must not read or write the element.
void LoopEditor::stream_stores() {
    for (const Dim &dim : definition_->schedule.dims) {
        user_assert(dim.is_pure())
            << "stores of " << stage_.name() << " cannot be streamed: iterations of RVar "
            << dim.var << " may meet in one element";
    }
    schedule().stream_stores = true;
}

void LoopEditor::set_device_api(const VarOrRVar &var, DeviceAPI api) {
    schedule().dims[find("device", var)].device_api = api;
}

void LoopEditor::set_partition(const VarOrRVar &var, Partition policy) {
    schedule().dims[find("partition", var)].partition = policy;
}

void LoopEditor::set_partition_of_all(Partition policy) {
    for (Dim &d : schedule().dims) {
        d.partition = policy;
    }
}

Stage LoopEditor::specialize(const Expr &condition) {
    user_assert(condition.defined() && condition.type() == Bool())
        << "specialize of " << stage_.name() << ": the condition has type " << condition.type()
        << ", must be bool";
    user_assert(is_pure(condition)) << "specialize of " << stage_.name() << ": the condition "
                                    << condition << " has effects or reads memory";
    check_is_of_parameters(condition, "specialize of " + stage_.name() + ": the condition",
                           Reads::Anything);
    std::vector<Specialization> &list = definition_->specializations;
    std::string label = ".specialize(" + to_string(condition) + ")";
    for (const Specialization &s : list) {
        if (s.definition && equal(s.condition, condition)) {
            return Stage(stage_.function(), s.definition, stage_.stage_index(), label);
        }
    }
    user_assert(list.empty() || list.back().failure_message.empty())
        << "specialize of " << stage_.name()
        << " comes after specialize_fail, which takes all cases";
    DefinitionPtr copy(new Definition(*definition_));
    copy->specializations.clear();
    // What is inside of the fused loops stays with the original.
    copy->schedule.fuse_level = FuseLoopLevel();
    Specialization s;
    s.condition = condition;
    s.definition = copy;
    list.push_back(s);
    return Stage(stage_.function(), copy, stage_.stage_index(), label);
}

void LoopEditor::specialize_fail(const std::string &message) {
    user_assert(!message.empty()) << "specialize_fail of " << stage_.name() << " has no message";
    std::vector<Specialization> &list = definition_->specializations;
    user_assert(list.empty() || list.back().failure_message.empty())
        << "specialize_fail of " << stage_.name() << " is given twice";
    Specialization s;
    s.condition = const_true();
    s.failure_message = message;
    list.push_back(s);
}

void LoopEditor::atomic(bool override_associativity_test) {
    schedule().atomic = true;
    schedule().override_atomic_associativity_test = override_associativity_test;
}

void LoopEditor::prefetch(const std::string &name, const SymbolPtr &parameter, const VarOrRVar &at,
                          const VarOrRVar &from, const Expr &offset,
                          PrefetchBoundStrategy strategy) {
    const size_t at_place = find("prefetch", at), from_place = find("prefetch", from);
    user_assert(from_place >= at_place)
        << "prefetch in " << stage_.name() << ": loop " << from.name() << " is inside of loop "
        << at.name() << ", it must be the same or further outside";
    const std::string what =
        "prefetch in " + stage_.name() + ": the distance of " + name + " along " + from.name();
    user_assert(offset.defined()) << what << " is undefined";
    check_int32_of_parameters(offset, what);
    PrefetchDirective p;
    p.name = name;
    p.at = at.name();
    p.from = from.name();
    p.offset = cast(Int(32), offset);
    p.strategy = strategy;
    p.symbol = parameter;
    schedule().prefetches.push_back(p);
}

}  // namespace calotype::internal
