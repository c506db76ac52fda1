// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walking from Func to Func, and copying whole pipelines.
#include <functional>

#include "ir/mutator.h"
#include "ir/visitor.h"
#include "pipeline/function.h"
#include "support/error.h"

namespace calotype {

namespace {

// Calls each(e) for every Expr of the schedule data of a whole Func.
template<typename MaybeConstSchedule, typename Fn>
void for_each_schedule_expression(MaybeConstSchedule &s, Fn &&each) {
    for (auto *list : {&s.bounds, &s.estimates}) {
        for (auto &b : *list) {
            each(b.min);
            each(b.extent);
            each(b.modulus);
            each(b.remainder);
        }
    }
    for (auto &d : s.storage_dims) {
        each(d.alignment);
        each(d.bound);
        each(d.fold_factor);
    }
    each(s.ring_buffer);
    each(s.memoize_eviction_key);
}

class CollectCalls : public GraphVisitor {
public:
    std::vector<Function> called;
    std::vector<std::string> called_by_name;

private:
    using GraphVisitor::visit;
    void visit(const Call *op) override {
        GraphVisitor::visit(op);
        if (op->call_kind != CallKind::Func) {
            return;
        }
        if (op->symbol.defined()) {
            called.emplace_back(op->symbol);
        } else {
            called_by_name.push_back(op->name);
        }
    }
};

CollectCalls collect_calls(const Function &f) {
    CollectCalls calls;
    auto visit = [&](const Expr &e) { calls(e); };
    for (int i = 0; i < f.stages(); i++) {
        if (f.stage(i).defined()) {
            for_each_expression<const Definition>(*f.stage(i), visit);
        }
    }
    if (f->extern_schedule.defined()) {
        for_each_expression<const Definition>(*f->extern_schedule, visit);
    }
    for_each_schedule_expression<const FuncSchedule>(f.schedule(), visit);
    for (const ExternFuncArgument &arg : f->extern_args) {
        if (arg.is_func()) {
            calls.called.emplace_back(arg.func);
        } else if (arg.is_expr()) {
            calls(arg.expr);
        }
    }
    calls(f->extern_proxy_expr);
    return calls;
}

void add_to_environment(const Function &f, Environment *env, std::vector<std::string> *by_name) {
    auto inserted = env->emplace(f.name(), f);
    if (!inserted.second) {
        user_assert(inserted.first->second.same_as(f))
            << "two different funcs of one pipeline are named " << f.name();
        return;
    }
    CollectCalls calls = collect_calls(f);
    for (const Function &callee : calls.called) {
        add_to_environment(callee, env, by_name);
    }
    for (const auto &wrapper : f.schedule().wrappers) {
        add_to_environment(Function(wrapper.second), env, by_name);
    }
    by_name->insert(by_name->end(), calls.called_by_name.begin(), calls.called_by_name.end());
}

}  // namespace

Environment build_environment(const std::vector<Function> &outputs) {
    Environment env;
    std::vector<std::string> by_name;
    for (const Function &f : outputs) {
        add_to_environment(f, &env, &by_name);
    }
    for (const std::string &name : by_name) {
        user_assert(env.count(name)) << "the pipeline calls func " << name
                                     << ", which no longer exists";
    }
    return env;
}

Environment find_direct_calls(const Function &f, const Environment &env) {
    Environment result;
    CollectCalls calls = collect_calls(f);
    for (const Function &callee : calls.called) {
        result.emplace(callee.name(), callee);
    }
    for (const std::string &name : calls.called_by_name) {
        auto it = env.find(name);
        if (name == f.name()) {
            result.emplace(name, f);
        } else if (it != env.end()) {
            result.emplace(*it);
        }
    }
    return result;
}

namespace {

using CopyOf = std::map<const FunctionContents *, IntrusivePtr<FunctionContents>>;

class RedirectCalls : public GraphMutator {
public:
    explicit RedirectCalls(const CopyOf &copies)
        : copies_(copies) {
    }

private:
    using GraphMutator::visit;
    Expr visit(const Call *op) override {
        if (op->call_kind != CallKind::Func || !op->symbol.defined()) {
            return GraphMutator::visit(op);
        }
        return Call::make(op->type, op->name, Mutator::mutate(op->args), CallKind::Func,
                          op->value_index,
                          copies_.at(static_cast<const FunctionContents *>(op->symbol.get())));
    }
    const CopyOf &copies_;
};

DefinitionPtr copy_definition(const DefinitionPtr &d) {
    if (!d.defined()) {
        return d;
    }
    DefinitionPtr result(new Definition(*d));
    FuseLoopLevel &fuse = result->schedule.fuse_level;
    fuse.level = fuse.level.lock().copy();
    for (Specialization &s : result->specializations) {
        s.definition = copy_definition(s.definition);
    }
    return result;
}

void copy_parts(FunctionContents *c) {
    c->init = copy_definition(c->init);
    c->extern_schedule = copy_definition(c->extern_schedule);
    for (DefinitionPtr &d : c->updates) {
        d = copy_definition(d);
    }
    FuncSchedule &s = c->schedule;
    for (LoopLevel *level : {&s.store_level, &s.compute_level, &s.hoist_storage_level}) {
        *level = level->lock().copy();
    }
    // A level that was not given is that of the level inside of it.
    if (s.store_level.is_inlined()) {
        s.store_level = s.compute_level.copy();
    }
    if (s.hoist_storage_level.is_inlined()) {
        s.hoist_storage_level = s.store_level.copy();
    }
}

void redirect(FunctionContents *c, RedirectCalls &calls, const CopyOf &copies) {
    auto rewrite = [&](Expr &e) { e = calls(e); };
    auto rewritten = [&](const Expr &e) { return calls(e); };
    if (c->init.defined()) {
        mutate_expressions(*c->init, rewritten);
    }
    if (c->extern_schedule.defined()) {
        mutate_expressions(*c->extern_schedule, rewritten);
    }
    for (const DefinitionPtr &d : c->updates) {
        mutate_expressions(*d, rewritten);
    }
    for_each_schedule_expression(c->schedule, rewrite);
    for (auto &wrapper : c->schedule.wrappers) {
        wrapper.second = copies.at(wrapper.second.get());
    }
    for (ExternFuncArgument &arg : c->extern_args) {
        if (arg.is_func()) {
            arg.func = copies.at(arg.func.get());
        } else if (arg.is_expr()) {
            rewrite(arg.expr);
        }
    }
    rewrite(c->extern_proxy_expr);
}

}  // namespace

void deep_copy(const std::vector<Function> &outputs, std::vector<Function> *outputs_copy,
               Environment *env_copy) {
    CopyOf copies;
    for (const auto &entry : build_environment(outputs)) {
        IntrusivePtr<FunctionContents> copy(new FunctionContents(*entry.second.contents()));
        copy_parts(copy.get());
        copies[entry.second.contents().get()] = copy;
        env_copy->emplace(entry.first, Function(copy));
    }
    RedirectCalls calls(copies);
    for (const auto &entry : copies) {
        redirect(entry.second.get(), calls, copies);
    }
    for (const Function &f : outputs) {
        outputs_copy->emplace_back(copies.at(f.contents().get()));
    }
}

}  // namespace calotype
