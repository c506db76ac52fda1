// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of functions that a Linkable supplies: in kernels the device's, in host code those of its
// host bitcode, or else the C functions of the same names.
//
//     Linkable rng = Linkable::from_path("rng.ltoir");
//     f(x) = extern_device_call(rng, "rng_next", Int(32), {x, 7});       // may have effects
//     f(x) = pure_extern_device_call(rng, "noise", Float(32), {x, y});   // of its arguments alone
#pragma once

#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/expr.h"
#include "lang/tuple.h"
#include "linkables/linkable.h"

namespace calotype {

/// An argument: a scalar, or several of one type that the function takes as one vector (a float4 of
/// CUDA C++ is {r, g, b, a}).
class ExternDeviceArgument {
public:
    template<typename T, typename = std::enable_if_t<std::is_convertible<const T &, Expr>::value>>
    ExternDeviceArgument(const T &value) : lanes_{Expr(value)} {
    }
    ExternDeviceArgument(std::initializer_list<Expr> lanes) : lanes_(lanes) {
    }
    ExternDeviceArgument(const Tuple &lanes) : lanes_(lanes.as_vector()) {
    }

    const std::vector<Expr> &lanes() const {
        return lanes_;
    }

private:
    std::vector<Expr> lanes_;
};

/// A list of them: {x, 1.5f, {r, g, b, a}}, or a vector of scalars.
class ExternDeviceArguments {
public:
    ExternDeviceArguments() = default;
    ExternDeviceArguments(std::initializer_list<ExternDeviceArgument> args) : args_(args) {
    }
    ExternDeviceArguments(const std::vector<ExternDeviceArgument> &args) : args_(args) {
    }
    ExternDeviceArguments(const std::vector<Expr> &scalars)
        : args_(scalars.begin(), scalars.end()) {
    }

    const std::vector<ExternDeviceArgument> &list() const {
        return args_;
    }

private:
    std::vector<ExternDeviceArgument> args_;
};

/// A call with perhaps effects: it is made once for each point that is computed, never moved across
/// others, dropped or made twice. The function's parameters have the types of the arguments, its
/// result is a scalar of type `result`. CompileErrors name the function and the argument.
Expr extern_device_call(const Linkable &linkable, const std::string &function, const Type &result,
                        const ExternDeviceArguments &args = {});

/// A call whose value depends on its arguments alone: it may be left out, made twice or made
/// earlier.
Expr pure_extern_device_call(const Linkable &linkable, const std::string &function,
                             const Type &result, const ExternDeviceArguments &args = {});

/// The same of a function that yields a vector: `result` is Float(32, 4) for a float4, and the
/// Tuple has its components.
Tuple pure_extern_device_call_vector(const Linkable &linkable, const std::string &function,
                                     const Type &result, const ExternDeviceArguments &args = {});

/// The address of a variable or function that the linkable defines, to be passed to its functions.
Expr extern_device_symbol(const Linkable &linkable, const std::string &symbol);

}  // namespace calotype
