// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tuple: several values of perhaps different types, as the value of a Func.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "ir/expr.h"

namespace calotype {

class FuncRef;

/// One or more Exprs. f(x) = Tuple(a, b) gives f two values at each point: f(x)[0] and f(x)[1].
class Tuple {
public:
    /// A Tuple of one.
    explicit Tuple(Expr e) : exprs_{std::move(e)} {
    }
    /// A CompileError if there are none.
    explicit Tuple(const std::vector<Expr> &exprs);
    template<typename... Args>
    Tuple(const Expr &a, const Expr &b, Args &&...rest)
        : exprs_{a, b, Expr(std::forward<Args>(rest))...} {
    }
    /// The values of a Func of several values, called at a point.
    Tuple(const FuncRef &call);

    size_t size() const {
        return exprs_.size();
    }
    /// A CompileError if there is no element i.
    Expr &operator[](size_t i);
    const Expr &operator[](size_t i) const;
    const std::vector<Expr> &as_vector() const {
        return exprs_;
    }

private:
    void check_index(size_t i) const;
    std::vector<Expr> exprs_;
};

/// Element by element. All Tuples must have the same size.
Tuple select(const Tuple &condition, const Tuple &true_value, const Tuple &false_value);
Tuple select(const Expr &condition, const Tuple &true_value, const Tuple &false_value);
/// A chain of conditions and values, at the end the value where none holds.
template<typename... Args>
Tuple select(const Tuple &c0, const Tuple &v0, const Tuple &c1, const Tuple &v1, Args &&...args) {
    return select(c0, v0, select(c1, v1, std::forward<Args>(args)...));
}
template<typename... Args>
Tuple select(const Expr &c0, const Tuple &v0, const Expr &c1, const Tuple &v1, Args &&...args) {
    return select(c0, v0, select(c1, v1, std::forward<Args>(args)...));
}

/// values[id]; the last one where id is out of range.
Expr mux(const Expr &id, const Tuple &values);
Tuple mux(const Expr &id, const std::vector<Tuple> &values);
Tuple mux(const Expr &id, const std::initializer_list<Tuple> &values);
Expr mux(const Expr &id, const std::initializer_list<FuncRef> &values);

}  // namespace calotype
