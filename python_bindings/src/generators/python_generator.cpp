// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "python_generator.h"

#include <map>

#include "func_args.h"

namespace calotype::python {

using namespace internal;

namespace {

using calotype::internal::BufferInput;
using calotype::internal::FuncOutput;
using calotype::internal::GeneratorParamBase;
using calotype::internal::InputBase;
using calotype::internal::IODeclaration;
using calotype::internal::IOKind;
using calotype::internal::OutputBase;
using calotype::internal::ScalarInput;
using calotype::internal::ScalarLimits;

thread_local PyObject *current_declarations = nullptr;

bool is_member_of_enum(nb::handle value) {
    return nb::isinstance(value, nb::module_::import_("enum").attr("Enum"));
}

/// Of the members of the default's enum by their names; the value is a place among these.
std::unique_ptr<GeneratorParamBase> make_enum_param(const std::string &name, nb::handle value) {
    std::map<std::string, int> members;
    for (nb::handle member : value.type()) {
        members.emplace(nb::cast<std::string>(member.attr("name")), int(members.size()));
    }
    const auto chosen = members.find(nb::cast<std::string>(nb::str(value.attr("name"))));
    user_assert(chosen != members.end())
        << "generator parameter '" << name << "' has the default " << describe(value)
        << ", which is no single member of its enum";
    return std::make_unique<calotype::internal::EnumParam<int>>(name, chosen->second, members);
}

std::unique_ptr<GeneratorParamBase> make_param(const std::string &name, nb::handle value) {
    if (is_member_of_enum(value)) {
        return make_enum_param(name, value);
    }
    if (PyBool_Check(value.ptr())) {
        return std::make_unique<GeneratorParam<bool>>(name, nb::cast<bool>(value));
    }
    if (PyLong_Check(value.ptr())) {
        int64_t number = 0;
        user_assert(nb::try_cast(value, number))
            << "generator parameter '" << name << "' has the default " << describe(value)
            << ", which does not fit in int64";
        return std::make_unique<GeneratorParam<int64_t>>(name, number);
    }
    if (PyFloat_Check(value.ptr())) {
        return std::make_unique<GeneratorParam<double>>(name, nb::cast<double>(value));
    }
    if (PyUnicode_Check(value.ptr())) {
        return std::make_unique<calotype::internal::StringParam>(name,
                                                                 nb::cast<std::string>(value));
    }
    user_assert(is_type_like(value))
        << "generator parameter '" << name << "' has the default " << describe(value)
        << ", must be a bool, int, float, str, Type or member of an enum";
    return std::make_unique<GeneratorParam<Type>>(name, to_type(value));
}

IODeclaration declaration(const std::string &name, nb::handle types, int dimensions) {
    IODeclaration d;
    d.name = name;
    d.dimensions = dimensions;
    if (!types.is_none()) {
        for (nb::handle t : nb::iter(types)) {
            d.types.push_back(to_type(t));
        }
    }
    return d;
}

std::unique_ptr<calotype::internal::GeneratorIO> make_member(const std::string &kind,
                                                             IODeclaration d) {
    if (kind == "input_buffer") {
        return std::make_unique<BufferInput>(std::move(d));
    }
    if (kind == "input_scalar") {
        return std::make_unique<ScalarInput>(std::move(d), ScalarLimits());
    }
    return std::make_unique<FuncOutput>(kind == "output_scalar" ? IOKind::Scalar : IOKind::Buffer,
                                        std::move(d));
}

nb::object python_param(const Parameter &parameter) {
    Param<> p(parameter.type());
    p.parameter() = parameter;
    return nb::cast(p);
}

}  // namespace

StubInput to_stub_input(nb::handle h) {
    if (nb::isinstance<Func>(h)) {
        return StubInput(nb::cast<const Func &>(h));
    }
    if (nb::isinstance<ImageParam>(h)) {
        return StubInput(nb::cast<const ImageParam &>(h));
    }
    return StubInput(to_expr(h));
}

PythonGenerator::Declarations::Declarations(nb::handle list) {
    current_declarations = list.ptr();
}

PythonGenerator::Declarations::~Declarations() {
    current_declarations = nullptr;
}

PythonGenerator::PythonGenerator() {
    for (nb::handle d : nb::iter(nb::handle(current_declarations))) {
        add(nb::cast<std::string>(d[0]), nb::cast<std::string>(d[1]), d[2], nb::cast<int>(d[3]),
            d[4]);
    }
}

PythonGenerator::~PythonGenerator() {
    HeldGil gil;
    owned_instance_.reset();
}

void PythonGenerator::set_instance(nb::handle instance, bool owned) {
    instance_ = instance;
    if (owned) {
        owned_instance_ = nb::borrow(instance);
    }
}

void PythonGenerator::add(const std::string &name, const std::string &kind, nb::handle types,
                          int dimensions, nb::handle default_value) {
    if (kind == "param") {
        params_made_.push_back(make_param(name, default_value));
    } else {
        members_made_.push_back(make_member(kind, declaration(name, types, dimensions)));
    }
}

void PythonGenerator::add_later(const std::string &name, const std::string &kind, nb::handle types,
                                int dimensions) {
    const auto addition = begin_addition();
    add(name, kind, types, dimensions, nb::none());
}

std::string PythonGenerator::param_text(const std::string &name) const {
    for (const GeneratorParamBase *p : params()) {
        if (p->name() == name) {
            return p->to_string();
        }
    }
    user_error << "there is no generator parameter '" << name << "'";
}

std::vector<std::string> PythonGenerator::input_names() const {
    std::vector<std::string> names;
    for (const InputBase *i : inputs()) {
        names.push_back(i->io_name());
    }
    return names;
}

Type PythonGenerator::input_type(const std::string &name) const {
    for (const InputBase *i : inputs()) {
        if (i->io_name() == name && i->types_defined()) {
            return i->io_type();
        }
    }
    return Type();
}

bool PythonGenerator::is_scalar(const std::string &name) const {
    for (const InputBase *i : inputs()) {
        if (i->io_name() == name) {
            return i->kind() == calotype::internal::IOKind::Scalar;
        }
    }
    return false;
}

nb::object PythonGenerator::value_of(const std::string &name) const {
    for (const InputBase *i : inputs()) {
        if (i->io_name() != name) {
            continue;
        }
        if (auto *buffer = dynamic_cast<const BufferInput *>(i)) {
            return nb::cast(ImageParam(static_cast<const ImageParam &>(*buffer)));
        }
        return python_param(dynamic_cast<const ScalarInput &>(*i).parameter());
    }
    for (const OutputBase *o : outputs()) {
        if (o->io_name() == name) {
            return nb::cast(Func(static_cast<const Func &>(dynamic_cast<const FuncOutput &>(*o))));
        }
    }
    user_error << "the generator has no input or output '" << name << "'";
}

std::vector<Func> PythonGenerator::output_funcs() const {
    std::vector<Func> result;
    for (const OutputBase *o : outputs()) {
        result.push_back(static_cast<const Func &>(dynamic_cast<const FuncOutput &>(*o)));
    }
    return result;
}

Pipeline PythonGenerator::build(nb::sequence given) {
    std::vector<std::vector<StubInput>> values;
    for (nb::handle h : nb::iter(given)) {
        values.push_back({to_stub_input(h)});
    }
    return build_pipeline(values);
}

void PythonGenerator::call_configure() {
    call("_run_configure");
}

void PythonGenerator::call_generate() {
    call("generate");
}

void PythonGenerator::add_requirement(const Expr &condition, const std::vector<Expr> &message) {
    requirements_.emplace_back(condition, message);
}

void PythonGenerator::call_schedule() {
    for (const auto &[condition, message] : requirements_) {
        get_pipeline().add_requirement(condition, message);
    }
}

void PythonGenerator::call(const char *method) {
    HeldGil gil;
    run_python([&] { instance_.attr(method)(); });
}

}  // namespace calotype::python
