// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walking from Func to Func, and copying whole pipelines.
#include <functional>

#include "ir/mutator.h"
#include "ir/visitor.h"
#include "pipeline/function.h"
#include "support/error.h"

namespace calotype {

using namespace internal;

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
    auto visit = [&](const Expr &e) {
        calls(e);
    };
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
        user_assert(env.count(name))
            << "the pipeline calls func " << name << ", which no longer exists";
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

struct Copies {
    std::map<std::string, IntrusivePtr<FunctionContents>> by_name;
    const IntrusivePtr<FunctionContents> &of(const IntrusivePtr<FunctionContents> &original) const {
        return by_name.at(original->name);
    }
};

class RedirectCalls : public GraphMutator {
public:
    explicit RedirectCalls(const Copies &copies) : copies_(copies) {
    }

private:
    using GraphMutator::visit;
    Expr visit(const Call *op) override {
        if (op->call_kind != CallKind::Func) {
            return GraphMutator::visit(op);
        }
        const IntrusivePtr<FunctionContents> &callee = copies_.by_name.at(op->name);
        const Type t = callee->output_types.at(size_t(op->value_index));
        Expr call = Call::make(t, op->name, Mutator::mutate(op->args), CallKind::Func,
                               op->value_index, op->symbol.defined() ? callee : nullptr);
        // The type may have been changed after the call was made.
        return t == op->type ? call : Cast::make(op->type, call);
    }
    const Copies &copies_;
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
}

void redirect(FunctionContents *c, RedirectCalls &calls, const Copies &copies) {
    auto rewrite = [&](Expr &e) {
        e = calls(e);
    };
    auto rewritten = [&](const Expr &e) {
        return calls(e);
    };
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
        wrapper.second = copies.of(wrapper.second);
    }
    for (ExternFuncArgument &arg : c->extern_args) {
        if (arg.is_func()) {
            arg.func = copies.of(arg.func);
        } else if (arg.is_expr()) {
            rewrite(arg.expr);
        }
    }
    rewrite(c->extern_proxy_expr);
}

// Calls of a Func to itself, by name, follow it to its new name.
class RenameSelf : public GraphMutator {
public:
    RenameSelf(const std::string &from, const std::string &to) : from_(from), to_(to) {
    }

private:
    using GraphMutator::visit;
    Expr visit(const Call *op) override {
        if (op->call_kind != CallKind::Func || op->symbol.defined() || op->name != from_) {
            return GraphMutator::visit(op);
        }
        return Call::make(op->type, to_, Mutator::mutate(op->args), CallKind::Func,
                          op->value_index);
    }
    const std::string &from_, &to_;
};

}  // namespace

Function Function::clone(const std::string &new_name) const {
    IntrusivePtr<FunctionContents> copy(new FunctionContents(*contents_));
    copy_parts(copy.get());
    copy->name = new_name;
    copy->frozen = false;
    copy->schedule.wrappers.clear();
    Function result(copy);
    RenameSelf rename(name(), new_name);
    for (int i = 0; i < result.stages(); i++) {
        if (result.stage(i).defined()) {
            mutate_expressions(*result.stage(i), [&](const Expr &e) { return rename.mutate(e); });
        }
    }
    result.make_output_buffers();
    return result;
}

void deep_copy(const std::vector<Function> &outputs, std::vector<Function> *outputs_copy,
               Environment *env_copy) {
    Copies copies;
    for (const auto &entry : build_environment(outputs)) {
        IntrusivePtr<FunctionContents> copy(new FunctionContents(*entry.second.contents()));
        copy_parts(copy.get());
        copies.by_name[entry.first] = copy;
        env_copy->emplace(entry.first, Function(copy));
    }
    RedirectCalls calls(copies);
    for (const auto &entry : copies.by_name) {
        redirect(entry.second.get(), calls, copies);
    }
    for (const Function &f : outputs) {
        outputs_copy->emplace_back(copies.of(f.contents()));
    }
}

}  // namespace calotype
