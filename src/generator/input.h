// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GeneratorInput<T>: what a generator's pipeline takes. T is Buffer<E, D>, Func, a number, bool,
// pointer, Expr, or an array X[N] or X[] of these.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "generator/io_base.h"
#include "generator/stub_input.h"
#include "lang/buffer.h"
#include "lang/func.h"
#include "lang/image_param.h"
#include "lang/param.h"

namespace calotype {
namespace internal {

/// Base of inputs. Ahead of time an input is a parameter of the pipeline; where a generator is used
/// inside of another program it is what that program gave.
class InputBase : public GeneratorIO {
public:
    InputBase(IOKind kind, IODeclaration declaration) : GeneratorIO(kind, std::move(declaration)) {
    }
    /// What apply() gave; a CompileError if number, kind, type or dimensions differ.
    void bind(const std::vector<StubInput> &given);
    bool is_bound() const {
        return !given_.empty();
    }
    /// The parameters made, in order; none where values were given.
    virtual std::vector<Parameter> parameters() const = 0;

protected:
    std::string what() const override;
    std::vector<StubInput> given_;

private:
    void check_given(const StubInput &given) const;
};

/// One buffer: an ImageParam, or the Func or Buffer that was given.
class InputImage : public ImageParam {
public:
    InputImage() = default;
    explicit InputImage(const ImageParam &p) : ImageParam(p) {
    }
    InputImage(const ImageParam &p, const Func &given);
    /// An ImageParam of a parameter that exists.
    static ImageParam of_parameter(const Parameter &p);

    Expr operator()(std::vector<Expr> args) const;
    Expr operator()(std::vector<Var> args) const;
    template<typename... Args>
    std::enable_if_t<(std::is_convertible<Args, Expr>::value && ...), Expr>
    operator()(Args &&...args) const {
        return (*this)(std::vector<Expr>{Expr(std::forward<Args>(args))...});
    }
    operator Func() const;
    Func in(const Func &f);
    Func in(const std::vector<Func> &fs);
    Func in();

private:
    Function func_given_;
};

/// One scalar: a parameter, or the Expr that was given.
class InputScalar {
public:
    InputScalar() = default;
    explicit InputScalar(const Parameter &p) : parameter_(p), value_(p.as_expr()) {
    }
    explicit InputScalar(const Expr &given) : value_(given) {
    }
    operator Expr() const {
        return value_;
    }
    operator ExternFuncArgument() const {
        return value_;
    }
    Type type() const {
        return value_.type();
    }
    /// A typical value, for tuning.
    template<typename T>
    void set_estimate(const T &value) {
        if (!parameter_.defined()) {
            return;
        }
        if constexpr (std::is_null_pointer<T>::value) {
            parameter_.set_estimate(reinterpret(type(), Expr(uint64_t(0))));
        } else {
            parameter_.set_estimate(cast(type(), Expr(value)));
        }
    }
    const Parameter &parameter() const {
        return parameter_;
    }

private:
    Parameter parameter_;
    Expr value_;
};

/// Default and range of scalar inputs; undefined: none.
struct ScalarLimits {
    Expr default_value, min, max;
};

class BufferInput : public InputBase, public InputImage {
public:
    explicit BufferInput(IODeclaration d) : InputBase(IOKind::Buffer, std::move(d)) {
    }
    const std::string &name() const {
        return io_name();
    }
    Type type() const {
        return io_type();
    }
    int dimensions() const {
        return io_dims();
    }
    /// What the dimension of an implicit Var (_0 is the first), or all of them, typically span.
    BufferInput &set_estimate(const Var &var, const Expr &min, const Expr &extent);
    BufferInput &set_estimates(const Region &estimates);
    std::vector<Parameter> parameters() const override;

protected:
    void define() override;
};

class FuncInput : public InputBase, public Func {
public:
    explicit FuncInput(IODeclaration d)
        : InputBase(IOKind::Function, std::move(d)), Func(Function("undefined")) {
    }
    const std::string &name() const {
        return io_name();
    }
    int dimensions() const {
        return io_dims();
    }
    const std::vector<Type> &types() const {
        return io_types();
    }
    Type type() const {
        return io_type();
    }
    /// What the dimension of an implicit Var (_0 is the first), or all of them, typically span.
    FuncInput &set_estimate(const Var &var, const Expr &min, const Expr &extent);
    FuncInput &set_estimates(const Region &estimates);
    std::vector<Parameter> parameters() const override;

protected:
    void define() override;

private:
    Parameter parameter_;
};

class ScalarInput : public InputBase, public InputScalar {
public:
    ScalarInput(IODeclaration d, ScalarLimits limits)
        : InputBase(IOKind::Scalar, std::move(d)), limits_(std::move(limits)) {
    }
    const std::string &name() const {
        return io_name();
    }
    Type type() const {
        return io_type();
    }
    std::vector<Parameter> parameters() const override;

protected:
    void define() override;

private:
    ScalarLimits limits_;
};

/// Elements of an array input.
template<typename Element>
class InputArray : public InputBase {
public:
    InputArray(IOKind kind, IODeclaration d) : InputBase(kind, std::move(d)) {
    }
    const std::string &name() const {
        return io_name();
    }
    Type type() const {
        return io_type();
    }
    int dimensions() const {
        return io_dims();
    }
    size_t size() const {
        return array_size();
    }
    const Element &operator[](size_t i) const {
        check_index(i);
        return elements_[i];
    }
    Element &operator[](size_t i) {
        check_index(i);
        return elements_[i];
    }
    const Element &at(size_t i) const {
        return (*this)[i];
    }
    auto begin() const {
        return elements_.begin();
    }
    auto end() const {
        return elements_.end();
    }
    /// A typical value of element i, an array of scalars; see the elements for the others.
    template<typename T>
    void set_estimate(size_t i, const T &value) {
        check_index(i);
        elements_[i].set_estimate(value);
    }
    std::vector<Parameter> parameters() const override;

protected:
    void define() override;
    std::vector<Element> elements_;
    std::vector<Parameter> parameters_;
    ScalarLimits limits_;
};
extern template class InputArray<InputImage>;
extern template class InputArray<Func>;
extern template class InputArray<InputScalar>;

/// From T to the family that implements it, and the constructors that it has.
template<typename T, typename = void>
struct InputFamily;

#define CALOTYPE_INPUT_FAMILY(Single, Element, kind)                                               \
    template<bool is_array>                                                                        \
    struct Single##Family : Single {                                                               \
        explicit Single##Family(IODeclaration d) : Single(std::move(d)) {                          \
        }                                                                                          \
    };                                                                                             \
    template<>                                                                                     \
    struct Single##Family<true> : InputArray<Element> {                                            \
        explicit Single##Family(IODeclaration d) : InputArray<Element>(kind, std::move(d)) {       \
        }                                                                                          \
    };
CALOTYPE_INPUT_FAMILY(BufferInput, InputImage, IOKind::Buffer)
CALOTYPE_INPUT_FAMILY(FuncInput, Func, IOKind::Function)
#undef CALOTYPE_INPUT_FAMILY

template<bool is_array>
struct ScalarInputFamily : ScalarInput {
    ScalarInputFamily(IODeclaration d, ScalarLimits limits)
        : ScalarInput(std::move(d), std::move(limits)) {
    }
};
template<>
struct ScalarInputFamily<true> : InputArray<InputScalar> {
    ScalarInputFamily(IODeclaration d, ScalarLimits limits)
        : InputArray<InputScalar>(IOKind::Scalar, std::move(d)) {
        limits_ = std::move(limits);
    }
};

// Elements of arrays of inputs are of this namespace: the operators of Expr are found for them.
using calotype::operator+;
using calotype::operator-;
using calotype::operator*;
using calotype::operator/;
using calotype::operator%;
using calotype::operator<;
using calotype::operator>;
using calotype::operator<=;
using calotype::operator>=;
using calotype::operator==;
using calotype::operator!=;
using calotype::operator&&;
using calotype::operator||;

}  // namespace internal
}  // namespace calotype

#include "generator/input_types.h"
