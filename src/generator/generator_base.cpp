// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/generator_base.h"

#include <set>

#include "generator/runtime_prefixes.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

thread_local GeneratorBase::Construction *current_construction = nullptr;

}  // namespace

Argument argument_of(const Parameter &p) {
    return p.is_buffer() ? Argument(OutputImageParam(p, Argument::InputBuffer, Function()))
                         : scalar_argument(p);
}

// ---- finding members ----

GeneratorBase::Construction::Construction() : outer_(current_construction) {
    current_construction = this;
}

GeneratorBase::Construction::~Construction() {
    current_construction = outer_;
}

// Members made in configure().
class GeneratorBase::Addition {
public:
    explicit Addition(GeneratorBase *generator) {
        scope_.generator_ = generator;
    }

private:
    Construction scope_;
};

GeneratorBase::Phase GeneratorBase::begin(GeneratorBase *generator) {
    user_assert(current_construction && !current_construction->generator_)
        << "a generator is made by itself, use its create() or GeneratorContext";
    current_construction->generator_ = generator;
    return Phase::Created;
}

GeneratorBase::GeneratorBase() : phase_(begin(this)) {
}

GeneratorBase::~GeneratorBase() = default;

void GeneratorBase::add_to_current(GeneratorParamBase *param) {
    GeneratorBase *g = current_construction ? current_construction->generator_ : nullptr;
    user_assert(g) << "generator parameter '" << param->name()
                   << "' is not a member of a generator";
    param->generator_ = g;
    g->params_.push_back(param);
}

void GeneratorBase::add_to_current(GeneratorIO *io) {
    GeneratorBase *g = current_construction ? current_construction->generator_ : nullptr;
    user_assert(g) << "input or output '" << io->io_name() << "' is not a member of a generator";
    // The object is not yet complete: which of the two it is, is looked up when it is needed.
    g->members_.push_back(io);
}

std::shared_ptr<GeneratorBase::Addition> GeneratorBase::begin_addition() {
    user_assert(phase_ == Phase::Configuring)
        << "inputs and outputs can be added in configure() only";
    return std::make_shared<Addition>(this);
}

void GeneratorBase::sort_members() {
    for (; sorted_ < members_.size(); sorted_++) {
        if (auto *input = dynamic_cast<InputBase *>(members_[sorted_])) {
            inputs_.push_back(input);
        } else {
            outputs_.push_back(dynamic_cast<OutputBase *>(members_[sorted_]));
        }
    }
}

void GeneratorBase::check_names_are_unique() {
    sort_members();
    std::set<std::string> names;
    for (const GeneratorIO *io : members_) {
        check_generator_name("input or output", io->io_name());
        user_assert(names.insert(io->io_name()).second)
            << "generator '" << registered_name_ << "' has two members '" << io->io_name() << "'";
    }
    for (const GeneratorParamBase *p : params_) {
        user_assert(names.insert(p->name()).second)
            << "generator '" << registered_name_ << "' has two members '" << p->name() << "'";
    }
}

// ---- parameters ----

std::vector<std::string> GeneratorBase::param_names() const {
    std::vector<std::string> names;
    for (const GeneratorParamBase *p : params_) {
        names.push_back(p->name());
    }
    return names;
}

void GeneratorBase::set_param(const std::string &name, const std::string &value) {
    if (name == "autoscheduler") {
        autoscheduler_.name = value;
        return;
    }
    if (starts_with(name, "autoscheduler.")) {
        autoscheduler_.extra[name.substr(sizeof("autoscheduler.") - 1)] = value;
        return;
    }
    if (take_runtime_prefix(name, value, runtime_prefixes_.prefixes)) {
        return;
    }
    for (GeneratorParamBase *p : params_) {
        if (p->name() == name) {
            p->set_from_string(value);
            return;
        }
    }
    user_assert(set_other_param(name, value))
        << "generator '" << registered_name_ << "' has no parameter '" << name << "'"
        << did_you_mean(name, param_names());
}

bool GeneratorBase::set_other_param(const std::string &, const std::string &) {
    return false;
}

template<typename Param>
Param &GeneratorBase::param_of_kind(const std::string &name, const char *kind) const {
    for (GeneratorParamBase *p : params_) {
        auto *param = dynamic_cast<Param *>(p);
        if (p->name() == name && param) {
            return *param;
        }
    }
    user_error << "generator '" << registered_name_ << "' has no " << kind << " parameter '" << name
               << "'" << did_you_mean(name, param_names());
}

void GeneratorBase::set_param(const std::string &name, const LoopLevel &value) {
    auto &level = param_of_kind<LoopLevelParam>(name, "LoopLevel");
    has_read_params() ? level.set(value) : level.share(value);
}

void GeneratorBase::set_param(const std::string &name, const Linkable &value) {
    param_of_kind<LinkableParam>(name, "Linkable").set(value);
}

void GeneratorBase::set_param(const std::string &name, const std::vector<Linkable> &values) {
    param_of_kind<LinkableListParam>(name, "list of Linkables").set(values);
}

void GeneratorBase::set_params(const std::map<std::string, std::string> &params) {
    for (const auto &[name, value] : params) {
        set_param(name, value);
    }
}

GeneratorContext GeneratorBase::context() const {
    return GeneratorContext(target.value(), autoscheduler_, runtime_prefixes_);
}

// ---- the steps ----

void GeneratorBase::configure_once() {
    if (phase_ != Phase::Created) {
        return;
    }
    for (GeneratorIO *io : members_) {
        io->resolve_params();
    }
    phase_ = Phase::Configuring;
    call_configure();
    check_names_are_unique();
    phase_ = Phase::Configured;
}

void GeneratorBase::define_members(const std::vector<std::vector<StubInput>> &given) {
    user_assert(given.empty() || given.size() == inputs_.size())
        << "generator '" << registered_name_ << "' has " << inputs_.size() << " inputs, not "
        << given.size();
    for (size_t i = 0; i < given.size(); i++) {
        inputs_[i]->bind(given[i]);
    }
    for (InputBase *input : inputs_) {
        static_cast<GeneratorIO *>(input)->define();
    }
    for (OutputBase *output : outputs_) {
        static_cast<GeneratorIO *>(output)->define();
    }
}

Pipeline GeneratorBase::get_pipeline() {
    user_assert(phase_ >= Phase::Generating) << "the pipeline of generator '" << registered_name_
                                             << "' is asked for before generate() has run";
    if (!pipeline_.defined()) {
        std::vector<Func> funcs;
        for (const OutputBase *output : outputs_) {
            const std::vector<Func> more = output->checked_funcs();
            funcs.insert(funcs.end(), more.begin(), more.end());
        }
        user_assert(!funcs.empty()) << "generator '" << registered_name_ << "' has no output";
        pipeline_ = Pipeline(funcs);
        for (const Requirement &r : requirements_) {
            pipeline_.add_requirement(r.condition, r.message_parts);
        }
        for (const GeneratorParamBase *p : params_) {
            for (const Linkable &l : p->linkables()) {
                pipeline_.add_linkable(l);
            }
        }
    }
    return pipeline_;
}

Pipeline GeneratorBase::build_pipeline(const std::vector<std::vector<StubInput>> &given) {
    user_assert(given.empty() || phase_ <= Phase::Configured)
        << "generator '" << registered_name_ << "' is applied twice";
    configure_once();
    if (phase_ == Phase::Configured) {
        for (const GeneratorParamBase *p : params_) {
            p->check_is_complete();
        }
        define_members(given);
        phase_ = Phase::Generating;
        call_generate();
        pipeline_ = Pipeline();  // what generate() asked for need not be all
        phase_ = Phase::Generated;
    }
    if (phase_ == Phase::Generated) {
        get_pipeline();
        call_schedule();
        if (traces_pipeline_) {
            pipeline_.trace_pipeline();
        }
        phase_ = Phase::Scheduled;
    }
    return get_pipeline();
}

Pipeline GeneratorBase::build_pipeline() {
    if (phase_ == Phase::Scheduled) {
        return get_pipeline();
    }
    build_pipeline(std::vector<std::vector<StubInput>>());
    if (using_autoscheduler()) {
        autoscheduled_ = pipeline_.apply_autoscheduler(get_target(), autoscheduler_);
    }
    if (using_runtime_prefixes()) {
        pipeline_.apply_runtime_prefixes(get_target(), runtime_prefixes_);
    }
    return pipeline_;
}

std::vector<Argument> GeneratorBase::arguments() const {
    std::vector<Argument> args;
    for (const InputBase *input : inputs_) {
        for (const Parameter &p : input->parameters()) {
            args.push_back(argument_of(p));
        }
    }
    return args;
}

PipelineSource GeneratorBase::build_source(const std::string &function_name) {
    Pipeline pipeline = build_pipeline();
    PipelineSource source = pipeline.source(function_name, arguments());
    for (const OutputBase *output : outputs_) {
        output->add_metadata_names(source.metadata_names);
    }
    return source;
}

}  // namespace calotype::internal
