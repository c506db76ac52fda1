// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/instrument/inject_profiling.h"

#include <algorithm>

#include "ir/constants.h"
#include "ir/conventions/runtime_calls.h"
#include "ir/conventions/stack_storage.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/with.h"
#include "lower/checks/error_call.h"
#include "lower/names.h"
#include "runtime/abi/profiler.h"

namespace calotype::internal {

namespace {

const char *const instance_name = "__profiler.instance";

Expr instance() {
    return Variable::make(Handle(), instance_name);
}

Stmt call(RuntimeFunction function, const std::vector<Expr> &args) {
    return Evaluate::make(call_runtime(function, args));
}

class Profiling : public Mutator {
public:
    explicit Profiling(LowerContext &ctx) : ctx_(ctx) {
        add_row("overhead");
    }

    Stmt whole(const Stmt &s) {
        const Stmt body = mutate(s);
        const Expr start_result = Variable::make(Int(32), "__profiler.started");
        const Expr funcs = Call::make(Handle(), Intrinsic::alloca,
                                      {int(rows_.size() * sizeof(calotype_profiler_func_stats))});
        std::vector<Expr> names, kinds, peaks;
        for (const Row &row : rows_) {
            names.push_back(StringImm::make(row.name));
            kinds.push_back(int(names.size() == 1 ? calotype_profiler_func_kind_overhead
                                                  : calotype_profiler_func_kind_func));
            peaks.push_back(make_const(UInt(64), uint64_t(row.stack_peak)));
        }
        const Expr start =
            call_runtime(RuntimeFunction::profiler_instance_start,
                         {user_context(), StringImm::make(ctx_.pipeline_name), int(rows_.size()),
                          as_struct(names), as_struct(kinds), funcs, instance()});
        const Stmt running = Block::make(
            {AssertStmt::make(start_result == 0, start_result),
             at_exit(RuntimeFunction::profiler_instance_end, instance()),
             call(RuntimeFunction::profiler_stack_peak,
                  {user_context(), instance(), as_struct(peaks)}),
             call(RuntimeFunction::profiler_incr_active_threads, {instance()}), set_current(0),
             body, call(RuntimeFunction::profiler_decr_active_threads, {instance()})});
        const Expr storage = Call::make(Handle(), Intrinsic::alloca,
                                        {int(sizeof(calotype_profiler_instance_state))});
        return LetStmt::make(instance_name, storage,
                             LetStmt::make("__profiler.started", start, running));
    }

protected:
    using Mutator::visit;

    Stmt visit(const ProducerConsumer *op) override {
        if (!op->is_producer || is_exempt(op->name)) {
            return Mutator::visit(op);
        }
        const int outer = std::exchange(current_, row_of(op->name));
        const Stmt s = Mutator::visit(op);
        const int own = std::exchange(current_, outer);
        return Block::make({set_current(own), s, set_current(outer)});
    }

    Stmt visit(const For *op) override {
        const Stmt s = Mutator::visit(op);
        if (op->for_type != ForType::Parallel) {
            return s;
        }
        const For *loop = s.as<For>();
        const Stmt come = call(RuntimeFunction::profiler_incr_active_threads, {instance()});
        const Stmt go = call(RuntimeFunction::profiler_decr_active_threads, {instance()});
        const Stmt task = Block::make({come, set_current(current_), loop->body, go});
        return Block::make({go, with(loop, &For::body, task), come, set_current(current_)});
    }

    Stmt visit(const Allocate *op) override {
        const int64_t constant = int64_t(op->constant_size()) * op->type.bytes();
        const bool on_stack = is_on_stack(op->memory_type, constant) &&
                              (constant > 0 || op->memory_type != MemoryType::Auto);
        const int row = row_of_buffer(op->name);
        if (on_stack || op->new_expr.defined()) {
            return on_stack ? on_the_stack(op, row, constant) : Mutator::visit(op);
        }
        const std::string bytes_name = names::part(op->name, "bytes");
        const Expr bytes = Variable::make(UInt(64), bytes_name);
        Released released{row, bytes};
        ScopedBinding<Released *> bind(alive_, op->name, &released);
        Stmt body = mutate(op->body);
        if (!released.seen) {
            body = Block::make(body, memory(RuntimeFunction::profiler_memory_free, released));
        }
        body = Block::make(memory(RuntimeFunction::profiler_memory_allocate, released), body);
        Expr size = make_const(UInt(64), uint64_t(op->type.bytes()));
        for (const Expr &e : op->extents) {
            size = size * cast(UInt(64), e);
        }
        if (!is_const_one(op->condition)) {
            size = select(op->condition, size, make_zero(UInt(64)));
        }
        const Stmt s = with(op, &Allocate::body, body, &Allocate::new_expr, Expr());
        return LetStmt::make(bytes_name, size, s);
    }

    Stmt visit(const Free *op) override {
        Released *const *released = alive_.find(op->name);
        if (!released) {
            return op;
        }
        (*released)->seen = true;
        return Block::make(op, memory(RuntimeFunction::profiler_memory_free, **released));
    }

private:
    /// A row of the report, with the bytes that its Func has on the stack.
    struct Row {
        std::string name;
        int64_t stack = 0, stack_peak = 0;
    };
    /// A heap allocation, and whether its Free was seen.
    struct Released {
        int row;
        Expr bytes;
        bool seen = false;
    };

    static Expr as_struct(const std::vector<Expr> &values) {
        return Call::make(Handle(), Intrinsic::make_struct, values);
    }

    static Stmt set_current(int row) {
        return call(RuntimeFunction::profiler_set_current_func, {instance(), row});
    }

    static Stmt memory(RuntimeFunction function, const Released &r) {
        return call(function, {user_context(), instance(), r.row, r.bytes});
    }

    Stmt on_the_stack(const Allocate *op, int row, int64_t bytes) {
        rows_[row].stack += bytes;
        rows_[row].stack_peak = std::max(rows_[row].stack_peak, rows_[row].stack);
        const Stmt s = Mutator::visit(op);
        rows_[row].stack -= bytes;
        return s;
    }

    bool is_exempt(const std::string &func) const {
        auto f = ctx_.env.find(func);
        return f != ctx_.env.end() && f->second.schedule().no_profiling;
    }

    int add_row(const std::string &name) {
        rows_.push_back({name});
        return int(rows_.size()) - 1;
    }

    int row_of(const std::string &func) {
        auto it = row_numbers_.find(func);
        if (it == row_numbers_.end()) {
            it = row_numbers_.emplace(func, add_row(func)).first;
        }
        return it->second;
    }

    /// Storage counts for the Func that it holds, other storage for the one at work.
    int row_of_buffer(const std::string &buffer) {
        const Function *f = ctx_.function_of_buffer(buffer);
        return f && !is_exempt(f->name()) ? row_of(f->name()) : current_;
    }

    LowerContext &ctx_;
    std::vector<Row> rows_;
    std::map<std::string, int> row_numbers_;
    int current_ = 0;
    Scope<Released *> alive_;
};

}  // namespace

Stmt inject_profiling(const Stmt &s, LowerContext &ctx) {
    return Profiling(ctx).whole(s);
}

}  // namespace calotype::internal
