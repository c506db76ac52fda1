// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/instrument/inject_tracing.h"

#include "ir/constants.h"
#include "ir/conventions/names.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/with.h"
#include "lower/instrument/trace_event.h"
#include "lower/names.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

std::vector<Expr> flat(const Region &bounds) {
    std::vector<Expr> result;
    for (const Range &r : bounds) {
        result.push_back(r.min);
        result.push_back(r.extent);
    }
    return result;
}

class Tracing : public Mutator {
public:
    explicit Tracing(LowerContext &ctx)
        : ctx_(ctx),
          pipeline_(ctx.trace_pipeline ||
                    ctx.target.features_any_of({Target::TracePipeline, Target::TraceLoads,
                                                Target::TraceStores, Target::TraceRealizations})) {
    }

    Stmt whole(const Stmt &s) {
        const Stmt body = around_outputs(0, s);
        if (!pipeline_ && events_ == 0) {
            return s;
        }
        std::vector<Stmt> tags;
        for (const auto &[name, f] : ctx_.env) {
            if (is_traced(f, ctx_)) {
                add_tags(name, f.schedule().trace_tags, &tags);
            }
        }
        for (const auto &[name, p] : ctx_.used.parameters) {
            if (traces_loads(p, ctx_)) {
                add_tags(name, p->trace_tags, &tags);
            }
        }
        const TraceEvent begin{ctx_.pipeline_name, calotype_trace_begin_pipeline};
        TraceEvent end{ctx_.pipeline_name, calotype_trace_end_pipeline};
        end.parent = pipeline_id();
        return LetStmt::make(pipeline_trace_id(), begin.call(),
                             Block::make({Block::make(tags), body, Evaluate::make(end.call())}));
    }

protected:
    using Mutator::visit;

    static Expr pipeline_id() {
        return Variable::make(Int(32), pipeline_trace_id());
    }

    void add_tags(const std::string &name, const std::vector<std::string> &tags,
                  std::vector<Stmt> *out) const {
        for (const std::string &tag : tags) {
            TraceEvent e{name, calotype_trace_tag};
            e.parent = pipeline_id();
            e.tag = StringImm::make(tag);
            out->push_back(Evaluate::make(e.call()));
        }
    }

    void note_event(const std::string &name) {
        events_++;
        user_assert(block_loop_.empty()) << name << " is traced inside of block loop "
                                         << block_loop_ << ": kernels cannot trace";
    }

    Stmt visit(const For *op) override {
        if (op->for_type == ForType::Parallel) {
            return task(op);
        }
        const std::string around = block_loop_;
        if (op->for_type == ForType::GPUBlock && around.empty()) {
            block_loop_ = op->name;
        }
        const Stmt s = Mutator::visit(op);
        block_loop_ = around;
        return s;
    }

    /// Each iteration is a task, if anything is traced in it.
    Stmt task(const For *op) {
        const int events_before = events_;
        TraceEvent begin{op->name, calotype_trace_begin_parallel_task};
        begin.coordinates = {Variable::make(Int(32), op->name), 1};
        begin.thread_id =
            cast(Int(32), Call::make(UInt(64), "calotype_current_thread_id", {}, CallKind::Extern));
        const Stmt body = between(begin, [&] { return mutate(op->body); });
        return with(op, &For::body, events_ > events_before ? body : op->body);
    }

    /// `value`, and the event that carries it.
    Expr traced(const Expr &value, TraceEvent e) {
        note_event(e.func);
        const std::string name = ctx_.names.unique(e.func + ".value");
        const Expr v = Variable::make(value.type(), name);
        e.value = v;
        return Let::make(name, value,
                         Call::make(value.type(), Intrinsic::return_second, {e.call(), v}));
    }

    Expr visit(const Call *op) override {
        if (op->is_intrinsic(Intrinsic::declare_box_touched)) {
            return op;  // corners of a region: nothing is loaded
        }
        const Expr call = Mutator::visit(op);
        op = call.as<Call>();
        if (op->call_type == CallKind::Func) {
            auto f = ctx_.env.find(op->name);
            if (f != ctx_.env.end() && traces_loads(f->second, ctx_)) {
                return traced(call, access(op));
            }
        } else if (op->call_type == CallKind::Image) {
            const bool is_parameter = op->symbol && op->symbol->kind == SymbolKind::Parameter;
            if (is_parameter ? traces_loads(Parameter(op->symbol), ctx_)
                             : ctx_.target.has_feature(Target::TraceLoads)) {
                return traced(call, access(op));
            }
        }
        return call;
    }

    TraceEvent access(const Call *op) const {
        TraceEvent e{op->name, calotype_trace_load};
        e.parent = parent_;
        e.coordinates = op->args;
        e.value_index = op->value_index;
        return e;
    }

    Stmt visit(const Provide *op) override {
        const Stmt s = Mutator::visit(op);
        auto f = ctx_.env.find(op->name);
        if (f == ctx_.env.end() || !traces_stores(f->second, ctx_)) {
            return s;
        }
        op = s.as<Provide>();
        std::vector<Expr> values;
        for (size_t i = 0; i < op->values.size(); i++) {
            TraceEvent e{op->name, calotype_trace_store};
            e.parent = parent_;
            e.coordinates = op->args;
            e.value_index = int(i);
            values.push_back(traced(op->values[i], e));
        }
        return with(op, &Provide::values, values);
    }

    Stmt visit(const Realize *op) override {
        ScopedBinding<Region> bind(bounds_, op->name, op->bounds);
        const auto body = [&] {
            return mutate(op->body);
        };
        auto f = ctx_.env.find(op->name);
        return with(op, &Realize::body,
                    f == ctx_.env.end() ? body() : around_storage(f->second, op->bounds, body));
    }

    /// The statement with the storage of the outputs from `first` on around it.
    Stmt around_outputs(size_t first, const Stmt &s) {
        if (first == ctx_.outputs.size()) {
            return mutate(s);
        }
        const Function &f = ctx_.outputs[first];
        return around_storage(f, output_bounds(f), [&] { return around_outputs(first + 1, s); });
    }

    /// begin and end of the storage's life.
    template<typename Body>
    Stmt around_storage(const Function &f, const Region &bounds, const Body &body) {
        if (!traces_realizations(f, ctx_)) {
            return body();
        }
        return between(region_event(f, bounds, calotype_trace_begin_realization), body);
    }

    static TraceEvent region_event(const Function &f, const Region &bounds,
                                   calotype_trace_event_code_t code) {
        TraceEvent e{f.name(), code};
        e.coordinates = flat(bounds);
        return e;
    }

    /// What `body()` gives, between an event and the one that ends it, whose code is the next. What
    /// is traced in it belongs to that event.
    template<typename Body>
    Stmt between(TraceEvent begin, const Body &body) {
        if (begin.code != calotype_trace_begin_parallel_task) {
            note_event(begin.func);
        }
        begin.parent = parent_;
        const std::string id = ctx_.names.unique(names::trace_id(begin.func));
        parent_ = Variable::make(Int(32), id);
        TraceEvent end = begin;
        end.code = calotype_trace_event_code_t(begin.code + 1);
        end.parent = parent_;
        end.thread_id = 0;
        const Stmt inner = body();
        parent_ = begin.parent;
        return LetStmt::make(id, begin.call(), Block::make(inner, Evaluate::make(end.call())));
    }

    Region output_bounds(const Function &f) const {
        Region bounds;
        for (int d = 0; d < f.dimensions(); d++) {
            bounds.emplace_back(Variable::make(Int(32), names::buffer_min(f.buffer_name(0), d)),
                                Variable::make(Int(32), names::buffer_extent(f.buffer_name(0), d)));
        }
        return bounds;
    }

    Stmt visit(const ProducerConsumer *op) override {
        const auto marked = [&] {
            return Mutator::visit(op);
        };
        auto f = ctx_.env.find(op->name);
        if (f == ctx_.env.end() || !traces_realizations(f->second, ctx_)) {
            return marked();
        }
        return between(
            region_event(f->second, produced(f->second),
                         op->is_producer ? calotype_trace_produce : calotype_trace_consume),
            marked);
    }

    /// What is required here, less what earlier iterations of a loop have left in storage: the
    /// region of the first stage, if that is known, or all that is stored.
    Region produced(const Function &f) const {
        const Region *stored = bounds_.find(f.name());
        if (!stored) {
            return output_bounds(f);
        }
        if (!f.stage(0) && !f.has_extern_definition()) {
            return *stored;
        }
        Region result;
        for (const std::string &arg : f.args()) {
            const Expr min = names::var(names::stage_min(f.name(), 0, arg));
            result.emplace_back(min, names::var(names::stage_max(f.name(), 0, arg)) + 1 - min);
        }
        return result;
    }

private:
    LowerContext &ctx_;
    const bool pipeline_;
    int events_ = 0;
    Expr parent_ = pipeline_id();  ///< the innermost event around this place
    Scope<Region> bounds_;
    std::string block_loop_;  ///< the outermost around this place
};

}  // namespace

Stmt inject_tracing(const Stmt &s, LowerContext &ctx) {
    return Tracing(ctx).whole(s);
}

}  // namespace calotype::internal
