// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/instrument/inject_tracing.h"

#include "ir/constants.h"
#include "ir/conventions/names.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/with.h"
#include "lower/names.h"
#include "runtime/abi/tracing.h"
#include "support/error.h"

namespace calotype {

using namespace internal;

namespace {

/// The arguments of one event.
struct Event {
    std::string func;
    calotype_trace_event_code_t code;
    Expr parent = 0;
    Expr value;                     ///< of a load or store; other events have no type
    std::vector<Expr> coordinates;  ///< or min and extent of each dimension
    int value_index = 0;
    std::string tag;

    Expr call() const {
        std::vector<Expr> places;
        for (const Expr &e : coordinates) {
            places.push_back(cast(Int(32), e));
        }
        const bool has_value = value.defined();
        const Type type = has_value ? value.type() : Handle();
        return Call::make(Int(32), Intrinsic::trace,
                          {StringImm::make(func), has_value ? as_struct({value}) : null(),
                           as_struct(places), int(type.code()), has_value ? type.bits() : 0,
                           has_value ? type.lanes() : 0, int(code), parent, value_index,
                           int(coordinates.size()), StringImm::make(tag)});
    }

private:
    static Expr null() {
        return make_zero(UInt(64));
    }
    static Expr as_struct(const std::vector<Expr> &values) {
        return values.empty() ? null() : Call::make(Handle(), Intrinsic::make_struct, values);
    }
};

Expr id_of(const std::string &name) {
    return Variable::make(Int(32), names::trace_id(name));
}

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
        : ctx_(ctx), all_loads_(ctx.target.has_feature(Target::TraceLoads)),
          all_stores_(ctx.target.has_feature(Target::TraceStores)),
          all_realizations_(ctx.target.has_feature(Target::TraceRealizations)),
          pipeline_(ctx.trace_pipeline || ctx.target.has_feature(Target::TracePipeline) ||
                    all_loads_ || all_stores_ || all_realizations_) {
    }

    Stmt whole(const Stmt &s) {
        Stmt body = mutate(s);
        for (const Function &f : ctx_.outputs) {
            body = around_storage(f, output_bounds(f), body);
        }
        if (!pipeline_ && !any_) {
            return s;
        }
        std::vector<Stmt> tags;
        for (const auto &[name, f] : ctx_.env) {
            if (is_traced(f)) {
                add_tags(name, f.schedule().trace_tags, &tags);
            }
        }
        for (const auto &[name, p] : ctx_.used.parameters) {
            if (p.is_buffer() && p->trace_loads) {
                add_tags(name, p->trace_tags, &tags);
            }
        }
        const Event begin{ctx_.pipeline_name, calotype_trace_begin_pipeline};
        Event end{ctx_.pipeline_name, calotype_trace_end_pipeline};
        end.parent = pipeline_id();
        body = Block::make({Block::make(tags), body, Evaluate::make(end.call())});
        return LetStmt::make(names::trace_id(pipeline_key), begin.call(), body);
    }

protected:
    using Mutator::visit;

    bool is_traced(const Function &f) const {
        return traces_realizations(f) || traces_loads(f) || traces_stores(f);
    }
    bool traces_realizations(const Function &f) const {
        return all_realizations_ || f.schedule().trace_realizations;
    }
    bool traces_loads(const Function &f) const {
        return all_loads_ || f.schedule().trace_loads;
    }
    bool traces_stores(const Function &f) const {
        return all_stores_ || f.schedule().trace_stores;
    }

    static Expr pipeline_id() {
        return id_of(pipeline_key);
    }

    void add_tags(const std::string &name, const std::vector<std::string> &tags,
                  std::vector<Stmt> *out) const {
        for (const std::string &tag : tags) {
            Event e{name, calotype_trace_tag};
            e.parent = pipeline_id();
            e.tag = tag;
            out->push_back(Evaluate::make(e.call()));
        }
    }

    void note_event(const std::string &name) {
        any_ = true;
        user_assert(block_loop_.empty()) << name << " is traced inside of block loop "
                                         << block_loop_ << ": kernels cannot trace";
    }

    Stmt visit(const For *op) override {
        const std::string around = block_loop_;
        if (op->for_type == ForType::GPUBlock && around.empty()) {
            block_loop_ = op->name;
        }
        const Stmt s = Mutator::visit(op);
        block_loop_ = around;
        return s;
    }

    /// `value`, and the event that carries it.
    Expr traced(const Expr &value, Event e) {
        note_event(e.func);
        const std::string name = ctx_.names.unique(e.func + ".value");
        const Expr v = Variable::make(value.type(), name);
        e.value = v;
        return Let::make(name, value,
                         Call::make(value.type(), Intrinsic::return_second, {e.call(), v}));
    }

    Expr visit(const Call *op) override {
        const Expr call = Mutator::visit(op);
        op = call.as<Call>();
        if (op->call_kind == CallKind::Func) {
            auto f = ctx_.env.find(op->name);
            if (f != ctx_.env.end() && traces_loads(f->second)) {
                return traced(call, access(op, id_of(op->name)));
            }
        } else if (op->call_kind == CallKind::Image) {
            const bool is_parameter = op->symbol && op->symbol->kind == SymbolKind::Parameter;
            if (all_loads_ || (is_parameter && Parameter(op->symbol)->trace_loads)) {
                return traced(call, access(op, pipeline_id()));
            }
        }
        return call;
    }

    static Event access(const Call *op, const Expr &parent) {
        Event e{op->name, calotype_trace_load};
        e.parent = parent;
        e.coordinates = op->args;
        e.value_index = op->value_index;
        return e;
    }

    Stmt visit(const Provide *op) override {
        const Stmt s = Mutator::visit(op);
        auto f = ctx_.env.find(op->name);
        if (f == ctx_.env.end() || !traces_stores(f->second)) {
            return s;
        }
        op = s.as<Provide>();
        std::vector<Expr> values;
        for (size_t i = 0; i < op->values.size(); i++) {
            Event e{op->name, calotype_trace_store};
            e.parent = id_of(op->name);
            e.coordinates = op->args;
            e.value_index = int(i);
            values.push_back(traced(op->values[i], e));
        }
        return with(op, &Provide::values, values);
    }

    Stmt visit(const Realize *op) override {
        ScopedBinding<Region> bind(bounds_, op->name, op->bounds);
        const Stmt body = mutate(op->body);
        auto f = ctx_.env.find(op->name);
        if (f == ctx_.env.end()) {
            return body.same_as(op->body) ? Stmt(op) : with_body(op, body);
        }
        return with_body(op, around_storage(f->second, op->bounds, body));
    }

    static Stmt with_body(const Realize *op, const Stmt &body) {
        return with(op, &Realize::body, body);
    }

    /// begin and end of the storage's life; or, where only accesses are traced, an id for them.
    Stmt around_storage(const Function &f, const Region &bounds, const Stmt &body) {
        if (!traces_realizations(f)) {
            return traces_loads(f) || traces_stores(f)
                       ? LetStmt::make(names::trace_id(f.name()), 0, body)
                       : body;
        }
        return between(f, bounds, calotype_trace_begin_realization, pipeline_id(), body);
    }

    /// `body` between an event and the event that ends it, whose code is the next one.
    Stmt between(const Function &f, const Region &bounds, calotype_trace_event_code_t code,
                 const Expr &parent, const Stmt &body) {
        note_event(f.name());
        Event begin{f.name(), code};
        begin.parent = parent;
        begin.coordinates = flat(bounds);
        Event end = begin;
        end.code = calotype_trace_event_code_t(code + 1);
        end.parent = id_of(f.name());
        return LetStmt::make(names::trace_id(f.name()), begin.call(),
                             Block::make(body, Evaluate::make(end.call())));
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
        const Stmt s = Mutator::visit(op);
        auto f = ctx_.env.find(op->name);
        if (f == ctx_.env.end() || !traces_realizations(f->second)) {
            return s;
        }
        const Region *bounds = bounds_.find(op->name);
        return between(f->second, bounds ? *bounds : output_bounds(f->second),
                       op->is_producer ? calotype_trace_produce : calotype_trace_consume,
                       id_of(op->name), s);
    }

private:
    /// Of the pipeline's own id: no Func can have this name.
    static constexpr const char *pipeline_key = "__pipeline";

    LowerContext &ctx_;
    const bool all_loads_, all_stores_, all_realizations_, pipeline_;
    bool any_ = false;
    Scope<Region> bounds_;
    std::string block_loop_;  ///< the outermost around this place
};

}  // namespace

Stmt inject_tracing(const Stmt &s, LowerContext &ctx) {
    return Tracing(ctx).whole(s);
}

}  // namespace calotype
