// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Var: a name for one dimension of a Func, and the implicit variables `_`, `_0`, `_1`, ...
#pragma once

#include <string>

#include "ir/expr.h"

namespace calotype {

/// A dimension of a Func, or a loop of its schedule. Two Vars of the same name are the same
/// variable.
///
///     Var x, y("y");
///     f(x, y) = x + y;
class Var {
public:
    /// A Var of that name, also in `Var x = {"x"}`. A CompileError if the name is empty or holds a dot.
    Var(const std::string &name);
    /// A Var with a name of its own making.
    Var();

    const std::string &name() const;
    /// True if the names are equal.
    bool same_as(const Var &other) const;

    /// The implicit variable `_n`: stands for the n-th of the coordinates left out by `_`.
    static Var implicit(int n);
    /// True for `_0`, `_1`, ...
    static bool is_implicit(const std::string &name);
    bool is_implicit() const {
        return is_implicit(name());
    }
    /// n for `_n`, -1 for others.
    static int implicit_index(const std::string &name);
    int implicit_index() const {
        return implicit_index(name());
    }
    /// True for `_`.
    static bool is_placeholder(const std::string &name);
    bool is_placeholder() const {
        return is_placeholder(name());
    }

    operator const Expr &() const {
        return expr_;
    }

    /// A name for the loop of extent one around all loops of a stage: compute_at(f,
    /// Var::outermost()) is inside f's production, outside of its loops.
    static Var outermost();

private:
    Expr expr_;
};

inline bool is_reduction_variable(const Var &) {
    return false;
}

/// The type of `_` (N is -1) and of `_0`, `_1`, ...
template<int N = -1>
struct ImplicitVar {
    Var to_var() const {
        return N >= 0 ? Var::implicit(N) : Var("_");
    }
    operator Var() const {
        return to_var();
    }
    operator Expr() const {
        return to_var();
    }
};

/// Stands for all coordinates that are not written out: f(x, _) = g(x, _) + 1 works for any number
/// of dimensions.
static constexpr ImplicitVar<> _;
static constexpr ImplicitVar<0> _0;
static constexpr ImplicitVar<1> _1;
static constexpr ImplicitVar<2> _2;
static constexpr ImplicitVar<3> _3;
static constexpr ImplicitVar<4> _4;
static constexpr ImplicitVar<5> _5;
static constexpr ImplicitVar<6> _6;
static constexpr ImplicitVar<7> _7;
static constexpr ImplicitVar<8> _8;
static constexpr ImplicitVar<9> _9;

}  // namespace calotype
