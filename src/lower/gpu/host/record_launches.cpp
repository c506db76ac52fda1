// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/host/record_launches.h"

#include "ir/conventions/runtime_calls.h"
#include "ir/mutator.h"
#include "ir/walk/search.h"
#include "lower/checks/error_call.h"
#include "lower/gpu/host/device_calls.h"

namespace calotype::internal {

namespace {

constexpr int recording_bytes = 24;

/// Whether a call in an expression may have to do with what a device does.
bool needs_order(const Expr &e) {
    return contains<Call>(e, [](const Call *op) {
        const bool has_effects =
            op->call_type == CallKind::Extern || op->call_type == CallKind::ExternCPlusPlus;
        return has_effects && device_order_of(op->name) != DeviceOrder::Keeps;
    });
}

class Recorder : public StmtMutator {
public:
    explicit Recorder(LowerContext &ctx)
        : ctx_(ctx), recording_name_(ctx.names.unique("recording")),
          recording_(Variable::make(Handle(), recording_name_)) {
    }

private:
    using Mutator::visit;

    // Where the recording begins and ends.

    bool is_hold(const Expr &e) const {
        const Variable *v = e.as<Variable>();
        return v && !hold_.empty() && v->name == hold_;
    }

    /// let begun = calotype_begin_kernels(user_context, gpu_module_descriptor("cuda"), hold)
    void find_hold(const LetStmt *op) {
        if (is_call(op->value, RuntimeFunction::begin_kernels)) {
            const Call *call = op->value.as<Call>();
            const Call *descriptor = call->args[1].as<Call>();
            const StringImm *api = descriptor ? descriptor->args[0].as<StringImm>() : nullptr;
            const Variable *hold = call->args[2].as<Variable>();
            if (api && hold && api->value == to_string(DeviceAPI::CUDA)) {
                hold_ = hold->name;
            }
        }
    }

    Stmt visit(const Block *op) override {
        const Evaluate *first = op->first.as<Evaluate>();
        const Call *call = first ? first->value.as<Call>() : nullptr;
        const bool is_held =
            call && call->is_intrinsic(Intrinsic::register_destructor) && is_hold(call->args[1]);
        return is_held ? Block::make(op->first, recorded(op->rest)) : Mutator::visit(op);
    }

    Stmt recorded(const Stmt &s) {
        records_ = true;
        const Stmt body = Block::make(mutate(s), launch());
        records_ = false;
        const Expr hold = Variable::make(Handle(), hold_);
        const Stmt begin = Evaluate::make(
            call_runtime(RuntimeFunction::begin_recording, {user_context(), hold, recording_}));
        const Stmt end = at_exit(RuntimeFunction::end_recording, recording_);
        return LetStmt::make(recording_name_,
                             Call::make(Handle(), Intrinsic::alloca, {Expr(recording_bytes)}),
                             Block::make({begin, end, body}));
    }

    Stmt launch() {
        return checked_call(RuntimeFunction::launch_recording, {recording_}, ctx_);
    }
    Stmt after_launch(const Stmt &s) {
        return Block::make(launch(), s);
    }
    Stmt in_order(const Expr &e, const Stmt &s) {
        return records_ && needs_order(e) ? after_launch(s) : s;
    }

    // What is recorded.

    Expr with_recording(RuntimeFunction function, const Call *op) const {
        std::vector<Expr> args = op->args;
        args.insert(args.begin() + 1, recording_);
        return call_runtime(function, args);
    }

    /// The call for the recording, or undefined if it stays as it is.
    Expr recorded_call(const Expr &e) const {
        const Call *call = e.as<Call>();
        if (!records_ || !call) {
            return Expr();
        }
        if (call->is_intrinsic(Intrinsic::gpu_launch) && is_hold(call->args[0])) {
            std::vector<Expr> args = call->args;
            args[0] = recording_;
            return Call::make(call->type, Intrinsic::gpu_record, args);
        }
        if (is_call(e, RuntimeFunction::device_malloc)) {
            return with_recording(RuntimeFunction::record_malloc, call);
        }
        if (is_call(e, RuntimeFunction::device_free)) {
            return with_recording(RuntimeFunction::record_free, call);
        }
        return Expr();
    }

    /// Before a copy, which is one only if the other side's copy is newer: then it comes after the
    /// kernels. With two kinds of devices nobody knows which side that is.
    Stmt launch_before_copy(const Call *op) {
        const bool to_host = op->name == runtime_function(RuntimeFunction::copy_to_host).name;
        if (ctx_.device_modules.size() > 1) {
            return launch();
        }
        const Intrinsic dirty =
            to_host ? Intrinsic::buffer_get_device_dirty : Intrinsic::buffer_get_host_dirty;
        return IfThenElse::make(Call::make(Bool(), dirty, {op->args[1]}), launch());
    }

    Stmt visit(const LetStmt *op) override {
        find_hold(op);
        const Expr recorded = recorded_call(op->value);
        const Stmt body = mutate(op->body);
        if (recorded.defined()) {
            return LetStmt::make(op->name, recorded, body);
        }
        const Stmt same =
            body.same_as(op->body) ? Stmt(op) : LetStmt::make(op->name, op->value, body);
        const bool copies = is_call(op->value, RuntimeFunction::copy_to_host) ||
                            is_call(op->value, RuntimeFunction::copy_to_device);
        return records_ && copies ? Block::make(launch_before_copy(op->value.as<Call>()), same)
                                  : in_order(op->value, same);
    }

    Stmt visit(const Evaluate *op) override {
        const Expr recorded = recorded_call(op->value);
        return recorded.defined() ? Evaluate::make(recorded) : in_order(op->value, op);
    }
    Stmt visit(const AssertStmt *op) override {
        return in_order(op->condition, op);
    }
    Stmt visit(const Store *op) override {
        return in_order(op->value, op);
    }
    Stmt visit(const IfThenElse *op) override {
        return in_order(op->condition, Mutator::visit(op));
    }
    Stmt visit(const Allocate *op) override {
        return op->new_expr.defined() ? in_order(op->new_expr, Mutator::visit(op))
                                      : Mutator::visit(op);
    }

    // Several threads at once.

    Stmt visit(const For *op) override {
        return op->for_type == ForType::Serial ? Mutator::visit(op) : visit_parallel(op);
    }
    template<typename T>
    Stmt visit_parallel(const T *op) {
        return records_ ? after_launch(op) : Mutator::visit(op);
    }
    Stmt visit(const Fork *op) override {
        return visit_parallel(op);
    }
    Stmt visit(const Acquire *op) override {
        return visit_parallel(op);
    }
    Stmt visit(const Atomic *op) override {
        return visit_parallel(op);
    }

    LowerContext &ctx_;
    const std::string recording_name_;
    const Expr recording_;
    std::string hold_;      ///< of CUDA's kernels
    bool records_ = false;  ///< inside of it
};

}  // namespace

Stmt record_launches(const Stmt &s, LowerContext &ctx) {
    return Recorder(ctx).mutate(s);
}

}  // namespace calotype::internal
