// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Part of Halide.h: generators as a program handles them that does not know their classes, and
// generators that are not made of a Generator class.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "calotype.h"
#include "halide_names.h"

#include "generator/registry.h"

namespace calotype {
namespace Internal {

using internal::GeneratorBase;

enum class ArgInfoKind { Scalar, Function, Buffer };
enum class ArgInfoDirection { Input, Output };

/// A generator: made for a target, given parameters and inputs, built once. Generators of classes
/// answer as it does (GeneratorRegistry), and a class derived from it is a generator like those
/// once it is registered (RegisterGenerator). Called out of order or with names that are not there,
/// functions throw CompileErrors.
class AbstractGenerator {
public:
    virtual ~AbstractGenerator();

    struct ArgInfo {
        std::string name;
        ArgInfoDirection dir = ArgInfoDirection::Input;
        ArgInfoKind kind = ArgInfoKind::Scalar;
        std::vector<Type> types;  ///< several: a Tuple; empty: still open
        int dimensions = 0;       ///< -1: still open
    };

    /// As it is registered.
    virtual std::string name() = 0;
    virtual GeneratorContext context() const = 0;
    /// Inputs, then outputs, each in the order of their declaration. Parameters that they depend on
    /// have to be set before.
    virtual std::vector<ArgInfo> arginfos() = 0;

    /// Before build_pipeline().
    virtual void set_generatorparam_value(const std::string &name, const std::string &value) = 0;
    virtual void set_generatorparam_value(const std::string &name, const LoopLevel &value) = 0;
    void set_generatorparam_values(const std::map<std::string, std::string> &values);

    /// Instead of a parameter of the pipeline: what the input is, one value or, for an array, one
    /// for each element. After parameters are set, before build_pipeline().
    virtual void bind_input(const std::string &name, const std::vector<Parameter> &values) = 0;
    virtual void bind_input(const std::string &name, const std::vector<Func> &values) = 0;
    virtual void bind_input(const std::string &name, const std::vector<Expr> &values) = 0;

    /// Once.
    virtual Pipeline build_pipeline() = 0;
    /// After it: the parameters that stand for an input, and the Funcs of an output; one, or those
    /// of an array.
    virtual std::vector<Parameter> input_parameter(const std::string &name) = 0;
    virtual std::vector<Func> output_func(const std::string &name) = 0;

    /// Write a header through which C++ uses it; false: it has none.
    virtual bool emit_cpp_stub(const std::string &path) = 0;
    /// Write the pipeline itself; false: that cannot be done.
    virtual bool emit_hlpipe(const std::string &path);
    /// Whether outputs may be declared before inputs.
    virtual bool allow_out_of_order_inputs_and_outputs() const;

    /// Built and lowered; "" is name().
    Module build_module(const std::string &function_name = "");
    /// Built and compiled for this process.
    Callable compile_to_callable(const JITHandlers *handlers = nullptr,
                                 const std::map<std::string, JITExtern> *externs = nullptr);

private:
    std::vector<Argument> arguments();
};

using AbstractGeneratorPtr = std::unique_ptr<AbstractGenerator>;
using AbstractGeneratorFactory =
    std::function<AbstractGeneratorPtr(const GeneratorContext &context)>;

/// All generators of this process.
struct GeneratorRegistry {
    static std::vector<std::string> enumerate();
    /// A CompileError with the nearest name if there is none of that name.
    static AbstractGeneratorPtr create(const std::string &name, const GeneratorContext &context);
};

/// A static object of this type registers generators that a function makes.
class RegisterGenerator {
public:
    RegisterGenerator(const char *name, AbstractGeneratorFactory factory);

private:
    internal::GeneratorRegistration registration_;
};

}  // namespace Internal
}  // namespace calotype
