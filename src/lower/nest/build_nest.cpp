// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/nest/build_nest.h"

#include <algorithm>

#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/queries.h"
#include "ir/with.h"
#include "lower/gpu/kernel_nest.h"
#include "lower/names.h"
#include "lower/nest/inline_functions.h"
#include "lower/nest/stage_loops.h"
#include "lower/nest/validate_levels.h"

namespace calotype::internal {

namespace {

/// Does this loop of the nest stand at that level?
bool matches(const LoopLevel &level, const std::string &loop, const LowerContext &ctx) {
    if (level.is_root() || level.is_inlined()) {
        return false;
    }
    auto it = ctx.loops.find(loop);
    if (it == ctx.loops.end()) {
        return false;
    }
    const auto is_level = [&](const LoopInfo &info) {
        return info.func == level.func_name() && info.var == level.var_name() &&
               (level.stage_index() < 0 || level.stage_index() == info.stage);
    };
    const std::vector<std::string> &others = it->second.stands_for;
    return is_level(it->second) ||
           std::any_of(others.begin(), others.end(),
                       [&](const std::string &name) { return is_level(ctx.loops.at(name)); });
}

bool is_fused_with_itself(const Function &f) {
    for (int i = 1; i < f.stages(); i++) {
        if (fused_with(*f.stage(i))) {
            return true;
        }
    }
    return false;
}

/// Funcs that are computed together: all but one are computed with another of them. Most groups are
/// a single Func.
using Group = std::vector<std::string>;

/// All stages of the group, in their produce nodes.
Stmt make_producers(const Group &group, LowerContext &ctx) {
    const Function &first = ctx.env.at(group[0]);
    Stmt s;
    if (group.size() > 1 || is_fused_with_itself(first)) {
        s = make_group_loops(group, ctx);
    } else {
        std::vector<Stmt> stages;
        for (int i = 0; i < first.stages(); i++) {
            stages.push_back(make_stage_loops(first, i, ctx));
        }
        s = Block::make(stages);
    }
    for (const std::string &name : group) {
        s = ProducerConsumer::make_produce(name, s);
    }
    return s;
}

Stmt produce_and_consume(const Group &group, Stmt consumer, LowerContext &ctx) {
    Stmt produce = make_producers(group, ctx);
    if (!consumer.defined()) {
        return produce;
    }
    for (const std::string &name : group) {
        consumer = ProducerConsumer::make_consume(name, consumer);
    }
    return Block::make(produce, consumer);
}

Stmt realize(const Group &group, Stmt body, LowerContext &ctx) {
    for (const std::string &name : group) {
        const Function &f = ctx.env.at(name);
        if (ctx.is_output(name)) {
            continue;
        }
        Region bounds;
        for (int i = 0; i < f.dimensions(); i++) {
            bounds.emplace_back(names::var(names::realized_min(name, i)),
                                names::var(names::realized_extent(name, i)));
        }
        body = Realize::make(name, f.output_types(), f.schedule().memory_type, bounds, const_true(),
                             body);
    }
    return body;
}

/// Whether lets, then a condition, and so on, stand around the rest of a loop's body: the guards of
/// the loop's splits.
bool is_guarded(const Stmt &s) {
    const LetStmt *let = s.as<LetStmt>();
    const IfThenElse *guard = s.as<IfThenElse>();
    return let ? is_guarded(let->body) : guard && !guard->else_case.defined();
}

/// Puts the production of a group at its compute level, its storage at its store level.
class Inject : public StmtMutator {
public:
    Inject(const Group &group, LowerContext &ctx)
        : group_(group), sched_(ctx.env.at(group[0]).schedule()), ctx_(ctx) {
    }

    Stmt at_root(const Stmt &s) {
        Stmt result = s.defined() ? mutate(s) : s;
        if (sched_.compute_level.is_root()) {
            result = produce_and_consume(group_, result, ctx_);
        }
        if (sched_.store_level.is_root()) {
            result = realize(group_, result, ctx_);
        }
        return sched_.hoist_storage_level.is_root() && !sched_.store_level.is_root() ? hoist(result)
                                                                                     : result;
    }

protected:
    /// Not inlined although scheduled so (it has updates): computed just before the statement that
    /// uses it.
    Stmt visit(const Provide *op) override {
        return sched_.compute_level.is_inlined() && is_used(op) ? around(op) : op;
    }
    Stmt visit(const LetStmt *op) override {
        return sched_.compute_level.is_inlined() && uses_group(op->value) ? around(op)
                                                                          : StmtMutator::visit(op);
    }
    Stmt visit(const IfThenElse *op) override {
        return sched_.compute_level.is_inlined() && uses_group(op->condition)
                   ? around(op)
                   : StmtMutator::visit(op);
    }

    Stmt visit(const For *op) override {
        in_blocks_ += op->for_type == ForType::GPUBlock;
        in_threads_ += is_thread_loop(op);
        Stmt body = mutate(op->body);
        if (matches(sched_.compute_level, op->name, ctx_) && is_used(body)) {
            body = inside_of_guards(
                body, [&](const Stmt &s) { return produce_and_consume(group_, s, ctx_); });
        }
        if (matches(sched_.store_level, op->name, ctx_) && is_used(body)) {
            body = inside_of_guards(body, [&](const Stmt &s) { return realize(group_, s, ctx_); });
        }
        if (matches(sched_.hoist_storage_level, op->name, ctx_) &&
            sched_.hoist_storage_level != sched_.store_level && is_used(body)) {
            body = inside_of_guards(body, [&](const Stmt &s) { return hoist(s); });
        }
        in_threads_ -= is_thread_loop(op);
        in_blocks_ -= op->for_type == ForType::GPUBlock;
        if (body.same_as(op->body)) {
            return op;
        }
        return with(op, &For::body, body);
    }

private:
    bool is_used(const Stmt &s) const {
        for (const std::string &name : group_) {
            if (uses_buffer(s, name)) {
                return true;
            }
        }
        return false;
    }

    bool uses_group(const Expr &e) const {
        return std::any_of(group_.begin(), group_.end(),
                           [&](const std::string &name) { return uses_buffer(e, name); });
    }

    /// Whether a thread of a kernel computes and keeps it for itself.
    bool is_of_one_thread() const {
        const MemoryType where = sched_.memory_type;
        const bool is_own = where == MemoryType::Auto || where == MemoryType::Stack ||
                            where == MemoryType::Register;
        return in_threads_ > 0 && is_own && sched_.store_level == sched_.compute_level &&
               sched_.hoist_storage_level == sched_.store_level &&
               std::all_of(group_.begin(), group_.end(), [&](const std::string &name) {
                   return has_serial_loops(ctx_.env.at(name));
               });
    }

    static bool has_serial_loops(const Function &f) {
        for (int i = 0; i < f.stages(); i++) {
            if (has_gpu_loops(f.stage(i)->schedule) || !f.stage(i)->specializations.empty()) {
                return false;
            }
        }
        return !f.has_extern_definition();
    }

    /// What is computed for an iteration is computed only where its guards hold, so that a tail
    /// needs no more than the rest. In kernels, where threads would wait for each other under the
    /// condition, it stays outside.
    template<typename Wrap>
    Stmt inside_of_guards(const Stmt &body, const Wrap &wrap) const {
        if ((in_blocks_ > 0 && !is_of_one_thread()) || !is_guarded(body)) {
            return wrap(body);
        }
        if (const LetStmt *let = body.as<LetStmt>()) {
            return uses_group(let->value)
                       ? wrap(body)
                       : LetStmt::make(let->name, let->value, inside_of_guards(let->body, wrap));
        }
        const IfThenElse *guard = body.as<IfThenElse>();
        return uses_group(guard->condition)
                   ? wrap(body)
                   : IfThenElse::make(guard->condition, inside_of_guards(guard->then_case, wrap));
    }

    Stmt around(const Stmt &s) const {
        return realize(group_, produce_and_consume(group_, s, ctx_), ctx_);
    }

    Stmt hoist(Stmt s) const {
        for (const std::string &name : group_) {
            s = HoistedStorage::make(name, s);
        }
        return s;
    }

    const Group &group_;
    const FuncSchedule &sched_;
    LowerContext &ctx_;
    int in_blocks_ = 0, in_threads_ = 0;
};

}  // namespace

Stmt build_nest(const Stmt &, LowerContext &ctx) {
    Stmt s;
    for (size_t i = ctx.fused_groups.size(); i-- > 0;) {
        const Group &group = ctx.fused_groups[i];
        bool needed = false;
        for (const std::string &name : group) {
            needed = needed || ctx.is_output(name) || (s.defined() && uses_buffer(s, name));
        }
        const Function &f = ctx.env.at(group[0]);
        if (!needed) {
            continue;
        }
        if (group.size() == 1 && ctx.is_inlined(f)) {
            s = inline_function(s, f);
            continue;
        }
        s = Inject(group, ctx).at_root(s);
        for (const std::string &name : group) {
            if (!ctx.is_output(name)) {
                validate_levels(s, ctx.env.at(name), ctx);
            }
        }
    }
    return s;
}

}  // namespace calotype::internal
