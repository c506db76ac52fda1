// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each stage has, once and for all, the boxes that it reads of every other Func, in terms of its
// own stage_min/max. A loop of stage C then defines, just inside:
//   1. stage_min/max of C itself: what the rest of this loop's body provides of it;
//   2. consumers before producers, stage_min/max of every Func computed in the body: the union of
//   what the stages in
//      the body read of it, grown by explicit bounds. That the tails of its splits compute more
//      asks for nothing: what they read beyond is allocated, and what they compute is not used.
// At the top the outputs' regions are those of their buffers. Lets that nothing uses are not made.
#include "lower/bounds/infer_bounds.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "arith/bounds.h"
#include "arith/box.h"
#include "arith/cse.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/walk/search.h"
#include "ir/with.h"
#include "lower/bounds/stage_reads.h"
#include "lower/checks/error_call.h"
#include "lower/names.h"
#include "lower/nest/copy_stage.h"
#include "lower/nest/extern_stage.h"
#include "lower/nest/provide.h"
#include "lower/nest/split_loops.h"
#include "lower/nest/stage_loops.h"

namespace calotype::internal {

namespace {

/// The stages whose loops occur in a piece of code, and the Funcs produced there.
class StagesInside : public Visitor {
public:
    explicit StagesInside(const LowerContext &ctx) : ctx_(ctx) {
    }
    std::set<StageKey> stages;
    std::set<std::string> produced;
    std::set<std::string> produced_here;  ///< in no loop of the code

protected:
    void visit(const For *op) override {
        auto it = ctx_.loops.find(op->name);
        if (it != ctx_.loops.end()) {
            stages.insert({it->second.func, it->second.stage});
            stages.insert(it->second.fused.begin(), it->second.fused.end());
        }
        depth_++;
        (*this)(op->body);
        depth_--;
    }
    void visit(const ProducerConsumer *op) override {
        if (op->is_producer) {
            produced.insert(op->name);
            if (depth_ == 0) {
                produced_here.insert(op->name);
            }
            if (ctx_.env.at(op->name).has_extern_definition()) {
                stages.insert({op->name, 0});
            }
        }
        (*this)(op->body);
    }
    void visit(const Provide *) override {
    }

private:
    const LowerContext &ctx_;
    int depth_ = 0;  ///< loops around
};

/// The values that a loop or let inside of a statement gives a variable.
class RangeOfVariable : public Visitor {
public:
    explicit RangeOfVariable(const std::string &name) : name_(name) {
    }
    Interval range = Interval::nothing();
    bool conditional = false;  ///< of these only some are used
    using Visitor::operator();
    void operator()(const Expr &) override {
    }

private:
    using Visitor::visit;
    void visit(const LetStmt *op) override {
        const bool integer = op->value.type() == Int(32);
        const Interval values =
            integer ? bounds_of_expr(op->value, loops_) : Interval::everything();
        const ScopedBinding<Interval> bind(integer, loops_, op->name, values);
        take(op->name, values);
        Visitor::visit(op);
    }
    void visit(const For *op) override {
        const Interval values(op->min, simplify(op->min + op->extent - 1));
        const ScopedBinding<Interval> bind(loops_, op->name, values);
        take(op->name, values);
        Visitor::visit(op);
    }
    void visit(const IfThenElse *op) override {
        conditional = true;
        Visitor::visit(op);
    }
    void take(const std::string &name, const Interval &values) {
        if (name == name_) {
            range.include(values);
        }
    }
    const std::string name_;
    Scope<Interval> loops_;
};

/// Those of a definition and of its specializations, which rfactor may have given others. Of those
/// with one name, the ranges together.
std::vector<ReductionVariable> reduction_variables(const Definition &def) {
    std::vector<ReductionVariable> result(def.schedule.rvars.begin(), def.schedule.rvars.end());
    for (const Specialization &special : def.specializations) {
        if (!special.definition) {
            continue;
        }
        for (const ReductionVariable &rv : reduction_variables(*special.definition)) {
            const auto same = std::find_if(result.begin(), result.end(),
                                           [&](const auto &known) { return known.var == rv.var; });
            if (same == result.end()) {
                result.push_back(rv);
            } else if (!equal(same->min, rv.min) || !equal(same->extent, rv.extent)) {
                const Expr end = max(same->min + same->extent, rv.min + rv.extent);
                same->min = min(same->min, rv.min);
                same->extent = end - same->min;
            }
        }
    }
    return result;
}

bool is_loop_of(const LowerContext &ctx, const StageKey &stage, const std::string &name) {
    const auto loop = ctx.loops.find(name);
    return loop != ctx.loops.end() && loop->second.var != outermost_name &&
           loop->second.func == stage.first && loop->second.stage == stage.second;
}

/// The value of a loop's variable, or the nearest one that the loop has for its own stage.
Expr nearest_own(const std::string &loop, const Expr &value) {
    return clamp(likely(value), names::var(names::loop_min(loop)),
                 names::var(names::loop_max(loop)));
}

/// Where loops of a stage are lets inside of those of another one.
class LoopsInOwnRange : public StmtMutator {
public:
    LoopsInOwnRange(const LowerContext &ctx, const StageKey &stage) : ctx_(ctx), stage_(stage) {
    }

private:
    using Mutator::visit;
    Stmt visit(const LetStmt *op) override {
        const bool own = is_loop_of(ctx_, stage_, op->name);
        return LetStmt::make(op->name, own ? nearest_own(op->name, op->value) : op->value,
                             mutate(op->body));
    }
    const LowerContext &ctx_;
    const StageKey &stage_;
};

class InferBounds : public StmtMutator {
public:
    explicit InferBounds(LowerContext &ctx) : ctx_(ctx) {
        for (const std::string &name : ctx.order) {
            const Function &f = ctx.env.at(name);
            if (!ctx.is_inlined(f)) {
                for (int stage = 0; stage < f.stages(); stage++) {
                    const StageReads &reads = reads_[{name, stage}] = reads_of_stage(ctx, f, stage);
                    for (const auto &[read, box] : reads.steady) {
                        narrowed_.insert(read);
                    }
                }
            }
        }
        readers_of_extern_stages_ = readers_of_extern_stages();
        for (const std::string &name : readers_of_extern_stages_) {
            narrowed_.erase(name);
        }
    }

    Stmt at_top(const Stmt &s) {
        StagesInside contents(ctx_);
        contents(s);
        return define(with_extern_images(mutate(s), contents), contents, nullptr, Stmt());
    }

protected:
    Stmt visit(const LetStmt *op) override {
        bound_.push_back(op->name);
        const ScopedBinding<Expr> bind(is_const(op->value), constants_, op->name, op->value);
        Stmt s = Mutator::visit(op);
        bound_.pop_back();
        return s;
    }

    Stmt visit(const For *op) override {
        StagesInside contents(ctx_);
        contents(op->body);
        if (contents.produced.empty()) {
            return op;
        }
        auto it = ctx_.loops.find(op->name);
        internal_assert(it != ctx_.loops.end()) << "loop " << op->name << " belongs to no stage";
        StageKey stage{it->second.func, it->second.stage};
        std::vector<StageKey> open = it->second.fused;
        open.push_back(stage);
        contents.stages.insert(open.begin(), open.end());
        for (const StageKey &key : open) {
            if (it->second.var == outermost_name) {
                stage_begin_[key] = bound_.size();
            }
        }
        bound_.push_back(op->name);
        in_blocks_ += op->for_type == ForType::GPUBlock;
        Stmt body = define_inside_of_guards(op->body, contents, op);
        in_blocks_ -= op->for_type == ForType::GPUBlock;
        bound_.pop_back();
        return with(op, &For::body, body);
    }

private:
    /// The extern stages, and the Funcs whose values are made of theirs. What a stage says that it needs in a loop is
    /// there as far as it said so for the whole: in loops, no more may be required of it.
    std::set<std::string> readers_of_extern_stages() const {
        std::set<std::string> found;
        for (const std::string &name : ctx_.order) {
            const Function &f = ctx_.env.at(name);
            const Environment calls = find_direct_calls(f);
            if (f.has_extern_definition() ||
                std::any_of(calls.begin(), calls.end(),
                            [&](const auto &call) { return found.count(call.first) != 0; })) {
                found.insert(name);
            }
        }
        return found;
    }

    /// States what extern stages need of images, as far as is known outside of all loops.
    Stmt with_extern_images(Stmt s, const StagesInside &contents) const {
        for (const std::string &name : contents.produced) {
            const Function &f = ctx_.env.at(name);
            if (f.has_extern_definition() && !extern_images(f).empty()) {
                s = Block::make(touch_images(f), s);
            }
        }
        return s;
    }

    /// One definition to put around the body: a let, or (no name) a check.
    struct Item {
        std::string name;
        Expr value;
        Stmt check;
        std::string why_undefined;
    };

    /// Whether lets and conditions, as the guards of splits, stand around all of it.
    static bool is_guarded(const Stmt &s) {
        const LetStmt *let = s.as<LetStmt>();
        const IfThenElse *guard = s.as<IfThenElse>();
        return let ? is_guarded(let->body) : guard && !guard->else_case.defined();
    }

    static bool has_gpu_loop(const Stmt &s) {
        return contains<For>(s, [](const For *op) { return is_gpu(op->for_type); });
    }

    /// Regions are defined where the guards of the loop's splits hold: what is known there of the
    /// variables limits them. In kernels the sizes of what threads share must be known outside of
    /// conditions.
    Stmt define_inside_of_guards(const Stmt &body, const StagesInside &contents, const For *loop) {
        if (!is_guarded(body) || (in_blocks_ > 0 && has_gpu_loop(body))) {
            return define(mutate(body), contents, loop, body);
        }
        if (const LetStmt *let = body.as<LetStmt>()) {
            bound_.push_back(let->name);
            const Stmt inside = define_inside_of_guards(let->body, contents, loop);
            bound_.pop_back();
            return LetStmt::make(let->name, let->value, inside);
        }
        const IfThenElse *guard = body.as<IfThenElse>();
        return IfThenElse::make(guard->condition,
                                define_inside_of_guards(guard->then_case, contents, loop));
    }

    /// Wraps body in the lets that its free names need. `loop` is the one around and `original`
    /// what the body was; null and undefined at the top.
    Stmt define(Stmt body, const StagesInside &contents, const For *loop, const Stmt &original) {
        std::vector<Item> items;  // outermost first
        if (loop) {
            const LoopInfo &own = ctx_.loops.at(loop->name);
            const StageKey owner{own.func, own.stage};
            region_in_progress(ctx_.env.at(own.func), own.stage,
                               own.fused.empty() ? original : in_own_range(original, owner),
                               &items);
            for (const StageKey &key : own.fused) {
                region_in_progress(ctx_.env.at(key.first), key.second, in_own_range(original, key),
                                   &items);
            }
            if (ctx_.env.at(own.func).has_extern_definition() && own.stage == 0) {
                query_regions(ctx_.env.at(own.func), contents, false, &items);
            }
        }
        for (size_t i = ctx_.order.size(); i-- > 0;) {
            const Function &f = ctx_.env.at(ctx_.order[i]);
            if (contents.produced.count(f.name()) &&
                !(loop && ctx_.loops.at(loop->name).func == f.name())) {
                for (int stage = f.stages(); stage-- > 0;) {
                    region_required(f, stage, contents, loop != nullptr, &items);
                }
                if (f.has_extern_definition()) {
                    query_regions(f, contents, !loop, &items);
                }
            }
        }
        return wrap_needed(std::move(body), items);
    }

    void add_let(const std::string &name, const Expr &value, const std::string &why,
                 std::vector<Item> *items) const {
        items->push_back({name, value, Stmt(), why});
    }

    /// What the body does for a stage in iterations of its own. Those of a loop that stages share
    /// may be there for others alone; the stage, which does nothing then, is taken to be at the
    /// first or last one of its own, so that nothing is asked for beyond what it ever needs.
    Stmt in_own_range(const Stmt &body, const StageKey &stage) const {
        std::map<std::string, Expr> variables;
        for (size_t i = stage_begin_.at(stage); i < bound_.size(); i++) {
            const std::string &name = bound_[i];
            if (is_loop_of(ctx_, stage, name)) {
                variables[name] = nearest_own(name, names::var(name));
            }
        }
        return variables.empty() ? LoopsInOwnRange(ctx_, stage).mutate(body)
                                 : substitute(variables, body);
    }

    void region_in_progress(const Function &f, int stage, const Stmt &body,
                            std::vector<Item> *items) {
        Box box = box_provided(body, f.name(), Scope<Interval>(), ctx_.func_bounds);
        for (const PureVar &v : pure_vars(f, stage)) {
            if (box.empty()) {
                continue;  // No iteration computes anything, whatever the region.
            }
            const Interval &range = box[v.dimension];
            if (range.is_bounded() && !depends_on_iteration({f.name(), stage}, range)) {
                continue;  // All of it is computed here: the region is the one required from
                           // outside.
            }
            std::string why =
                f.name() + " computes an unbounded range of coordinates in dimension " + v.name;
            add_let(names::stage_min(f.name(), stage, v.name), range.min, why, items);
            add_let(names::stage_max(f.name(), stage, v.name), end_of_loads(f, stage, v, range.max),
                    why, items);
        }
        reduction_in_progress(f, stage, body, items);
    }

    /// Where loads alone are guarded, stores go further.
    static Expr end_of_loads(const Function &f, int stage, const PureVar &v, const Expr &max) {
        if (!f.stage(stage) || !max.defined()) {
            return max;
        }
        const LoopGraph graph(f.args(), f.stage(stage)->schedule);
        for (const LoopStep &s : graph.steps()) {
            if (s.tail == TailStrategy::PredicateLoads && graph.is_made_of(s.old, v.dimension)) {
                return min(max, names::var(names::loop_max(names::loop(f.name(), stage, v.name))));
            }
        }
        return max;
    }

    /// Loops inside of which a reduction variable takes only some of its values.
    void reduction_in_progress(const Function &f, int stage, const Stmt &body,
                               std::vector<Item> *items) {
        if (!f.stage(stage)) {
            return;
        }
        for (const ReductionVariable &rv : reduction_variables(*f.stage(stage))) {
            const std::string loop = names::loop(f.name(), stage, rv.var);
            if (is_open({f.name(), stage}, loop)) {
                add_let(names::stage_min(f.name(), stage, rv.var), names::var(loop), "", items);
                add_let(names::stage_max(f.name(), stage, rv.var), names::var(loop), "", items);
                continue;
            }
            RangeOfVariable found(loop);
            found(body);
            Interval range = found.range;
            if (!range.is_bounded() || !depends_on_iteration({f.name(), stage}, range)) {
                continue;
            }
            if (found.conditional) {
                const Interval all = domain_of(f, stage, rv);
                range = Interval(max(range.min, all.min), min(range.max, all.max));
            }
            add_let(names::stage_min(f.name(), stage, rv.var), range.min, "", items);
            add_let(names::stage_max(f.name(), stage, rv.var), range.max, "", items);
        }
    }

    /// True inside of this loop of the stage.
    bool is_open(const StageKey &stage, const std::string &loop) const {
        return std::find(bound_.begin() + long(stage_begin_.at(stage)), bound_.end(), loop) !=
               bound_.end();
    }

    static Interval domain_of(const Function &f, int stage, const ReductionVariable &rv) {
        const Expr min = qualify(rv.min, f, stage), extent = qualify(rv.extent, f, stage);
        return Interval(min, simplify(min + extent - 1));
    }

    /// Does the range vary with the stage's loops that are open here?
    bool depends_on_iteration(const StageKey &stage, const Interval &range) const {
        std::vector<std::string> open(bound_.begin() + long(stage_begin_.at(stage)), bound_.end());
        return uses_any_var(range.min, open) || uses_any_var(range.max, open);
    }

    /// What others read, later stages of f among them, up to stage `end`.
    std::vector<StageKey> readers_of(const Function &f, int stage, int end,
                                     const std::set<StageKey> &active) const {
        std::vector<StageKey> readers;
        for (const StageKey &consumer : active) {
            const bool own = consumer.first == f.name();
            if (own ? consumer.second <= stage || consumer.second > end : end < f.stages()) {
                continue;
            }
            auto reads = reads_.find(consumer);
            if (reads != reads_.end() && reads->second.needed.count(f.name())) {
                readers.push_back(consumer);
            }
        }
        return readers;
    }

    /// The union of what others read, of what later stages of f read, and of the output buffer, in
    /// a dimension. The next stage that runs over all of it must find what is required of it, too:
    /// that region stands for all that is read after it, so that a chain of updates is one of short
    /// regions.
    Interval required_range(const Function &f, int stage, int dimension,
                            const std::set<StageKey> &active, bool steady) {
        for (int next = stage + 1; next < f.stages(); next++) {
            for (const PureVar &v : pure_vars(f, next)) {
                if (v.dimension != dimension) {
                    continue;
                }
                Box range({Interval(names::var(names::stage_min(f.name(), next, v.name)),
                                    names::var(names::stage_max(f.name(), next, v.name)))});
                for (const StageKey &reader : readers_of(f, stage, next, active)) {
                    const Box &read = what_reads(reader, steady).at(f.name());
                    Box part({read[dimension]});
                    part.used = read.used;
                    merge_boxes(range, part);
                }
                return range[0];
            }
        }
        return read_by(f, readers_of(f, stage, f.stages(), active), steady)[dimension];
    }

    /// What these stages read of f, and that of the first of them before.
    const Box &read_by(const Function &f, std::vector<StageKey> readers, bool steady) {
        const auto key = std::tuple(f.name(), readers, steady);
        if (auto known = unions_.find(key); known != unions_.end()) {
            return known->second;
        }
        Box box;
        if (readers.empty()) {
            box = box_of_output(f);
        } else {
            const Box &last = what_reads(readers.back(), steady).at(f.name());
            readers.pop_back();
            box = read_by(f, std::move(readers), steady);
            merge_boxes(box, last);
        }
        return unions_.emplace(key, std::move(box)).first->second;
    }

    /// An output's buffer; nothing of what is none.
    Box box_of_output(const Function &f) const {
        Box box;
        if (ctx_.is_output(f.name())) {
            std::vector<Interval> shape;
            for (int d = 0; d < f.dimensions(); d++) {
                Expr min = names::var(names::buffer_min(f.buffer_name(0), d));
                Expr extent = names::var(names::buffer_extent(f.buffer_name(0), d));
                shape.emplace_back(min, min + extent - 1);
            }
            box = Box(shape);
        }
        return box;
    }

    const Reads &what_reads(const StageKey &stage, bool steady) const {
        const StageReads &reads = reads_.at(stage);
        return steady && !reads.steady.empty() ? reads.steady : reads.needed;
    }

    /// In loops, an extent that is constant is worth more than one that leaves out what conditions
    /// rarely leave out: storage has a constant size then, and loops over it unroll.
    Interval region_of_dimension(const Function &f, int stage, const PureVar &v,
                                 const StagesInside &contents, bool in_loop,
                                 const std::vector<Item> &items) {
        const Interval needed = required_range(f, stage, v.dimension, contents.stages, false);
        if (!in_loop || !narrowed_.count(f.name()) || has_constant_extent(needed, items)) {
            return needed;
        }
        const Interval steady = required_range(f, stage, v.dimension, contents.stages, true);
        return has_constant_extent(steady, items) ? steady : needed;
    }

    bool has_constant_extent(const Interval &range, const std::vector<Item> &items) const {
        if (!range.is_bounded()) {
            return false;
        }
        Expr extent = range.max - range.min;
        for (size_t i = items.size(); i-- > 0;) {
            if (items[i].value.defined() && uses_var(extent, items[i].name)) {
                extent = substitute(items[i].name, items[i].value, extent);
            }
        }
        for (const std::string &name : free_variables(extent)) {
            if (const Expr *constant = constants_.find(name)) {
                extent = substitute(name, *constant, extent);
            }
        }
        return is_const(simplify(extent));
    }

    void region_required(const Function &f, int stage, const StagesInside &contents, bool in_loop,
                         std::vector<Item> *items) {
        if (f.stage(stage)) {
            for (const ReductionVariable &rv : reduction_variables(*f.stage(stage))) {
                const Interval all = domain_of(f, stage, rv);
                add_let(names::stage_min(f.name(), stage, rv.var), all.min, "", items);
                add_let(names::stage_max(f.name(), stage, rv.var), all.max, "", items);
            }
        }
        const bool is_read =
            ctx_.is_output(f.name()) || !readers_of(f, stage, f.stages(), contents.stages).empty();
        if (!is_read && in_loop) {
            return;
        }
        const Interval nothing(0, -1);  // all that reads it is under conditions that never hold
        for (const PureVar &v : pure_vars(f, stage)) {
            const Interval range =
                is_read ? region_of_dimension(f, stage, v, contents, in_loop, *items) : nothing;
            Expr min = range.min, max = range.max;
            std::string min_name = names::stage_min(f.name(), stage, v.name);
            std::string max_name = names::stage_max(f.name(), stage, v.name);
            apply_explicit_bounds(f, v, contents.produced_here.count(f.name()) > 0, &min, &max,
                                  items);
            std::string why =
                f.name() + " is read at an unbounded range of coordinates in dimension " + v.name;
            add_let(min_name, min, why, items);
            add_let(max_name, max, why, items);
        }
    }

    /// An extern stage is asked what it needs of the Funcs that are computed here, of images, which
    /// is checked at the top, and whether it computes more than is asked for.
    void query_regions(const Function &f, const StagesInside &contents, bool at_top,
                       std::vector<Item> *items) const {
        const auto add = [&](const std::vector<QueryStep> &steps) {
            for (const QueryStep &step : steps) {
                Expr value;
                if (step.value.defined()) {
                    const Stmt expanded = expand_inlined(ctx_, Evaluate::make(step.value));
                    value = expanded.as<Evaluate>()->value;
                    value = at_top ? read_what_is_there(value) : value;
                }
                items->push_back({step.name, value, step.check, ""});
            }
        };
        const FuncSchedule &schedule = f.schedule();
        const bool grows = contents.produced_here.count(f.name()) && !is_copy_stage(f) &&
                           schedule.store_level == schedule.compute_level &&
                           schedule.bounds.empty();
        bool needed = grows || (at_top && !extern_images(f).empty());
        for (const auto &input : extern_inputs(f)) {
            needed = needed || contents.produced.count(input.first.name());
        }
        if (needed) {
            add(query_extern_stage(f, !at_top));
        }
        if (grows) {
            add(grow_as_answered(f));
        }
    }

    /// bound() replaces the region where it is computed, and is checked against it; outside of that
    /// what is computed in all iterations is at least as much. align_bounds() and align_extent()
    /// grow it.
    void apply_explicit_bounds(const Function &f, const PureVar &v, bool is_here, Expr *min,
                               Expr *max, std::vector<Item> *items) const {
        for (const Bound &b : f.schedule().bounds) {
            if (b.var != v.name) {
                continue;
            }
            if (b.modulus.defined() && !b.remainder.defined()) {  // of the extent
                if (min->defined() && max->defined()) {
                    const Expr steps = (*max - *min + b.modulus) / b.modulus;
                    const bool for_all_parts =
                        !is_here && readers_of_extern_stages_.count(f.name()) != 0;
                    *max = simplify(for_all_parts ? *max + b.modulus - 1
                                                  : *min + steps * b.modulus - 1);
                }
            } else if (b.modulus.defined() && min->defined() && max->defined()) {
                Expr first = *min - b.remainder, last = *max - b.remainder;
                *min = simplify((first / b.modulus) * b.modulus + b.remainder);
                *max = simplify((last / b.modulus) * b.modulus + b.modulus - 1 + b.remainder);
            }
            if (b.extent.defined()) {
                Expr new_min = b.min.defined() ? b.min : *min;
                Expr new_max = new_min.defined() ? simplify(new_min + b.extent - 1) : Expr();
                if (!is_here && !b.min.defined() && max->defined() && new_max.defined()) {
                    new_max = simplify(calotype::max(*max, new_max));
                } else if (is_here && min->defined() && max->defined() && new_max.defined()) {
                    Expr covers = new_min <= *min && new_max >= *max;
                    Stmt covered = check(covers, "explicit_bounds_too_small",
                                         {f.name(), v.name, new_min, new_max, *min, *max});
                    items->push_back({"", Expr(), covered, ""});
                }
                *min = new_min;
                *max = new_max;
            }
        }
    }

    /// Innermost item last; a let is made only where something inside of it uses its name.
    Stmt wrap_needed(Stmt body, const std::vector<Item> &items) const {
        std::vector<std::string> free = free_variables(body);
        std::set<std::string> needed(free.begin(), free.end());
        auto need = [&](const std::vector<std::string> &more) {
            needed.insert(more.begin(), more.end());
        };
        for (size_t i = items.size(); i-- > 0;) {
            const Item &item = items[i];
            if (item.check.defined()) {
                body = Block::make(item.check, body);
                need(free_variables(item.check));
            } else if (needed.erase(item.name)) {
                user_assert(item.value.defined()) << "func " << item.why_undefined;
                body = LetStmt::make(item.name, item.value, body);
                need(free_variables(item.value));
            }
        }
        return body;
    }

    LowerContext &ctx_;
    std::map<StageKey, StageReads> reads_;
    std::set<std::string> readers_of_extern_stages_;
    std::set<std::string> narrowed_;  ///< Funcs that may be read less by connected conditions
    std::map<std::tuple<std::string, std::vector<StageKey>, bool>, Box>
        unions_;  ///< read_by's answers
    std::vector<std::string>
        bound_;              ///< names of the loops and lets that are open, outermost first
    Scope<Expr> constants_;  ///< the lets of them whose values are constant
    std::map<StageKey, size_t>
        stage_begin_;    ///< where in bound_ the outermost loop of a stage stands
    int in_blocks_ = 0;  ///< GPU block loops around
};

}  // namespace

Stmt infer_bounds(const Stmt &s, LowerContext &ctx) {
    return name_repeated(InferBounds(ctx).at_top(s));
}

}  // namespace calotype::internal
