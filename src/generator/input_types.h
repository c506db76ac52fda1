// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The template GeneratorInput<T> over the classes of generator/input.h: constructors alone.
#pragma once

#include "generator/input.h"

namespace calotype {
namespace internal {

inline IODeclaration with(IODeclaration d, const std::vector<Type> &types, int dimensions,
                          int array_size) {
    if (!types.empty()) {
        d.types = types;
    }
    if (dimensions != IODeclaration::open) {
        d.dimensions = dimensions;
    }
    if (array_size != IODeclaration::open) {
        d.array_size = array_size;
    }
    return d;
}

/// Buffer<E, D>: what E and D say.
template<typename T>
struct BufferTraits : std::false_type {};
template<typename E, int D>
struct BufferTraits<Buffer<E, D>> : std::true_type {
    static IODeclaration add_to(IODeclaration d) {
        if constexpr (!std::is_void<E>::value) {
            d.types = {type_of<E>()};
        }
        d.dimensions = D == AnyDims ? IODeclaration::open : D;
        return d;
    }
};

template<typename T>
class GeneratorBufferInput : public BufferInputFamily<ArrayTraits<T>::is_array> {
    using Base = BufferInputFamily<ArrayTraits<T>::is_array>;
    static IODeclaration declared(const std::string &name) {
        return BufferTraits<typename ArrayTraits<T>::element>::add_to(declare<T>(name));
    }
    static constexpr int open = IODeclaration::open;

public:
    explicit GeneratorBufferInput(const std::string &name) : Base(declared(name)) {
    }
    GeneratorBufferInput(const std::string &name, const Type &t, int d = open)
        : Base(with(declared(name), {t}, d, open)) {
    }
    GeneratorBufferInput(const std::string &name, int d) : Base(with(declared(name), {}, d, open)) {
    }
    GeneratorBufferInput(size_t size, const std::string &name)
        : Base(with(declared(name), {}, open, int(size))) {
    }
    GeneratorBufferInput(size_t size, const std::string &name, const Type &t, int d = open)
        : Base(with(declared(name), {t}, d, int(size))) {
    }
    GeneratorBufferInput(size_t size, const std::string &name, int d)
        : Base(with(declared(name), {}, d, int(size))) {
    }
};

template<typename T>
class GeneratorFuncInput : public FuncInputFamily<ArrayTraits<T>::is_array> {
    using Base = FuncInputFamily<ArrayTraits<T>::is_array>;
    static constexpr int open = IODeclaration::open;

public:
    explicit GeneratorFuncInput(const std::string &name) : Base(declare<T>(name)) {
    }
    GeneratorFuncInput(const std::string &name, const Type &t, int d = open)
        : Base(with(declare<T>(name), {t}, d, open)) {
    }
    GeneratorFuncInput(const std::string &name, int d) : Base(with(declare<T>(name), {}, d, open)) {
    }
    GeneratorFuncInput(size_t size, const std::string &name)
        : Base(with(declare<T>(name), {}, open, int(size))) {
    }
    GeneratorFuncInput(size_t size, const std::string &name, const Type &t, int d = open)
        : Base(with(declare<T>(name), {t}, d, int(size))) {
    }
    GeneratorFuncInput(size_t size, const std::string &name, int d)
        : Base(with(declare<T>(name), {}, d, int(size))) {
    }
};

/// E is a number, bool or pointer.
template<typename T>
class GeneratorScalarInput : public ScalarInputFamily<ArrayTraits<T>::is_array> {
    using Base = ScalarInputFamily<ArrayTraits<T>::is_array>;
    using E = typename ArrayTraits<T>::element;
    static IODeclaration declared(const std::string &name, int size = IODeclaration::open) {
        return with(declare<T>(name), {type_of<E>()}, 0, size);
    }
    static Expr constant(const E &value) {
        if constexpr (std::is_pointer<E>::value) {
            return Expr();
        } else {
            return Expr(value);
        }
    }

public:
    explicit GeneratorScalarInput(const std::string &name) : Base(declared(name), {}) {
    }
    GeneratorScalarInput(const std::string &name, const E &default_value)
        : Base(declared(name), {constant(default_value), Expr(), Expr()}) {
    }
    /// Both bounds are allowed values; they are checked when the pipeline runs.
    GeneratorScalarInput(const std::string &name, const E &default_value, const E &min,
                         const E &max)
        : Base(declared(name), {constant(default_value), constant(min), constant(max)}) {
    }
    GeneratorScalarInput(size_t size, const std::string &name)
        : Base(declared(name, int(size)), {}) {
    }
    GeneratorScalarInput(size_t size, const std::string &name, const E &default_value)
        : Base(declared(name, int(size)), {constant(default_value), Expr(), Expr()}) {
    }
    GeneratorScalarInput(size_t size, const std::string &name, const E &default_value, const E &min,
                         const E &max)
        : Base(declared(name, int(size)), {constant(default_value), constant(min), constant(max)}) {
    }
};

/// A scalar whose type is a generator parameter, or given here.
template<typename T>
class GeneratorExprInput : public ScalarInputFamily<ArrayTraits<T>::is_array> {
    using Base = ScalarInputFamily<ArrayTraits<T>::is_array>;
    static constexpr int open = IODeclaration::open;

public:
    explicit GeneratorExprInput(const std::string &name)
        : Base(with(declare<T>(name), {}, 0, open), {}) {
    }
    GeneratorExprInput(const std::string &name, const Type &t)
        : Base(with(declare<T>(name), {t}, 0, open), {}) {
    }
    GeneratorExprInput(size_t size, const std::string &name)
        : Base(with(declare<T>(name), {}, 0, int(size)), {}) {
    }
    GeneratorExprInput(size_t size, const std::string &name, const Type &t)
        : Base(with(declare<T>(name), {t}, 0, int(size)), {}) {
    }
};

template<typename T, typename E = typename ArrayTraits<T>::element>
using InputOf = std::conditional_t<
    BufferTraits<E>::value, GeneratorBufferInput<T>,
    std::conditional_t<std::is_same<E, Func>::value, GeneratorFuncInput<T>,
                       std::conditional_t<std::is_same<E, Expr>::value, GeneratorExprInput<T>,
                                          GeneratorScalarInput<T>>>>;

}  // namespace internal

/// A member of a generator class; the order of the members is the order of the function's
/// arguments.
///
///     Input<Buffer<uint8_t, 2>> image{"image"};
///     Input<Buffer<>> any{"any"};                    // any.type and any.dim are generator
///     parameters Input<float> gain{"gain", 1.0f, 0.0f, 8.0f};   // default, lowest, highest
///     Input<Func[]> layers{"layers", Float(32), 3};  // layers.size is a generator parameter
template<typename T>
class GeneratorInput : public internal::InputOf<T> {
public:
    using Base = internal::InputOf<T>;
    using Base::Base;
};

}  // namespace calotype
