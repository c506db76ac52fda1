// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide_abstract_generator.h"

#include <fstream>

#include "generator/cpp_stub.h"
#include "generator/create_callable.h"
#include "generator/generator_source.h"
#include "support/text.h"

namespace calotype::Internal {

using internal::GeneratorIO;
using internal::IODeclaration;
using internal::IOKind;

namespace {

ArgInfoKind arg_kind(IOKind kind) {
    return kind == IOKind::Scalar     ? ArgInfoKind::Scalar
           : kind == IOKind::Function ? ArgInfoKind::Function
                                      : ArgInfoKind::Buffer;
}

IOKind io_kind(ArgInfoKind kind) {
    return kind == ArgInfoKind::Scalar     ? IOKind::Scalar
           : kind == ArgInfoKind::Function ? IOKind::Function
                                           : IOKind::Buffer;
}

AbstractGenerator::ArgInfo arg_info(const GeneratorIO &io, ArgInfoDirection dir) {
    const bool is_scalar = io.kind() == IOKind::Scalar;
    return {io.io_name(), dir, arg_kind(io.kind()),
            io.types_defined() ? io.io_types() : std::vector<Type>(),
            is_scalar           ? 0
            : io.dims_defined() ? io.io_dims()
                                : -1};
}

template<typename IO>
IO &find_io(const std::vector<IO *> &all, const std::string &name, const std::string &generator,
            const char *what) {
    std::vector<std::string> names;
    for (IO *io : all) {
        if (io->io_name() == name) {
            return *io;
        }
        names.push_back(io->io_name());
    }
    user_error << "generator '" << generator << "' has no " << what << " '" << name << "'"
               << internal::did_you_mean(name, names);
}

/// A generator of a class.
class Wrapped : public AbstractGenerator {
    std::unique_ptr<GeneratorBase> generator_;
    std::map<std::string, std::vector<Parameter>> parameters_given_;
    bool is_built_ = false;

    void check_is_built() const {
        user_assert(is_built_) << "generator '" << generator_->registered_name()
                               << "' is asked for inputs or outputs before build_pipeline()";
    }
    template<typename Value>
    void bind(const std::string &name, const std::vector<Value> &values) {
        user_assert(!is_built_) << "input '" << name << "' of generator '"
                                << generator_->registered_name()
                                << "' is bound after build_pipeline()";
        generator_->configure_once();
        find_io(generator_->inputs(), name, this->name(), "input")
            .bind(std::vector<StubInput>(values.begin(), values.end()));
    }

public:
    explicit Wrapped(std::unique_ptr<GeneratorBase> generator) : generator_(std::move(generator)) {
    }
    std::string name() override {
        return generator_->registered_name();
    }
    GeneratorContext context() const override {
        return generator_->context();
    }
    std::vector<ArgInfo> arginfos() override {
        generator_->configure_once();
        std::vector<ArgInfo> infos;
        for (const internal::InputBase *input : generator_->inputs()) {
            infos.push_back(arg_info(*input, ArgInfoDirection::Input));
        }
        for (const internal::OutputBase *output : generator_->outputs()) {
            infos.push_back(arg_info(*output, ArgInfoDirection::Output));
        }
        return infos;
    }
    void set_generatorparam_value(const std::string &name, const std::string &value) override {
        generator_->set_param(name, value);
    }
    void set_generatorparam_value(const std::string &name, const LoopLevel &value) override {
        generator_->set_param(name, value);
    }
    void bind_input(const std::string &name, const std::vector<Parameter> &values) override {
        std::vector<StubInput> given;
        for (const Parameter &p : values) {
            given.push_back(p.is_buffer() ? StubInput(internal::InputImage::of_parameter(p))
                                          : StubInput(p.as_expr()));
        }
        bind(name, given);
        parameters_given_[name] = values;
    }
    void bind_input(const std::string &name, const std::vector<Func> &values) override {
        bind(name, values);
    }
    void bind_input(const std::string &name, const std::vector<Expr> &values) override {
        bind(name, values);
    }
    Pipeline build_pipeline() override {
        user_assert(!is_built_) << "generator '" << generator_->registered_name()
                                << "' is built twice";
        is_built_ = true;
        return generator_->build_pipeline();
    }
    std::vector<Parameter> input_parameter(const std::string &name) override {
        check_is_built();
        const auto given = parameters_given_.find(name);
        return given != parameters_given_.end()
                   ? given->second
                   : find_io(generator_->inputs(), name, this->name(), "input").parameters();
    }
    std::vector<Func> output_func(const std::string &name) override {
        check_is_built();
        return find_io(generator_->outputs(), name, this->name(), "output").checked_funcs();
    }
    bool emit_cpp_stub(const std::string &path) override {
        std::ofstream file(path);
        file << internal::cpp_stub_text(name());
        user_assert(file.good()) << "cannot write " << path;
        return true;
    }
};

/// An input whose parameters a generator makes by itself.
class ForeignInput : public internal::InputBase {
    std::vector<Parameter> parameters_;

public:
    ForeignInput(IOKind kind, IODeclaration d) : InputBase(kind, std::move(d)) {
    }
    std::vector<Parameter> parameters() const override {
        return parameters_;
    }
    void bind_into(AbstractGenerator &generator) const {
        std::vector<Func> funcs;
        std::vector<Expr> values;
        for (const StubInput &given : given_) {
            if (given.kind == StubInput::IsExpr) {
                values.push_back(given.expr);
            } else {
                funcs.push_back(given.as_func());
            }
        }
        if (kind() == IOKind::Scalar) {
            generator.bind_input(io_name(), values);
        } else {
            generator.bind_input(io_name(), funcs);
        }
    }
    void take_parameters(AbstractGenerator &generator) {
        parameters_ = generator.input_parameter(io_name());
    }

protected:
    void define() override {
    }
};

/// A generator that is not made from a class, as one.
class Foreign : public GeneratorBase {
    AbstractGeneratorPtr generator_;
    std::vector<std::unique_ptr<ForeignInput>> inputs_made_;
    std::vector<std::unique_ptr<internal::FuncOutput>> outputs_made_;

public:
    explicit Foreign(AbstractGeneratorPtr generator) : generator_(std::move(generator)) {
    }

protected:
    bool set_other_param(const std::string &name, const std::string &value) override {
        generator_->set_generatorparam_value(name, value);
        return true;
    }
    void call_configure() override {
        const auto addition = begin_addition();
        for (const AbstractGenerator::ArgInfo &info : generator_->arginfos()) {
            IODeclaration d;
            d.name = info.name;
            d.types = info.types;
            d.dimensions = info.dimensions;
            if (info.dir == ArgInfoDirection::Input) {
                inputs_made_.push_back(
                    std::make_unique<ForeignInput>(io_kind(info.kind), std::move(d)));
            } else {
                outputs_made_.push_back(
                    std::make_unique<internal::FuncOutput>(io_kind(info.kind), std::move(d)));
            }
        }
    }
    void call_generate() override {
        for (const auto &input : inputs_made_) {
            if (input->is_bound()) {
                input->bind_into(*generator_);
            }
        }
        generator_->build_pipeline();
        for (const auto &input : inputs_made_) {
            if (!input->is_bound()) {
                input->take_parameters(*generator_);
            }
        }
        for (const auto &output : outputs_made_) {
            const std::vector<Func> funcs = generator_->output_func(output->io_name());
            user_assert(funcs.size() == 1)
                << "output '" << output->io_name() << "' of generator '" << registered_name()
                << "' has " << funcs.size() << " Funcs, must have one";
            *output = funcs[0];
        }
    }
    void call_schedule() override {
    }
};

}  // namespace

AbstractGenerator::~AbstractGenerator() = default;

void AbstractGenerator::set_generatorparam_values(
    const std::map<std::string, std::string> &values) {
    for (const auto &[name, value] : values) {
        set_generatorparam_value(name, value);
    }
}

bool AbstractGenerator::emit_hlpipe(const std::string &) {
    return false;
}

bool AbstractGenerator::allow_out_of_order_inputs_and_outputs() const {
    return true;
}

std::vector<Argument> AbstractGenerator::arguments() {
    std::vector<Argument> result;
    for (const ArgInfo &info : arginfos()) {
        if (info.dir == ArgInfoDirection::Input) {
            for (const Parameter &p : input_parameter(info.name)) {
                result.push_back(internal::argument_of(p));
            }
        }
    }
    return result;
}

Module AbstractGenerator::build_module(const std::string &function_name) {
    Pipeline pipeline = build_pipeline();
    return pipeline.compile_to_module(arguments(), function_name.empty() ? name() : function_name,
                                      context().target());
}

Callable AbstractGenerator::compile_to_callable(const JITHandlers *handlers,
                                                const std::map<std::string, JITExtern> *externs) {
    const Pipeline pipeline = build_pipeline();
    return internal::compile_built(pipeline, arguments(), context().target(), handlers, externs);
}

std::vector<std::string> GeneratorRegistry::enumerate() {
    return internal::generator_names();
}

AbstractGeneratorPtr GeneratorRegistry::create(const std::string &name,
                                               const GeneratorContext &context) {
    return std::make_unique<Wrapped>(internal::create_generator(name, context));
}

RegisterGenerator::RegisterGenerator(const char *name, AbstractGeneratorFactory factory)
    : registration_(name, name,
                    [registered_name = std::string(name), factory = std::move(factory)](
                        const GeneratorContext &context) -> std::unique_ptr<GeneratorBase> {
                        return internal::GeneratorFactory::create<Foreign>(context, registered_name,
                                                                           factory(context));
                    }) {
}

}  // namespace calotype::Internal
