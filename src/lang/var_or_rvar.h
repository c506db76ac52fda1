// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// VarOrRVar: a loop, named by a Var or by an RVar, as schedule directives take it.
#pragma once

#include <string>
#include <type_traits>

#include "lang/rdom.h"
#include "lang/var.h"

namespace calotype {

struct VarOrRVar {
    VarOrRVar(const std::string &name, bool is_rvar)
        : var(is_rvar ? "undefined" : name), rvar(is_rvar ? name : "undefined"), is_rvar(is_rvar) {
    }
    VarOrRVar(const Var &v) : var(v), rvar("undefined"), is_rvar(false) {
    }
    VarOrRVar(const RVar &r) : var("undefined"), rvar(r), is_rvar(true) {
    }
    /// A CompileError unless the domain has one dimension.
    VarOrRVar(const RDom &r) : var("undefined"), rvar(r.operator RVar()), is_rvar(true) {
    }
    template<int N>
    VarOrRVar(const ImplicitVar<N> &v) : VarOrRVar(v.to_var()) {
    }
    const std::string &name() const {
        return is_rvar ? rvar.name() : var.name();
    }

    Var var;
    RVar rvar;
    bool is_rvar;
};

inline bool is_reduction_variable(const VarOrRVar &v) {
    return v.is_rvar;
}

namespace internal {

/// Enables a variadic directive only if all arguments are loops.
template<typename... Args>
using IfLoops = std::enable_if_t<(std::is_convertible<Args, VarOrRVar>::value && ...)>;

}  // namespace internal

}  // namespace calotype
