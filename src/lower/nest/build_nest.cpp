// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/nest/build_nest.h"

#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/queries.h"
#include "lower/names.h"
#include "lower/nest/extern_stage.h"
#include "lower/nest/inline_functions.h"
#include "lower/nest/stage_loops.h"
#include "lower/nest/validate_levels.h"

namespace calotype {

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
    const LoopInfo &info = it->second;
    return info.func == level.func_name() && info.var == level.var_name() &&
           (level.stage_index() < 0 || level.stage_index() == info.stage);
}

/// All stages of f, one after the other, in its produce node.
Stmt make_producer(const Function &f, LowerContext &ctx) {
    std::vector<Stmt> stages;
    if (f.has_extern_definition()) {
        stages.push_back(make_extern_stage(f, ctx));
    } else {
        stages.push_back(make_stage_loops(f, 0, ctx));
    }
    for (int i = 1; i < f.stages(); i++) {
        stages.push_back(make_stage_loops(f, i, ctx));
    }
    return ProducerConsumer::make_produce(f.name(), Block::make(stages));
}

Stmt produce_and_consume(const Function &f, const Stmt &consumer, LowerContext &ctx) {
    Stmt produce = make_producer(f, ctx);
    if (!consumer.defined()) {
        return produce;
    }
    return Block::make(produce, ProducerConsumer::make_consume(f.name(), consumer));
}

Stmt realize(const Function &f, const Stmt &body) {
    Region bounds;
    for (int i = 0; i < f.dimensions(); i++) {
        bounds.emplace_back(names::var(names::realized_min(f.name(), i)),
                            names::var(names::realized_extent(f.name(), i)));
    }
    return Realize::make(f.name(), f.output_types(), f.schedule().memory_type, bounds, const_true(), body);
}

/// Puts the production of f at its compute level, its storage at its store level.
class Inject : public Mutator {
public:
    Inject(const Function &f, LowerContext &ctx)
        : f_(f), ctx_(ctx) {
    }

    Stmt at_root(const Stmt &s) {
        const FuncSchedule &sched = f_.schedule();
        Stmt result = mutate(s);
        if (sched.compute_level.is_root()) {
            result = produce_and_consume(f_, result, ctx_);
        }
        if (sched.store_level.is_root()) {
            result = realize(f_, result);
        }
        if (sched.hoist_storage_level.is_root() && !sched.store_level.is_root()) {
            result = HoistedStorage::make(f_.name(), result);
        }
        return result;
    }

protected:
    /// Not inlined although scheduled so (it has updates): computed just before the statement that uses it.
    Stmt visit(const Provide *op) override {
        if (f_.schedule().compute_level.is_inlined() && uses_buffer(Stmt(op), f_.name())) {
            return realize(f_, produce_and_consume(f_, op, ctx_));
        }
        return op;
    }

    Stmt visit(const For *op) override {
        Stmt body = mutate(op->body);
        const FuncSchedule &sched = f_.schedule();
        if (matches(sched.compute_level, op->name, ctx_) && uses_buffer(body, f_.name())) {
            body = produce_and_consume(f_, body, ctx_);
        }
        if (matches(sched.store_level, op->name, ctx_) && uses_buffer(body, f_.name())) {
            body = realize(f_, body);
        }
        if (matches(sched.hoist_storage_level, op->name, ctx_) &&
            !(sched.hoist_storage_level == sched.store_level) && uses_buffer(body, f_.name())) {
            body = HoistedStorage::make(f_.name(), body);
        }
        if (body.same_as(op->body)) {
            return op;
        }
        return For::make(op->name, op->min, op->extent, op->for_type, op->partition, op->device_api, body);
    }

private:
    const Function &f_;
    LowerContext &ctx_;
};

}  // namespace

Stmt build_nest(const Stmt &, LowerContext &ctx) {
    Stmt s;
    for (size_t i = ctx.order.size(); i-- > 0;) {
        const Function &f = ctx.env.at(ctx.order[i]);
        if (ctx.is_output(f.name())) {
            s = produce_and_consume(f, s, ctx);
        } else if (f.schedule().compute_level.is_inlined() && f.can_be_inlined()) {
            s = inline_function(s, f);
        } else if (uses_buffer(s, f.name())) {
            s = Inject(f, ctx).at_root(s);
            validate_levels(s, f, ctx);
        }
    }
    return s;
}

}  // namespace calotype
