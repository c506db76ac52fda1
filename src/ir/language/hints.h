// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions that tell the compiler something, have an effect when evaluated, or read something
// but their operands: hints, promises, checks, printing, random numbers, simultaneous updates.
// Include ir/operators.h.
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "ir/expr.h"

namespace calotype {

/// e; the compiler may split loops so that a condition marked likely is always true in the steady
/// state.
Expr likely(Expr e);
/// likely, but only where it stands in the innermost loop that it depends on.
Expr likely_if_innermost(Expr e);

/// value, which is promised to be from min to max (undefined: those of its type). Nothing is
/// clamped; a broken promise is undefined behaviour, or, with target feature check_unsafe_promises,
/// an error at run time.
Expr unsafe_promise_clamped(const Expr &value, const Expr &min, const Expr &max);

/// e with all float operations in it done exactly as written: none reassociated or contracted, NaNs
/// and infinities kept.
Expr strict_float(const Expr &e);

/// Any value; as the value of an update it means that nothing is stored.
Expr undef(Type t);
template<typename T>
Expr undef() {
    return undef(type_of<T>());
}

namespace internal {
Expr memoize_tag_of(Expr result, const std::vector<Expr> &cache_key_values);

template<typename... Args>
std::vector<Expr> as_exprs(Args &&...args) {
    return std::vector<Expr>{Expr(std::forward<Args>(args))...};
}
}  // namespace internal

/// result; the cache of a memoized Func is keyed on the given values instead of on what result
/// depends on.
template<typename... Args>
Expr memoize_tag(Expr result, Args &&...args) {
    return internal::memoize_tag_of(std::move(result),
                                    internal::as_exprs(std::forward<Args>(args)...));
}

/// The first value; when it is evaluated all values are printed on one line. Values may be strings.
Expr print(const std::vector<Expr> &values);
template<typename... Args>
Expr print(Expr a, Args &&...args) {
    std::vector<Expr> values = internal::as_exprs(std::forward<Args>(args)...);
    values.insert(values.begin(), std::move(a));
    return print(values);
}
/// The same, printed only where the condition holds.
Expr print_when(Expr condition, const std::vector<Expr> &values);
template<typename... Args>
Expr print_when(Expr condition, Expr a, Args &&...args) {
    std::vector<Expr> values = internal::as_exprs(std::forward<Args>(args)...);
    values.insert(values.begin(), std::move(a));
    return print_when(std::move(condition), values);
}

/// The first value; where the condition does not hold, the pipeline ends with an error of which the
/// others are the text.
Expr require(Expr condition, const std::vector<Expr> &values);
template<typename... Args>
Expr require(Expr condition, Expr value, Args &&...args) {
    std::vector<Expr> values = internal::as_exprs(std::forward<Args>(args)...);
    values.insert(values.begin(), std::move(value));
    return require(std::move(condition), values);
}

/// A number that depends on the seed, on the place in the program and on the coordinates where it
/// is evaluated: a float from 0 to 1 (excluded), or an integer of all 32 bits. Calls in two places
/// are independent. The seed is an int32 or a uint32.
Expr random_float(Expr seed = Expr());
Expr random_uint(Expr seed = Expr());
Expr random_int(Expr seed = Expr());

/// In an update, `scatter` on the left stores to several places at once, after all of `gather` on
/// the right was read:
///     f(x, scatter(0, 1)) = f(x, gather(1, 0));    swaps two columns
Expr scatter(const std::vector<Expr> &args);
Expr gather(const std::vector<Expr> &args);
template<typename... Args>
Expr scatter(const Expr &e, Args &&...args) {
    std::vector<Expr> values = internal::as_exprs(std::forward<Args>(args)...);
    values.insert(values.begin(), e);
    return scatter(values);
}
template<typename... Args>
Expr gather(const Expr &e, Args &&...args) {
    std::vector<Expr> values = internal::as_exprs(std::forward<Args>(args)...);
    values.insert(values.begin(), e);
    return gather(values);
}

/// Facts about the target. The forms that take an enumerator of Target are in
/// pipeline/target_queries.h.
Expr target_bits();
Expr target_natural_vector_size(Type t);
template<typename T>
Expr target_natural_vector_size() {
    return target_natural_vector_size(type_of<T>());
}

}  // namespace calotype
