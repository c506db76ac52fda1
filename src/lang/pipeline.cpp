// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/pipeline.h"

#include "ir/conventions/names.h"
#include "ir/mutator.h"
#include "ir/printer.h"
#include "lang/func.h"
#include "pipeline/check_parameters.h"
#include "pipeline/infer_arguments.h"
#include "support/error.h"
#include "support/user_text.h"

namespace calotype {

using namespace internal;

namespace {

void run_deleters(PipelineContents &contents) {
    for (const CustomLoweringPass &pass : contents.custom_passes) {
        if (pass.deleter) {
            pass.deleter();
        }
    }
    contents.custom_passes.clear();
}

void add_output(PipelineContents &contents, const Func &f) {
    user_assert(f.defined()) << "output func " << f.name() << " of a pipeline is not defined";
    f.function().edit()->frozen = true;
    contents.outputs.push_back(f.function());
}

void check_types(const std::vector<Argument> &args) {
    for (const Argument &a : args) {
        user_assert(a.type.is_scalar() && a.type.bits() > 0)
            << "argument " << a.name << " of a pipeline has type " << a.type
            << ", must have one of one lane and at least one bit";
    }
}

}  // namespace

PipelineContents::~PipelineContents() {
    run_deleters(*this);
}

// Without a copy of the Func, which another thread may run for the first time.
Pipeline::Pipeline(const Func &output) : contents_(new PipelineContents) {
    add_output(*contents_, output);
}

Pipeline::Pipeline(const std::vector<Func> &outputs) : contents_(new PipelineContents) {
    user_assert(!outputs.empty()) << "a pipeline has no outputs";
    for (const Func &f : outputs) {
        add_output(*contents_, f);
    }
}

PipelineContents &Pipeline::checked() const {
    user_assert(defined()) << "an undefined pipeline is used";
    return *contents_;
}

std::vector<Func> Pipeline::outputs() const {
    std::vector<Func> result;
    for (const Function &f : checked().outputs) {
        result.emplace_back(f);
    }
    return result;
}

Func Pipeline::get_func(size_t index) {
    const std::vector<Function> &outputs = checked().outputs;
    const std::vector<Function> order = order_by_calls(outputs, build_environment(outputs));
    user_assert(index < order.size())
        << "the pipeline has no func " << index << ", it has " << order.size();
    return Func(order[index]);
}

std::vector<Argument> Pipeline::infer_arguments() {
    std::vector<Argument> result;
    for (const InferredArgument &a :
         calotype::infer_arguments(checked().outputs, checked().requirements)) {
        if (a.parameter.defined() && a.arg.name != names::user_context) {
            result.push_back(a.arg);
        }
    }
    return result;
}

void Pipeline::add_requirement(const Expr &condition, const std::vector<Expr> &error_args) {
    user_assert(condition.defined() && condition.type() == Bool())
        << "condition of a requirement has type " << condition.type() << ", must be bool";
    const std::string what = "requirement " + to_string(condition);
    check_is_of_parameters(condition, what);
    Requirement r;
    r.condition = condition;
    for (const Expr &e : error_args) {
        check_is_of_parameters(e, "the message of " + what);
        if (!r.message_parts.empty()) {
            r.message_parts.emplace_back(" ");
        }
        r.message_parts.push_back(e);
    }
    checked().requirements.push_back(r);
    internal::count_edit();
}

std::vector<Requirement> Pipeline::requirements() const {
    return checked().requirements;
}

void Pipeline::add_linkable(const Linkable &linkable) {
    user_assert(linkable.defined()) << "an undefined linkable is added to a pipeline";
    checked().linkables.push_back(linkable);
}

void Pipeline::apply_runtime_prefixes(const Target &target,
                                      const RuntimePrefixParams &params) const {
    user_assert(!params.prefixes.empty()) << "apply_runtime_prefixes: there is no prefix";
    user_assert(!target.has_feature(Target::JIT))
        << "apply_runtime_prefixes: code for target " << target.to_string()
        << " runs in this process, with its runtime";
    checked().runtime_prefixes = params.prefixes;
}

void Pipeline::trace_pipeline() {
    checked().trace_pipeline = true;
    internal::count_edit();
}

void Pipeline::add_custom_lowering_pass(Mutator *pass, std::function<void()> deleter) {
    checked().custom_passes.push_back({pass, std::move(deleter)});
}

void Pipeline::clear_custom_lowering_passes() {
    run_deleters(checked());
}

const std::vector<CustomLoweringPass> &Pipeline::custom_lowering_passes() {
    return checked().custom_passes;
}

void Pipeline::invalidate_cache() {
    if (checked().driver_state.defined()) {
        checked().driver_state->forget_target();
    }
}

PipelineSource Pipeline::source(const std::string &name, const std::vector<Argument> &args) const {
    internal::check_characters("function", name);
    check_types(args);
    const PipelineContents &c = checked();
    PipelineSource source;
    source.name = name;
    source.outputs = c.outputs;
    source.args = args;
    source.requirements = c.requirements;
    source.runtime_prefixes = c.runtime_prefixes;
    source.trace_pipeline = c.trace_pipeline;
    source.linkables = c.linkables;
    for (const CustomLoweringPass &p : c.custom_passes) {
        Mutator *pass = p.pass;
        source.custom_passes.push_back([pass](const Stmt &s) { return pass->mutate(s); });
    }
    return source;
}

}  // namespace calotype
