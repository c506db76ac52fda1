// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BoundaryConditions: a Func that equals another inside of a rectangle and is made up outside.
//
//     Func clamped = BoundaryConditions::repeat_edge(input);
//     blur(x) = clamped(x - 1) + clamped(x + 1);
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "ir/operators.h"
#include "lang/func.h"

namespace calotype {
namespace BoundaryConditions {

namespace internal {
inline Func as_func(const Func &f) {
    return f;
}
template<typename T>
Func as_func(const T &func_like) {
    Func f("lambda");
    f(_) = func_like(_);
    return f;
}
/// What the buffer has in each dimension.
template<typename T>
Region shape_of(const T &buffer_like) {
    Region region;
    for (int i = 0; i < buffer_like.dimensions(); i++) {
        Range r;
        r.min = Expr(buffer_like.dim(i).min());
        r.extent = Expr(buffer_like.dim(i).extent());
        region.push_back(r);
    }
    return region;
}
template<typename T>
using IfBuffer = decltype(std::declval<const T &>().dim(0));
/// What is called like a Func, and is none: its coordinates have no names of their own.
template<typename T>
using IfFuncLike =
    std::enable_if_t<!std::is_same_v<T, Func>,
                     decltype(std::declval<const T &>()(std::declval<const Var &>()))>;
template<typename... T>
using IfExprs = std::enable_if_t<(std::is_convertible_v<T, Expr> && ...)>;
/// A CompileError if their number is odd.
Region region_of(const std::vector<Expr> &mins_and_extents);
}  // namespace internal

/// In all of these, bounds[i] is the rectangle in dimension i; dimensions without bounds (fewer
/// Ranges, or undefined ones) are left as they are. `source` is a Func, or a Buffer, ImageParam or
/// generator input, whose own shape is then taken if no bounds are given. Bounds may also be given
/// as minimum and extent of each dimension in turn. A CompileError if there are more bounds than
/// dimensions.

/// `value` outside.       [a b c d]   ->   ... v v [a b c d] v v ...
Func constant_exterior(const Func &source, const Tuple &value, const Region &bounds);
Func constant_exterior(const Func &source, const Expr &value, const Region &bounds);
template<typename T, typename = internal::IfFuncLike<T>>
Func constant_exterior(const T &source, const Tuple &value, const Region &bounds) {
    return constant_exterior(internal::as_func(source), value, bounds);
}
template<typename T, typename = internal::IfFuncLike<T>>
Func constant_exterior(const T &source, const Expr &value, const Region &bounds) {
    return constant_exterior(internal::as_func(source), value, bounds);
}
template<typename T, typename = internal::IfBuffer<T>>
Func constant_exterior(const T &source, const Tuple &value) {
    return constant_exterior(internal::as_func(source), value, internal::shape_of(source));
}
template<typename T, typename = internal::IfBuffer<T>>
Func constant_exterior(const T &source, const Expr &value) {
    return constant_exterior(internal::as_func(source), value, internal::shape_of(source));
}
template<typename T, typename... More, typename = internal::IfExprs<More...>>
Func constant_exterior(const T &source, const Tuple &value, const Expr &min, const Expr &extent,
                       More &&...more) {
    return constant_exterior(internal::as_func(source), value,
                             internal::region_of({min, extent, std::forward<More>(more)...}));
}
template<typename T, typename... More, typename = internal::IfExprs<More...>>
Func constant_exterior(const T &source, const Expr &value, const Expr &min, const Expr &extent,
                       More &&...more) {
    return constant_exterior(internal::as_func(source), value,
                             internal::region_of({min, extent, std::forward<More>(more)...}));
}

/// The nearest value inside.     ... a a [a b c d] d d ...
Func repeat_edge(const Func &source, const Region &bounds);
template<typename T, typename = internal::IfFuncLike<T>>
Func repeat_edge(const T &source, const Region &bounds) {
    return repeat_edge(internal::as_func(source), bounds);
}
template<typename T, typename = internal::IfBuffer<T>>
Func repeat_edge(const T &source) {
    return repeat_edge(internal::as_func(source), internal::shape_of(source));
}
template<typename T, typename... More, typename = internal::IfExprs<More...>>
Func repeat_edge(const T &source, const Expr &min, const Expr &extent, More &&...more) {
    return repeat_edge(internal::as_func(source),
                       internal::region_of({min, extent, std::forward<More>(more)...}));
}

/// Copies side by side.     ... c d [a b c d] a b ...
Func repeat_image(const Func &source, const Region &bounds);
template<typename T, typename = internal::IfFuncLike<T>>
Func repeat_image(const T &source, const Region &bounds) {
    return repeat_image(internal::as_func(source), bounds);
}
template<typename T, typename = internal::IfBuffer<T>>
Func repeat_image(const T &source) {
    return repeat_image(internal::as_func(source), internal::shape_of(source));
}
template<typename T, typename... More, typename = internal::IfExprs<More...>>
Func repeat_image(const T &source, const Expr &min, const Expr &extent, More &&...more) {
    return repeat_image(internal::as_func(source),
                        internal::region_of({min, extent, std::forward<More>(more)...}));
}

/// Copies, every other one mirrored.     ... b a [a b c d] d c ...
Func mirror_image(const Func &source, const Region &bounds);
template<typename T, typename = internal::IfFuncLike<T>>
Func mirror_image(const T &source, const Region &bounds) {
    return mirror_image(internal::as_func(source), bounds);
}
template<typename T, typename = internal::IfBuffer<T>>
Func mirror_image(const T &source) {
    return mirror_image(internal::as_func(source), internal::shape_of(source));
}
template<typename T, typename... More, typename = internal::IfExprs<More...>>
Func mirror_image(const T &source, const Expr &min, const Expr &extent, More &&...more) {
    return mirror_image(internal::as_func(source),
                        internal::region_of({min, extent, std::forward<More>(more)...}));
}

/// The same with the edges shared.     ... c b [a b c d] c b ...
Func mirror_interior(const Func &source, const Region &bounds);
template<typename T, typename = internal::IfFuncLike<T>>
Func mirror_interior(const T &source, const Region &bounds) {
    return mirror_interior(internal::as_func(source), bounds);
}
template<typename T, typename = internal::IfBuffer<T>>
Func mirror_interior(const T &source) {
    return mirror_interior(internal::as_func(source), internal::shape_of(source));
}
template<typename T, typename... More, typename = internal::IfExprs<More...>>
Func mirror_interior(const T &source, const Expr &min, const Expr &extent, More &&...more) {
    return mirror_interior(internal::as_func(source),
                           internal::region_of({min, extent, std::forward<More>(more)...}));
}

}  // namespace BoundaryConditions
}  // namespace calotype
