// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/pipeline_state.h"

#include <dlfcn.h>

#include <mutex>
#include <optional>

#include "ir/conventions/names.h"
#include "ir/type_of.h"
#include "ir/visitor.h"
#include "pipeline/fields.h"
#include "support/edit_lock.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

JitState &JitState::of(const Pipeline &pipeline) {
    user_assert(pipeline.defined()) << "an undefined pipeline is used";
    PipelineContents &contents = *pipeline.contents();
    if (!contents.has_driver_state.load(std::memory_order_acquire)) {
        // Two threads may run one pipeline for the first time.
        static std::mutex mutex;
        std::lock_guard<std::mutex> lock(mutex);
        if (!contents.driver_state.defined()) {
            contents.driver_state = new JitState;
            contents.has_driver_state.store(true, std::memory_order_release);
        }
    }
    return static_cast<JitState &>(*contents.driver_state);
}

void JitState::set_target(const Target &target) {
    const std::lock_guard<std::mutex> lock(mutex_);
    target_ = target;
}

bool is_open(const Target &target) {
    return target == Target() || target.has_unknowns();
}

Target JitState::resolve_target(const Target &target) {
    if (is_open(target)) {
        const std::lock_guard<std::mutex> lock(mutex_);
        return target_ == Target() ? with_capability_of_device(variable_.read()) : target_;
    }
    const Target host = get_host_target();
    user_assert(target.os == host.os && target.arch == host.arch && target.bits == host.bits)
        << "target " << target.to_string() << " cannot run on this machine, which is "
        << host.to_string();
    return with_capability_of_device(target.with_feature(Target::JIT));
}

std::shared_ptr<const CompiledPipeline> JitState::find(const PipelineContents &pipeline,
                                                       const Target &target) {
    std::shared_ptr<const Compilation> last;
    bool is_for_target = false;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        last = last_;
        const Target &wanted = is_open(target) ? target_ : target;
        is_for_target = last && (wanted == Target() || wanted == last->compiled->target);
    }
    const bool is_same =
        is_for_target && externs.empty() && pipeline.custom_passes.empty() &&
        pipeline.linkables.empty() &&
        last->snapshot.is_of(pipeline.outputs, pipeline.requirements, pipeline.trace_pipeline);
    return is_same ? last->compiled : nullptr;
}

void JitState::remember(PipelineSnapshot snapshot,
                        std::shared_ptr<const CompiledPipeline> compiled) {
    if (!snapshot.is_complete()) {
        return;
    }
    auto now = std::make_shared<Compilation>();
    now->snapshot = std::move(snapshot);
    now->compiled = std::move(compiled);
    const std::lock_guard<std::mutex> lock(mutex_);
    last_ = std::move(now);
}

Argument user_context_argument() {
    static const HandleType context{"void const *"};
    return Argument(names::user_context, Argument::InputScalar, Handle(1, &context), 0,
                    ArgumentEstimates());
}

namespace {

std::vector<Argument> arguments_of(const std::vector<InferredArgument> &inputs) {
    std::vector<Argument> args;
    for (const InferredArgument &input : inputs) {
        args.push_back(input.arg);
    }
    return args;
}

std::vector<InferredArgument> inputs_of(const Pipeline &pipeline) {
    const ReadingScope reading;
    const PipelineContents &contents = *pipeline.contents();
    std::vector<InferredArgument> inputs;
    for (InferredArgument &a : infer_arguments(contents.outputs, contents.requirements)) {
        if (a.arg.name != names::user_context) {
            inputs.push_back(std::move(a));
        }
    }
    return inputs;
}

// Whether a stage passes the user context to the extern function of that name, ahead of all else.
bool gets_user_context(const std::string &name, const Environment &callers) {
    for (const auto &entry : callers) {
        const Function &f = entry.second;
        if (f->extern_name == name && !f->extern_args.empty() && f->extern_args[0].is_expr()) {
            const internal::Variable *v = f->extern_args[0].expr.as<internal::Variable>();
            return v && v->name == names::user_context;
        }
    }
    return false;
}

// Whether a value is passed alike as one type and as the other.
bool is_passed_as(const Type &a, const Type &b) {
    return a.is_float() == b.is_float() && a.bytes() == b.bytes();
}

std::string in_brackets(const std::vector<Type> &types) {
    std::vector<std::string> texts;
    for (const Type &t : types) {
        texts.push_back(to_string(t));
    }
    return "(" + join(texts, ", ") + ")";
}

// Calls of C functions have as many arguments as what they call, and of its types, where these are known.
class ExternCallCheck : public GraphVisitor {
public:
    ExternCallCheck(const std::map<std::string, JITExtern> &externs) : externs_(externs) {
    }

protected:
    void visit(const Call *op) override {
        GraphVisitor::visit(op);
        const bool is_c_function =
            op->call_type == CallKind::Extern || op->call_type == CallKind::PureExtern;
        const auto found = is_c_function ? externs_.find(op->name) : externs_.end();
        if (found != externs_.end() && !found->second.pipeline().defined()) {
            check(*op, found->second.extern_c_function().signature());
        }
    }

private:
    const std::map<std::string, JITExtern> &externs_;

    static void check(const Call &call, const ExternSignature &callee) {
        if (callee.ret_type().bits() == 0) {
            return;  // of an address nothing is known
        }
        std::vector<Type> given;
        for (const Expr &arg : call.args) {
            given.push_back(arg.type());
        }
        const std::vector<Type> &taken = callee.arg_types();
        bool fits = given.size() == taken.size() && is_passed_as(call.type, callee.ret_type());
        for (size_t i = 0; fits && i < taken.size(); i++) {
            fits = is_passed_as(given[i], taken[i]);
        }
        user_assert(fits) << "extern function " << call.name << " takes " << in_brackets(taken)
                          << " and gives " << callee.ret_type() << ", it is called with "
                          << in_brackets(given) << " for " << call.type;
    }
};

void check_extern_calls(const std::map<std::string, JITExtern> &externs,
                        const Environment &callers) {
    ExternCallCheck check(externs);
    for (const auto &entry : callers) {
        for_each_part<Expr>(*entry.second.contents(), [&](const Expr &e) { check(e); });
    }
}

// A job with a pipeline of its own, and what its names of extern functions stand for.
struct JitJob {
    CompileJob job;
    std::map<std::string, JITExtern> externs;
};

// What is read of the pipeline is read here.
JitJob make_job(const Pipeline &pipeline, const std::string &name,
                const std::vector<Argument> &args, const Target &target) {
    const ReadingScope reading;
    JitJob result;
    result.job.target = target;
    result.job.options = CompileOptions::from_environment(name);
    result.job.source = deep_copy(pipeline.source(name, args));
    result.job.source.linkage = LinkageType::ExternalPlusArgv;
    result.job.source.runtime_prefixes.clear();
    result.externs = JitState::of(pipeline).externs;
    return result;
}

std::shared_ptr<const JitCode> compile(JitJob job);

// What names of extern functions stand for: C functions by address, pipelines as functions compiled
// now, which take their inputs as infer_arguments() lists them, then their outputs.
void link_externs(JitJob &made) {
    if (made.externs.empty()) {
        return;
    }
    CompileJob &job = made.job;
    const Environment callers = build_environment(job.source.outputs);
    check_extern_calls(made.externs, callers);
    for (const auto &[name, e] : made.externs) {
        if (!e.pipeline().defined()) {
            job.jit_symbols[name] = e.extern_c_function().address();
            if (e.extern_c_function().kept()) {
                job.keep_alive.push_back(e.extern_c_function().kept());
            }
            continue;
        }
        std::vector<Argument> args = arguments_of(inputs_of(e.pipeline()));
        if (gets_user_context(name, callers)) {
            args.insert(args.begin(), user_context_argument());
        }
        const auto code = compile(make_job(e.pipeline(), name, args, job.target));
        job.jit_symbols[name] = code->function;
        job.keep_alive.push_back(code);
    }
}

std::shared_ptr<const JitCode> compile(JitJob made) {
    link_externs(made);
    return Compiler::of_process().compile_jit(made.job);
}

JitJob job_with_args(const Pipeline &pipeline, const std::vector<Argument> &args,
                     const Target &target) {
    std::vector<Argument> all = {user_context_argument()};
    for (const Argument &a : args) {
        if (a.name != names::user_context) {
            all.push_back(a);
        }
    }
    std::string name = pipeline.contents()->outputs[0].name();
    // A Func may be called as a C function is that its code calls ("sin"): then the compiled
    // function is not.
    if (dlsym(RTLD_DEFAULT, name.c_str())) {
        name += "$";
    }
    return make_job(pipeline, name, all, target);
}

}  // namespace

std::shared_ptr<const JitCode> compile_with_args(const Pipeline &pipeline,
                                                 const std::vector<Argument> &args,
                                                 const Target &target) {
    return compile(job_with_args(pipeline, args, target));
}

std::shared_ptr<const CompiledPipeline> compile_inferred(const Pipeline &pipeline,
                                                         const Target &target) {
    JitState &state = JitState::of(pipeline);
    const Target wanted = is_open(target) ? target : state.resolve_target(target);
    if (auto known = state.find(*pipeline.contents(), wanted)) {
        return known;
    }
    auto result = std::make_shared<CompiledPipeline>();
    result->target = state.resolve_target(wanted);
    std::optional<JitJob> job;
    PipelineSnapshot snapshot;
    {
        const ReadingScope reading;
        result->inputs = inputs_of(pipeline);
        const std::vector<Argument> args = arguments_of(result->inputs);
        job = job_with_args(pipeline, args, result->target);
        if (job->externs.empty()) {
            snapshot = PipelineSnapshot(pipeline.source("", args));
        }
    }
    result->code = compile(std::move(*job));
    state.remember(std::move(snapshot), result);
    return result;
}

}  // namespace calotype::internal
