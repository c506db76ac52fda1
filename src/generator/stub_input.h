// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// StubInput: a value given to an input of a generator that is used inside of a program.
#pragma once

#include <type_traits>

#include "lang/func.h"
#include "lang/image_param.h"

namespace calotype {

namespace internal {

/// A Func, buffer or scalar.
struct StubInput {
    enum Kind { IsExpr, IsFunc, IsBuffer } kind;
    Expr expr;
    Function func;
    /// Of an ImageParam or Buffer; an embedded Buffer has no parameter.
    ImageParam image;
    Buffer<> buffer;

    StubInput() : kind(IsExpr) {
    }
    StubInput(const Func &f) : kind(IsFunc), func(f.function()) {
    }
    StubInput(const ImageParam &p) : kind(IsBuffer), image(p) {
    }
    template<typename T, int D>
    StubInput(const Buffer<T, D> &b) : kind(IsBuffer), buffer(b) {
    }
    template<typename T,
             typename = std::enable_if_t<std::is_constructible<Expr, const T &>::value &&
                                         !std::is_base_of<Func, T>::value &&
                                         !std::is_base_of<ImageParam, T>::value>>
    StubInput(const T &value) : kind(IsExpr), expr(value) {
    }

    /// Anything that is not a scalar.
    Func as_func() const {
        Buffer<> b = buffer;
        return kind == IsFunc ? Func(func) : image.defined() ? Func(image) : Func(b);
    }
};

}  // namespace internal

}  // namespace calotype
