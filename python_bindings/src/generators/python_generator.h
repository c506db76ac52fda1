// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A generator written in Python: a GeneratorBase whose members are declared by a class of Python
// and whose steps are methods of an instance of it.
#pragma once

#include <calotype/generator/generator_base.h>

#include "args.h"

namespace calotype::python {

/// A Func, ImageParam or number as the value of an input.
internal::StubInput to_stub_input(nb::handle h);

class PythonGenerator : public calotype::internal::GeneratorBase {
public:
    /// The framework makes generators of a type by their default constructors, so that the
    /// declarations are handed on beside: to the one that is made while a Declarations lives.
    class Declarations {
    public:
        explicit Declarations(nb::handle list);
        ~Declarations();
        Declarations(const Declarations &) = delete;
        Declarations &operator=(const Declarations &) = delete;
    };
    PythonGenerator();
    ~PythonGenerator() override;

    /// `owned`: this object keeps the instance; otherwise the instance keeps this object.
    void set_instance(nb::handle instance, bool owned);

    void add(const std::string &name, const std::string &kind, nb::handle types, int dimensions,
             nb::handle default_value);
    /// In configure().
    void add_later(const std::string &name, const std::string &kind, nb::handle types,
                   int dimensions);
    std::string param_text(const std::string &name) const;
    std::vector<std::string> input_names() const;
    /// The type of a scalar input, undefined while it is open.
    Type input_type(const std::string &name) const;
    bool is_scalar(const std::string &name) const;
    /// The Param, ImageParam or Func of an input or output; once generate() has begun.
    nb::object value_of(const std::string &name) const;
    std::vector<Func> output_funcs() const;
    void add_requirement(const Expr &condition, const std::vector<Expr> &message);
    /// Runs all steps, with a value an input or with none.
    Pipeline build(nb::sequence given);

private:
    void call_configure() override;
    void call_generate() override;
    void call_schedule() override;
    void call(const char *method);

    std::vector<std::pair<Expr, std::vector<Expr>>> requirements_;
    nb::object owned_instance_;
    nb::handle instance_;
    std::vector<std::unique_ptr<calotype::internal::GeneratorParamBase>> params_made_;
    std::vector<std::unique_ptr<calotype::internal::GeneratorIO>> members_made_;
};

}  // namespace calotype::python
