// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/input.h"

#include <algorithm>

#include "support/text.h"

namespace calotype::internal {

namespace {

const char *kind_name(IOKind kind) {
    return kind == IOKind::Scalar ? "scalar" : kind == IOKind::Function ? "Func" : "buffer";
}

Parameter make_parameter(const GeneratorIO &io, const std::string &name) {
    const Type type = io.io_type();
    const bool is_buffer = io.kind() != IOKind::Scalar;
    Parameter p(type, is_buffer, is_buffer ? io.io_dims() : 0, name);
    p.edit()->name_is_explicit = true;
    return p;
}

// The elements of a parameter as a Func.
Func func_of_parameter(const Parameter &p) {
    std::vector<Var> vars;
    std::vector<Expr> args;
    for (int i = 0; i < p.dimensions(); i++) {
        vars.push_back(Var::implicit(i));
        args.push_back(vars.back());
    }
    Func f(p.name() + "_im");
    f(vars) = Call::make(p.type(), p.name(), args, CallKind::Image, 0, p.contents());
    return f;
}

ImageParam image_param_of(const Parameter &p) {
    return InputImage::of_parameter(p);
}

InputScalar scalar_of_parameter(const Parameter &p, const ScalarLimits &limits) {
    if (limits.default_value.defined()) {
        p.edit()->default_value = cast(p.type(), limits.default_value);
    }
    if (limits.min.defined()) {
        p.edit()->min_value = cast(p.type(), limits.min);
    }
    if (limits.max.defined()) {
        p.edit()->max_value = cast(p.type(), limits.max);
    }
    return InputScalar(p);
}

std::string types_text(const std::vector<Type> &types) {
    std::vector<std::string> names;
    for (const Type &t : types) {
        names.push_back(type_to_name(t));
    }
    return join(names, ", ");
}

std::string name_of(const StubInput &given) {
    return given.kind == StubInput::IsFunc ? "Func '" + given.func.name() + "'"
                                           : "the buffer that is given";
}

}  // namespace

// ---- what was given ----

std::string InputBase::what() const {
    return "input '" + io_name() + "'";
}

void InputBase::check_given(const StubInput &given) const {
    if (given.kind == StubInput::IsExpr) {
        user_assert(kind() == IOKind::Scalar)
            << what() << " takes a " << kind_name(kind()) << ", not a scalar";
        user_assert(!types_defined() || given.expr.type() == io_type())
            << what() << " takes " << type_to_name(io_type()) << ", not "
            << type_to_name(given.expr.type());
        return;
    }
    user_assert(kind() != IOKind::Scalar) << what() << " takes a scalar, not a "
                                          << (given.kind == StubInput::IsFunc ? "Func" : "buffer");
    const Func f = given.as_func();
    user_assert(f.defined()) << what() << " is given Func '" << f.name() << "', which is undefined";
    user_assert(!types_defined() || f.types() == io_types())
        << what() << " takes " << types_text(io_types()) << ", " << name_of(given) << " has "
        << types_text(f.types());
    user_assert(!dims_defined() || f.dimensions() == io_dims())
        << what() << " takes " << io_dims() << " dimensions, " << name_of(given) << " has "
        << f.dimensions();
}

void InputBase::bind(const std::vector<StubInput> &given) {
    user_assert(is_array() || given.size() == 1)
        << what() << " takes one value, not " << given.size();
    for (const StubInput &value : given) {
        check_given(value);
    }
    if (is_array()) {
        set_array_size(int(given.size()));
    }
    if (!types_defined() && !given.empty()) {
        set_types(given[0].kind == StubInput::IsExpr ? std::vector<Type>{given[0].expr.type()}
                                                     : given[0].as_func().types());
    }
    if (!dims_defined() && !given.empty()) {
        set_dimensions(given[0].as_func().dimensions());
    }
    given_ = given;
}

// ---- buffers ----

InputImage::InputImage(const ImageParam &p, const Func &given)
    : ImageParam(p), func_given_(given.function()) {
}

ImageParam InputImage::of_parameter(const Parameter &p) {
    InputImage image;
    image.parameter_ = p;
    image.kind_ = Argument::InputBuffer;
    image.function_ = func_of_parameter(p).function();
    return image;
}

Expr InputImage::operator()(std::vector<Expr> args) const {
    return func_given_.defined() ? Expr(Func(func_given_)(std::move(args)))
                                 : ImageParam::operator()(std::move(args));
}

Expr InputImage::operator()(std::vector<Var> args) const {
    return func_given_.defined() ? Expr(Func(func_given_)(std::move(args)))
                                 : ImageParam::operator()(std::move(args));
}

InputImage::operator Func() const {
    return func_given_.defined() ? Func(func_given_) : ImageParam::operator Func();
}

Func InputImage::in(const Func &f) {
    return func_given_.defined() ? Func(func_given_).in(f) : ImageParam::in(f);
}

Func InputImage::in(const std::vector<Func> &fs) {
    return func_given_.defined() ? Func(func_given_).in(fs) : ImageParam::in(fs);
}

Func InputImage::in() {
    return func_given_.defined() ? Func(func_given_).in() : ImageParam::in();
}

namespace {

// A buffer becomes the value of a parameter, an ImageParam stays what it is; of a Func there are no
// constraints.
InputImage image_of_given(const StubInput &given, const GeneratorIO &io, const std::string &name) {
    if (given.kind == StubInput::IsBuffer && given.buffer.defined()) {
        // Not the name of an input of the generator that gives it.
        Parameter p = make_parameter(io, unique_name(name + "$given"));
        p.set_buffer(given.buffer.image()->buffer);
        p.edit()->is_constant = true;
        return InputImage(image_param_of(p));
    }
    const ImageParam p =
        given.image.defined() ? given.image : image_param_of(make_parameter(io, name));
    return InputImage(p, given.as_func());
}

// The dimension of a Var: the coordinates of an input have no names, those of a Func that it is given may.
int dimension_of(const Func &f, const std::string &what, const Var &var) {
    const std::vector<std::string> &names = f.function().args();
    const auto at = std::find(names.begin(), names.end(), var.name());
    if (at != names.end()) {
        return int(at - names.begin());
    }
    const int i = Var::is_implicit(var.name()) ? Var::implicit_index(var.name()) : -1;
    user_assert(i >= 0 && i < f.dimensions())
        << what << " has no dimension " << var.name() << ": they are _0 to _" << f.dimensions() - 1;
    return i;
}

// Nothing where a value was given: that has bounds of its own.
void estimate_dimension(const Parameter &p, int i, const Range &estimate) {
    if (p.defined()) {
        Parameter parameter = p;
        parameter.set_min_constraint_estimate(i, estimate.min);
        parameter.set_extent_constraint_estimate(i, estimate.extent);
    }
}

void estimate_all(const Parameter &p, const GeneratorIO &io, const std::string &what,
                  const Region &estimates) {
    user_assert(estimates.size() == size_t(io.io_dims()))
        << what << " has " << io.io_dims() << " dimensions, not " << estimates.size();
    for (int i = 0; i < io.io_dims(); i++) {
        estimate_dimension(p, i, estimates[i]);
    }
}

}  // namespace

BufferInput &BufferInput::set_estimate(const Var &var, const Expr &min, const Expr &extent) {
    estimate_dimension(parameter(), dimension_of(Func(*this), what(), var), {min, extent});
    return *this;
}

BufferInput &BufferInput::set_estimates(const Region &estimates) {
    estimate_all(parameter(), *this, what(), estimates);
    return *this;
}

void BufferInput::define() {
    if (is_bound()) {
        InputImage::operator=(image_of_given(given_[0], *this, io_name()));
    } else {
        InputImage::operator=(InputImage(image_param_of(make_parameter(*this, io_name()))));
    }
}

std::vector<Parameter> BufferInput::parameters() const {
    return is_bound() ? std::vector<Parameter>() : std::vector<Parameter>{parameter()};
}

// ---- Funcs ----

void FuncInput::define() {
    if (is_bound()) {
        Func::operator=(given_[0].as_func());
    } else {
        parameter_ = make_parameter(*this, io_name());
        Func::operator=(func_of_parameter(parameter_));
    }
}

FuncInput &FuncInput::set_estimate(const Var &var, const Expr &min, const Expr &extent) {
    estimate_dimension(parameter_, dimension_of(*this, what(), var), {min, extent});
    return *this;
}

FuncInput &FuncInput::set_estimates(const Region &estimates) {
    estimate_all(parameter_, *this, what(), estimates);
    return *this;
}

std::vector<Parameter> FuncInput::parameters() const {
    return is_bound() ? std::vector<Parameter>() : std::vector<Parameter>{parameter_};
}

// ---- scalars ----

void ScalarInput::define() {
    InputScalar::operator=(is_bound()
                               ? InputScalar(given_[0].expr)
                               : scalar_of_parameter(make_parameter(*this, io_name()), limits_));
}

std::vector<Parameter> ScalarInput::parameters() const {
    return is_bound() ? std::vector<Parameter>() : std::vector<Parameter>{parameter()};
}

// ---- arrays ----

template<typename Element>
std::vector<Parameter> InputArray<Element>::parameters() const {
    return parameters_;
}

template<typename Element>
void InputArray<Element>::define() {
    elements_.clear();
    for (size_t i = 0; i < array_size(); i++) {
        Parameter p;
        if (!is_bound()) {
            p = make_parameter(*this, element_name(i));
            parameters_.push_back(p);
        }
        if constexpr (std::is_same_v<Element, InputScalar>) {
            elements_.push_back(is_bound() ? InputScalar(given_[i].expr)
                                           : scalar_of_parameter(p, limits_));
        } else if constexpr (std::is_same_v<Element, InputImage>) {
            elements_.push_back(is_bound() ? image_of_given(given_[i], *this, element_name(i))
                                           : InputImage(image_param_of(p)));
        } else {
            elements_.push_back(is_bound() ? given_[i].as_func() : func_of_parameter(p));
        }
    }
    is_defined_ = true;
}

template class InputArray<InputImage>;
template class InputArray<Func>;
template class InputArray<InputScalar>;

}  // namespace calotype::internal
