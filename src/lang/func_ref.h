// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// FuncRef: a Func applied to coordinates: f(x, y). Assigned to, it defines f; used as a value, it
// calls f.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/operators.h"
#include "lang/tuple.h"
#include "lang/var.h"
#include "pipeline/function.h"

namespace calotype {

class FuncTupleElementRef;
class Stage;

/// The first assignment to a Func gives its pure definition: all coordinates must be different
/// Vars. Each later one is an update definition, whose coordinates may be any int32 expressions of
/// the pure Vars and of one RDom.
///
///     f(x, y) = x + y;          // pure definition
///     f(x, 0) = 3;              // update 0: for all x
///     f(r.x, r.y) += 2;         // update 1: over the domain r
class FuncRef {
public:
    /// `placeholder` is the position at which `_` stood among the coordinates, -1 if nowhere;
    /// `implicit_count` the number of implicit variables already put there.
    FuncRef(const internal::Function &f, const std::vector<Expr> &args, int placeholder = -1,
            int implicit_count = 0);
    FuncRef(const internal::Function &f, const std::vector<Var> &args, int placeholder = -1,
            int implicit_count = 0);
    FuncRef(const FuncRef &) = default;

    /// Define. A CompileError says which coordinate or value is wrong.
    Stage operator=(const Expr &e);
    Stage operator=(const Tuple &values);
    Stage operator=(const FuncRef &other);

    /// Update with the present value: f(x) += e means f(x) = f(x) + e. If f has no pure definition
    /// yet, it first gets one that is 0 everywhere (1 for *= and /=).
    Stage operator+=(const Expr &e);
    Stage operator+=(const Tuple &values);
    Stage operator+=(const FuncRef &other);
    Stage operator-=(const Expr &e);
    Stage operator-=(const Tuple &values);
    Stage operator-=(const FuncRef &other);
    Stage operator*=(const Expr &e);
    Stage operator*=(const Tuple &values);
    Stage operator*=(const FuncRef &other);
    Stage operator/=(const Expr &e);
    Stage operator/=(const Tuple &values);
    Stage operator/=(const FuncRef &other);

    /// The value of a Func of one value, which must be defined.
    operator Expr() const;
    /// Type of the value, or of each value.
    const Type &type() const;
    const std::vector<Type> &types() const;
    /// Value i of a Func of several.
    FuncTupleElementRef operator[](int i) const;
    /// Number of values.
    size_t size() const;
    /// True if both refer to the same Func at equal coordinates.
    bool equivalent_to(const FuncRef &other) const;
    internal::Function function() const {
        return func_;
    }

private:
    friend class FuncTupleElementRef;
    enum class Op { Add, Sub, Mul, Div };
    std::vector<Expr> args_for(const std::vector<Expr> &values) const;
    FuncRef with_base_case(const std::vector<Expr> &values, int initial) const;
    Stage update(Op op, const std::vector<Expr> &values);
    Stage update(Op op, const FuncRef &other);

    internal::Function func_;
    int placeholder_;
    int implicit_count_;
    std::vector<Expr> args_;
};

/// One value of a Func of several: f(x, y)[1].
class FuncTupleElementRef {
public:
    FuncTupleElementRef(const FuncRef &ref, int index);

    /// Redefine this value, leave the others as they are. The Func must have its pure definition.
    Stage operator=(const Expr &e);
    Stage operator=(const FuncRef &e);
    Stage operator+=(const Expr &e);
    Stage operator-=(const Expr &e);
    Stage operator*=(const Expr &e);
    Stage operator/=(const Expr &e);

    operator Expr() const;
    internal::Function function() const {
        return ref_.function();
    }
    int index() const {
        return index_;
    }

private:
    Stage assign(const Expr &e, const char *what);
    FuncRef ref_;
    int index_;
};

// Without these, a call with Func values alone could mean the templates of the standard library, or
// Tuples.
Expr min(const FuncRef &a, const FuncRef &b);
Expr max(const FuncRef &a, const FuncRef &b);
Expr select(const Expr &condition, const FuncRef &true_value, const FuncRef &false_value);
template<typename... Args>
Expr select(const Expr &c0, const FuncRef &v0, const Expr &c1, const FuncRef &v1, Args &&...args) {
    return select(c0, Expr(v0), c1, Expr(v1), std::forward<Args>(args)...);
}

namespace internal {
/// Call of value `index` of a defined Func. A CompileError if the number of coordinates or a type
/// is wrong.
Expr make_func_call(const Function &f, const std::vector<Expr> &args, int index);
/// Each coordinate as an int32; a CompileError that names `what` if one cannot be.
std::vector<Expr> as_coordinates(const std::string &what, const std::vector<Expr> &args);
/// Replaces `_` in args by `_0`, `_1`, ... up to `dimensions` in all (dimensions < 0: only takes it
/// out). Gives the position at which it stood, or -1, and how many were put in.
int expand_placeholder(const std::string &what, std::vector<Expr> &args, int dimensions,
                       int *count);
}  // namespace internal

}  // namespace calotype
