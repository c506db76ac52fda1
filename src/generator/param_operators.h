// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators on GeneratorParams: `param op x`, `x op param` and `param op param` mean the same on
// the values.
#pragma once

#include <algorithm>

namespace calotype {

template<typename T>
class GeneratorParam;

namespace internal {
template<typename T>
struct ParamValueOf {
    using type = T;
    static const T &get(const T &x) {
        return x;
    }
};
template<typename T>
struct ParamValueOf<GeneratorParam<T>> {
    using type = T;
    static const T &get(const GeneratorParam<T> &x) {
        return x.value();
    }
};
template<typename A, typename B>
using IfAnyParam = std::enable_if_t<!std::is_same<typename ParamValueOf<A>::type, A>::value ||
                                    !std::is_same<typename ParamValueOf<B>::type, B>::value>;
}  // namespace internal

// NOLINTBEGIN: one line an operator
#define CALOTYPE_PARAM_OPERATOR(op)                                                                \
    template<typename A, typename B, typename = internal::IfAnyParam<A, B>>                        \
    auto operator op(const A &a, const B &b)                                                       \
        ->decltype(internal::ParamValueOf<A>::get(a) op internal::ParamValueOf<B>::get(b)) {       \
        return internal::ParamValueOf<A>::get(a) op internal::ParamValueOf<B>::get(b);             \
    }
CALOTYPE_PARAM_OPERATOR(+)
CALOTYPE_PARAM_OPERATOR(-)
CALOTYPE_PARAM_OPERATOR(*)
CALOTYPE_PARAM_OPERATOR(/)
CALOTYPE_PARAM_OPERATOR(%)
CALOTYPE_PARAM_OPERATOR(<)
CALOTYPE_PARAM_OPERATOR(>)
CALOTYPE_PARAM_OPERATOR(<=)
CALOTYPE_PARAM_OPERATOR(>=)
CALOTYPE_PARAM_OPERATOR(==)
CALOTYPE_PARAM_OPERATOR(!=)
CALOTYPE_PARAM_OPERATOR(&&)
CALOTYPE_PARAM_OPERATOR(||)
CALOTYPE_PARAM_OPERATOR(<<)
CALOTYPE_PARAM_OPERATOR(>>)
CALOTYPE_PARAM_OPERATOR(&)
CALOTYPE_PARAM_OPERATOR(|)
CALOTYPE_PARAM_OPERATOR(^)
#undef CALOTYPE_PARAM_OPERATOR
// NOLINTEND

template<typename T>
auto operator!(const GeneratorParam<T> &a) -> decltype(!a.value()) {
    return !a.value();
}
template<typename T>
auto operator-(const GeneratorParam<T> &a) -> decltype(-a.value()) {
    return -a.value();
}
template<typename T>
auto operator~(const GeneratorParam<T> &a) -> decltype(~a.value()) {
    return ~a.value();
}

namespace internal {
// Found beside std::min and calotype::min, which take both operands alike.
template<typename A, typename B>
auto min_of(const A &a, const B &b) {
    using std::min;
    using R = decltype(a + b);
    return min(R(a), R(b));
}
template<typename A, typename B>
auto max_of(const A &a, const B &b) {
    using std::max;
    using R = decltype(a + b);
    return max(R(a), R(b));
}
}  // namespace internal

template<typename A, typename B, typename = internal::IfAnyParam<A, B>>
auto min(const A &a, const B &b) {
    return internal::min_of(internal::ParamValueOf<A>::get(a), internal::ParamValueOf<B>::get(b));
}
template<typename A, typename B, typename = internal::IfAnyParam<A, B>>
auto max(const A &a, const B &b) {
    return internal::max_of(internal::ParamValueOf<A>::get(a), internal::ParamValueOf<B>::get(b));
}

}  // namespace calotype
