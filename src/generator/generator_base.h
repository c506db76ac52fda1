// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GeneratorBase: what of a generator does not depend on its class: its members, and the steps from
// their values to a pipeline.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "generator/context.h"
#include "generator/input.h"
#include "generator/linkable_param.h"
#include "generator/names.h"
#include "generator/output.h"
#include "generator/param.h"
#include "lang/pipeline.h"

namespace calotype {
namespace internal {

/// The steps, in order: construct, set parameters, configure(), inputs and outputs defined,
/// generate(), schedule(). A generator is used by one thread.
/// As an argument of the function that is made.
Argument argument_of(const Parameter &p);

class GeneratorBase : public NamesInterface {
public:
    virtual ~GeneratorBase();
    GeneratorBase(const GeneratorBase &) = delete;
    GeneratorBase &operator=(const GeneratorBase &) = delete;

    /// While it lives, members that are constructed on this thread belong to the first
    /// GeneratorBase constructed after it. C++ gives a member no way to find the object that it is
    /// a member of; this is the one place where the framework hands something on beside arguments.
    /// Scopes nest.
    class Construction {
    public:
        Construction();
        ~Construction();
        Construction(const Construction &) = delete;
        Construction &operator=(const Construction &) = delete;

    private:
        friend class GeneratorBase;
        GeneratorBase *generator_ = nullptr;
        Construction *outer_;
    };
    static void add_to_current(GeneratorParamBase *param);
    static void add_to_current(GeneratorIO *io);

    /// Set a parameter, `target` and synthetic ones (INPUT.type, ...) included. An unknown name is
    /// a CompileError with the nearest known one.
    void set_param(const std::string &name, const std::string &value);
    /// Before configure() the parameter becomes a copy of the handle, which may itself be set
    /// later.
    void set_param(const std::string &name, const LoopLevel &value);
    void set_param(const std::string &name, const Linkable &value);
    void set_param(const std::string &name, const std::vector<Linkable> &values);
    void set_params(const std::map<std::string, std::string> &params);
    const std::vector<GeneratorParamBase *> &params() const {
        return params_;
    }
    const std::vector<InputBase *> &inputs() const {
        return inputs_;
    }
    const std::vector<OutputBase *> &outputs() const {
        return outputs_;
    }
    /// True once configure() or a later step has begun.
    bool has_read_params() const {
        return phase_ > Phase::Created;
    }
    const std::string &registered_name() const {
        return registered_name_;
    }

    /// What generators ask about while they build.
    Target get_target() const {
        return target.value();
    }
    GeneratorContext context() const;
    bool using_autoscheduler() const {
        return !autoscheduler_.name.empty();
    }
    bool using_runtime_prefixes() const {
        return !runtime_prefixes_.prefixes.empty();
    }
    int natural_vector_size(const Type &t) const {
        return get_target().natural_vector_size(t);
    }
    template<typename T>
    int natural_vector_size() const {
        return get_target().natural_vector_size<T>();
    }
    /// As Pipeline::add_requirement.
    template<typename... Args>
    void add_requirement(const Expr &condition, const Args &...error_args) {
        requirements_.push_back({condition, {Expr(error_args)...}});
    }
    /// As Pipeline::trace_pipeline, at any time in generate() or schedule().
    void trace_pipeline() {
        traces_pipeline_ = true;
    }
    /// The pipeline of the outputs; for schedule() and later.
    Pipeline get_pipeline();

    /// Runs configure() alone: after it all inputs and outputs exist.
    void configure_once();
    /// Runs all steps not yet done, and lets the autoscheduler, if there is one, schedule the whole.
    Pipeline build_pipeline();
    /// For a generator used inside of a program, `given` one list an input: an autoscheduler and
    /// prefixes of the runtime are left to the pipeline that it becomes part of.
    Pipeline build_pipeline(const std::vector<std::vector<StubInput>> &given);
    /// build_pipeline, compiled for this process: it takes the inputs in order, then the outputs.
    /// Handlers and extern functions are as those of a Pipeline.
    Callable compile_to_callable(const JITHandlers *handlers = nullptr,
                                 const std::map<std::string, JITExtern> *externs = nullptr);
    /// After build_pipeline: what its autoscheduler says of its work, if it has one.
    const AutoSchedulerResults &autoscheduled() const {
        return autoscheduled_;
    }
    /// After build_pipeline: the inputs in order, as arguments of a function.
    std::vector<Argument> arguments() const;
    /// build_pipeline as what is compiled.
    PipelineSource build_source(const std::string &function_name);

protected:
    GeneratorBase();
    /// A parameter that is not a member of the generator; false: there is none of that name.
    virtual bool set_other_param(const std::string &name, const std::string &value);
    virtual void call_configure() = 0;
    virtual void call_generate() = 0;
    virtual void call_schedule() = 0;

    /// Members made meanwhile belong to this generator. A CompileError outside of configure().
    class Addition;
    std::shared_ptr<Addition> begin_addition();

    /// In configure(): a further input or output, behind the members. Owned by the generator.
    template<typename X, typename... Args>
    GeneratorInput<X> *add_input(Args &&...args) {
        const auto addition = begin_addition();
        return own(std::make_unique<GeneratorInput<X>>(std::forward<Args>(args)...));
    }
    template<typename X, typename... Args>
    GeneratorOutput<X> *add_output(Args &&...args) {
        const auto addition = begin_addition();
        return own(std::make_unique<GeneratorOutput<X>>(std::forward<Args>(args)...));
    }
    /// For types in braces.
    template<typename X>
    GeneratorOutput<X> *add_output(const std::string &name, const std::vector<Type> &types) {
        return add_output<X, const std::string &, const std::vector<Type> &>(name, types);
    }
    template<typename X>
    GeneratorOutput<X> *add_output(const std::string &name, const std::vector<Type> &types,
                                   int dimensions) {
        return add_output<X, const std::string &, const std::vector<Type> &, int>(
            name, types, std::move(dimensions));
    }

private:
    friend class GeneratorFactory;
    template<typename IO>
    IO *own(std::unique_ptr<IO> io) {
        IO *result = io.get();
        owned_.push_back(std::move(io));
        return result;
    }
    enum class Phase { Created, Configuring, Configured, Generating, Generated, Scheduled };
    void sort_members();
    void check_names_are_unique();
    void define_members(const std::vector<std::vector<StubInput>> &given);
    std::vector<std::string> param_names() const;
    template<typename Param>
    Param &param_of_kind(const std::string &name, const char *kind) const;
    static Phase begin(GeneratorBase *generator);

    // First: it makes this the generator that members belong to.
    Phase phase_;
    std::string registered_name_;
    AutoschedulerParams autoscheduler_;
    RuntimePrefixParams runtime_prefixes_;
    AutoSchedulerResults autoscheduled_;
    std::vector<GeneratorParamBase *> params_;
    std::vector<GeneratorIO *> members_;
    size_t sorted_ = 0;  ///< so many of them are in inputs_ or outputs_
    std::vector<InputBase *> inputs_;
    std::vector<OutputBase *> outputs_;
    std::vector<std::unique_ptr<GeneratorIO>> owned_;
    std::vector<Requirement> requirements_;
    bool traces_pipeline_ = false;
    Pipeline pipeline_;

public:
    GeneratorParam<Target> target{"target", Target()};
};

}  // namespace internal
}  // namespace calotype
