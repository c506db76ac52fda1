// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walking from Func to Func, and copying whole pipelines.
#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "ir/mutator.h"
#include "ir/visitor.h"
#include "pipeline/fields.h"
#include "pipeline/function.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

class CollectCalls : public GraphVisitor {
public:
    std::vector<Function> called;
    std::vector<std::string> called_by_name;

private:
    using GraphVisitor::visit;
    void visit(const Call *op) override {
        GraphVisitor::visit(op);
        if (op->call_type != CallKind::Func) {
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
    for_each_part<Expr>(*f.contents(), [&](const Expr &e) { calls(e); });
    for (const ExternFuncArgument &arg : f->extern_args) {
        if (arg.is_func()) {
            calls.called.emplace_back(arg.func);
        }
    }
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
    if (f->wrapped) {
        add_to_environment(Function(IntrusivePtr<FunctionContents>(f->wrapped)), env, by_name);
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

namespace {

/// In the order of the calls; a Function may be there more than once.
std::vector<Function> list_direct_calls(const Function &f, const Environment &env) {
    CollectCalls calls = collect_calls(f);
    std::vector<Function> result = calls.called;
    for (const std::string &name : calls.called_by_name) {
        auto it = env.find(name);
        if (name == f.name()) {
            result.push_back(f);
        } else if (it != env.end()) {
            result.push_back(it->second);
        }
    }
    return result;
}

}  // namespace

Environment find_direct_calls(const Function &f, const Environment &env) {
    Environment result;
    for (const Function &callee : list_direct_calls(f, env)) {
        result.emplace(callee.name(), callee);
    }
    return result;
}

namespace {

/// A name without what makes it unique: a '$' and what follows it, then digits at the end.
std::string name_without_numbers(const std::string &name) {
    std::string stem = name.substr(0, name.find('$'));
    while (!stem.empty() && stem.back() >= '0' && stem.back() <= '9') {
        stem.pop_back();
    }
    return stem;
}

class OrderByCalls {
public:
    explicit OrderByCalls(const Environment &env) : env_(env) {
    }
    /// Numbers f and what it needs in the order in which they are met.
    void number(const Function &f) {
        if (place_.emplace(f.name(), place_.size()).second) {
            const std::vector<Function> callees = list_direct_calls(f, env_);
            calls_.emplace(f.name(), callees);
            std::for_each(callees.begin(), callees.end(), [&](const Function &g) { number(g); });
        }
    }
    void add(const Function &f) {
        if (!seen_.insert(f.name()).second) {
            return;
        }
        std::map<std::pair<std::string, size_t>, Function> sorted;
        for (const Function &callee : calls_.at(f.name())) {
            sorted.emplace(std::pair(name_without_numbers(callee.name()), place_.at(callee.name())),
                           callee);
        }
        for (const auto &callee : sorted) {
            add(callee.second);
        }
        order.push_back(f);
    }
    std::vector<Function> order;

private:
    const Environment &env_;
    std::map<std::string, size_t> place_;
    std::map<std::string, std::vector<Function>> calls_;
    std::set<std::string> seen_;
};

}  // namespace

std::vector<Function> order_by_calls(const std::vector<Function> &outputs, const Environment &env) {
    OrderByCalls result(env);
    for (const Function &f : outputs) {
        result.number(f);
    }
    for (const Function &f : outputs) {
        result.add(f);
    }
    return result.order;
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
        if (op->call_type != CallKind::Func) {
            return GraphMutator::visit(op);
        }
        const IntrusivePtr<FunctionContents> &callee = copies_.by_name.at(op->name);
        return Call::make(op->type, op->name, Mutator::mutate(op->args), CallKind::Func,
                          op->value_index, op->symbol.defined() ? callee : nullptr);
    }
    const Copies &copies_;
};

/// Gives a copy of the members its own definitions and loop levels.
void copy_parts(FunctionContents *c) {
    c->wrapped = nullptr;
    c->owned_wrapped = nullptr;
    for_each_part<DefinitionPtr>(
        *c, [](DefinitionPtr &d) { d = d.defined() ? DefinitionPtr(new Definition(*d)) : d; });
    for_each_part<LoopLevel>(*c, [](LoopLevel &level) { level = level.lock().copy(); });
}

void redirect(FunctionContents *c, RedirectCalls &calls, const Copies &copies) {
    mutate_expressions(*c, [&](const Expr &e) { return calls.mutate(e); });
    for_each_part<IntrusivePtr<FunctionContents>>(*c, [&](IntrusivePtr<FunctionContents> &other) {
        other = other.defined() ? copies.of(other) : other;
    });
}

/// A copy of a wrapper belongs to the copy of the Func that it wraps, as before.
void copy_wrapped(const FunctionContents &original, const Copies &copies) {
    if (!original.wrapped) {
        return;
    }
    const IntrusivePtr<FunctionContents> &copy = copies.by_name.at(original.name);
    const IntrusivePtr<FunctionContents> &wrapped = copies.by_name.at(original.wrapped->name);
    copy->wrapped = wrapped.get();
    copy->owned_wrapped = original.owned_wrapped.defined() ? wrapped : nullptr;
}

// Calls of a Func to itself, by name, follow it to its new name.
class RenameSelf : public GraphMutator {
public:
    RenameSelf(const std::string &from, const std::string &to) : from_(from), to_(to) {
    }

private:
    using GraphMutator::visit;
    Expr visit(const Call *op) override {
        if (op->call_type != CallKind::Func || op->symbol.defined() || op->name != from_) {
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
    mutate_expressions(*copy, [&](const Expr &e) { return rename.mutate(e); });
    result.make_output_buffers();
    return result;
}

void deep_copy(const std::vector<Function> &outputs, std::vector<Function> *outputs_copy,
               Environment *env_copy) {
    Copies copies;
    const Environment env = build_environment(outputs);
    for (const auto &entry : env) {
        IntrusivePtr<FunctionContents> copy(new FunctionContents(*entry.second.contents()));
        copy_parts(copy.get());
        copies.by_name[entry.first] = copy;
        env_copy->emplace(entry.first, Function(copy));
    }
    RedirectCalls calls(copies);
    for (const auto &entry : copies.by_name) {
        redirect(entry.second.get(), calls, copies);
    }
    for (const auto &entry : env) {
        copy_wrapped(*entry.second.contents(), copies);
    }
    for (const Function &f : outputs) {
        outputs_copy->emplace_back(copies.of(f.contents()));
    }
}

namespace {

template<typename T>
void assign(T &to, const T &from) {
    to = from;
}
void assign(std::mutex &, const std::mutex &) {
}

/// Lets go of what bounds Parameters: those that name each other keep each other alive.
struct BoundsOfParameters {
    ~BoundsOfParameters() {
        for (const Parameter &p : parameters) {
            mutate_expressions(*p.contents(), [](const Expr &) { return Expr(); });
        }
    }
    std::vector<Parameter> parameters;
};

/// Parameters of its own in place of those that a pipeline uses.
class CopyParameters : public GraphMutator {
public:
    std::shared_ptr<const void> bounds() const {
        auto result = std::make_shared<BoundsOfParameters>();
        for (const auto &[original, copy] : copies_) {
            result->parameters.push_back(copy);
        }
        return result;
    }
    void copy_in(FunctionContents *c) {
        mutate_expressions(*c, [&](const Expr &e) { return mutate(e); });
        for_each_part<Parameter>(*c, [&](Parameter &p) { p = p.defined() ? copy_of(p) : p; });
        for_each_part<SymbolPtr>(*c, [&](SymbolPtr &symbol) { symbol = copy_of(symbol); });
    }

private:
    using GraphMutator::visit;
    Expr visit(const Variable *op) override {
        return is_parameter(op->symbol) ? Variable::make(op->type, op->name, copy_of(op->symbol))
                                        : GraphMutator::visit(op);
    }
    Expr visit(const Call *op) override {
        const Expr result = GraphMutator::visit(op);
        if (!is_parameter(op->symbol)) {
            return result;
        }
        const std::vector<Expr> &args = result.as<Call>()->args;
        const SymbolPtr symbol = copy_of(op->symbol);
        return op->call_type == CallKind::Intrinsic
                   ? Call::make(op->type, op->intrinsic, args, symbol)
                   : Call::make(op->type, op->name, args, op->call_type, op->value_index, symbol);
    }

    static bool is_parameter(const SymbolPtr &symbol) {
        return symbol.defined() && symbol->kind == SymbolKind::Parameter;
    }
    SymbolPtr copy_of(const SymbolPtr &symbol) {
        return is_parameter(symbol) ? SymbolPtr(copy_of(Parameter(symbol))) : symbol;
    }
    /// What constrains one may refer to it, so that it is known before that is looked at.
    Parameter copy_of(const Parameter &original) {
        Parameter &copy = copies_[original];
        if (!copy.defined()) {
            copy = Parameter(original.type(), original.is_buffer(), original.dimensions(),
                             original.name());
            ParameterContents &contents = *copy.contents();
            std::apply(
                [&](auto... to) {
                    std::apply([&](auto... from) { (assign(to.value, from.value), ...); },
                               fields(*original.contents()));
                },
                fields(contents));
            const Parameter kept = copy;  // others may be added meanwhile
            mutate_expressions(contents, [&](const Expr &e) { return mutate(e); });
            return kept;
        }
        return copy;
    }

    std::map<Parameter, Parameter> copies_;
};

}  // namespace

PipelineSource deep_copy(const PipelineSource &source) {
    PipelineSource copy = source;
    for (const Function &f : source.outputs) {
        if (!f.defined()) {
            return copy;  // it is refused when it is compiled
        }
    }
    copy.outputs.clear();
    Environment env;
    deep_copy(source.outputs, &copy.outputs, &env);
    CopyParameters parameters;
    for (const auto &[name, f] : env) {
        parameters.copy_in(f.contents().get());
    }
    mutate_expressions(copy.requirements, [&](const Expr &e) { return parameters.mutate(e); });
    copy.bounds_of_parameters = parameters.bounds();
    return copy;
}

}  // namespace calotype::internal
