// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Param<T>: a scalar that a pipeline takes. T = void: of a type given at run time.
#pragma once

#include <cstring>
#include <string>
#include <type_traits>

#include "ir/argument.h"
#include "ir/operators.h"
#include "pipeline/extern_argument.h"
#include "pipeline/parameter.h"

namespace calotype {

namespace internal {
/// A parameter named by the user; a CompileError if the name is reserved or no C identifier.
Parameter make_scalar_parameter(const Type &t, const std::string &name);
Parameter make_scalar_parameter(const Type &t);
/// The bits of a value after conversion to type t, without loss or with a CompileError.
void set_scalar_value(const Parameter &p, const Type &t, const void *value);
/// Throws unless the parameter is of this type.
void check_scalar_type(const Parameter &p, const Type &t);
/// CompileError: the parameter cannot hold the value.
[[noreturn]] void refuse_scalar_value(const Parameter &p, const std::string &value);
uint64_t get_scalar_bits(const Parameter &p);
Argument scalar_argument(const Parameter &p);
}  // namespace internal

/// Usable wherever an Expr is.
///
///     Param<float> gain("gain", 1.0f, 0.0f, 10.0f);      // default, lowest, highest
///     f(x) = input(x) * gain;
///     gain.set(2.0f);                                     // for runs in this process
template<typename T = void>
class Param {
    using not_void_T = std::conditional_t<std::is_void<T>::value, int, T>;
    template<typename T2>
    using IfTyped = std::enable_if_t<!std::is_void<T2>::value>;
    template<typename T2>
    using IfVoid = std::enable_if_t<std::is_void<T2>::value>;

public:
    static constexpr bool has_static_type = !std::is_void<T>::value;
    static Type static_type() {
        static_assert(has_static_type, "the type is known at run time only");
        return type_of<not_void_T>();
    }

    template<typename T2 = T, typename = IfTyped<T2>>
    Param() : parameter_(internal::make_scalar_parameter(type_of<T2>())) {
    }
    template<typename T2 = T, typename = IfTyped<T2>>
    explicit Param(const std::string &name)
        : parameter_(internal::make_scalar_parameter(type_of<T2>(), name)) {
    }
    template<typename T2 = T, typename = IfTyped<T2>>
    explicit Param(const char *name) : Param(std::string(name)) {
    }
    /// With a value, and the lowest and highest that may be passed.
    template<typename T2 = T, typename = IfTyped<T2>,
             typename = std::enable_if_t<!std::is_pointer<T2>::value>>
    explicit Param(not_void_T value) : Param() {
        set(value);
    }
    template<typename T2 = T, typename = IfTyped<T2>>
    Param(const std::string &name, not_void_T value) : Param(name) {
        set(value);
    }
    template<typename T2 = T, typename = IfTyped<T2>>
    Param(not_void_T value, Expr min, Expr max) : Param(value) {
        set_range(min, max);
    }
    template<typename T2 = T, typename = IfTyped<T2>>
    Param(const std::string &name, not_void_T value, Expr min, Expr max) : Param(name, value) {
        set_range(min, max);
    }
    template<typename T2 = T, typename = IfVoid<T2>>
    explicit Param(const Type &t) : parameter_(internal::make_scalar_parameter(t)) {
    }
    template<typename T2 = T, typename = IfVoid<T2>>
    Param(const Type &t, const std::string &name)
        : parameter_(internal::make_scalar_parameter(t, name)) {
    }
    /// The same parameter; a CompileError if the types differ.
    template<typename T2>
    Param(const Param<T2> &other) : parameter_(other.parameter()) {
        if constexpr (has_static_type) {
            internal::check_scalar_type(parameter_, static_type());
        }
    }

    const std::string &name() const {
        return parameter_.name();
    }
    Type type() const {
        return parameter_.type();
    }

    /// The value for runs in this process.
    template<typename T2 = not_void_T>
    T2 get() const {
        internal::check_scalar_type(parameter_, type_of<T2>());
        const uint64_t bits = internal::get_scalar_bits(parameter_);
        T2 value;
        std::memcpy(&value, &bits, sizeof(value));
        return value;
    }
    template<typename T2 = not_void_T>
    void set(const T2 &value) {
        if constexpr (has_static_type) {
            check_holds(value);
            const not_void_T converted = static_cast<not_void_T>(value);
            internal::set_scalar_value(parameter_, static_type(), &converted);
        } else {
            internal::set_scalar_value(parameter_, type_of<T2>(), &value);
        }
    }

    /// The lowest and highest value that may be passed: checked at run time, used in compiling.
    void set_range(const Expr &min, const Expr &max) {
        set_min_value(min);
        set_max_value(max);
    }
    void set_min_value(Expr min) {
        parameter_.set_min_value(in_own_type(min));
    }
    void set_max_value(Expr max) {
        parameter_.set_max_value(in_own_type(max));
    }
    Expr min_value() const {
        return parameter_.min_value();
    }
    Expr max_value() const {
        return parameter_.max_value();
    }
    /// A typical value, for tuning.
    template<typename T2 = not_void_T>
    void set_estimate(const T2 &value) {
        check_holds(value);
        parameter_.set_estimate(in_own_type(Expr(value)));
    }

    operator Expr() const {
        return parameter_.as_expr();
    }
    operator ExternFuncArgument() const {
        return parameter_.as_expr();
    }
    operator Argument() const {
        return internal::scalar_argument(parameter_);
    }
    const Parameter &parameter() const {
        return parameter_;
    }
    Parameter &parameter() {
        return parameter_;
    }

private:
    /// Integers keep their value, up to its sign as one of the same size; floats may be rounded,
    /// and to bool all converts.
    template<typename T2>
    void check_holds(const T2 &value) const {
        if constexpr (std::is_integral<T>::value && !std::is_same<T, bool>::value &&
                      std::is_arithmetic<T2>::value) {
            if (static_cast<T2>(static_cast<T>(value)) != value) {
                internal::refuse_scalar_value(parameter_, std::to_string(value));
            }
        }
    }
    Expr in_own_type(const Expr &e) const {
        return e.defined() && e.type() != type() ? cast(type(), e) : e;
    }
    Parameter parameter_;
};

/// The pointer that generated code hands to every function of the runtime.
Expr user_context_value();

}  // namespace calotype
