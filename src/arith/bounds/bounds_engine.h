// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The walk behind bounds_of_expr and the boxes. Not for passes: use arith/bounds.h and arith/box.h.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arith/bounds.h"

namespace calotype::internal {

/// Names for large ends, so that no end grows without limit. A definition uses only earlier names
/// and variables that the result may contain.
class EndNames {
public:
    /// e itself if it is small, else a fresh variable that stands for it.
    Expr keep_small(const Expr &e);
    Interval keep_small(const Interval &i);

    /// e with a Let around it for each name that it needs.
    Expr wrap(const Expr &e) const;
    Interval wrap(const Interval &i) const;

private:
    std::vector<std::pair<std::string, Expr>> definitions_;
    std::unordered_map<std::string, size_t> index_;
};

/// What is known of an expression: symbolic ends, and a constant range that is always sound by
/// itself. The range is what decides on overflow and signs; the ends are what callers want.
struct Bounded {
    Interval ends;
    ConstantInterval range;

    bool is_point() const {
        return ends.is_single_point();
    }
};

/// Computes bounds bottom up, once a node. One object may be asked about several expressions, as
/// long as the scope it was made with does not change.
class BoundsEngine {
public:
    BoundsEngine(const Scope<Interval> &vars, const FuncValueBounds &funcs, bool const_bound,
                 EndNames &names);

    Bounded bounds(const Expr &e);

private:
    /// The expression is held, so that its address is not used again while it is a key.
    struct Known {
        Expr expression;
        Bounded bounded;
    };
    using Memo = std::unordered_map<const ExprNode *, Known>;

    /// The range of values of type t whose exact range is r: what leaves a type that wraps may be
    /// anything in it; of other types, an end outside of the type says nothing.
    static ConstantInterval fit(const ConstantInterval &r, Type t);

    // What is known without looking into an expression.
    Bounded of_type(Type t) const;
    Bounded of_range(const ConstantInterval &r, Type t) const;
    Bounded of_point(const Expr &e, const ConstantInterval &r) const;
    Bounded of_interval(const Interval &i, Type t);

    /// Make ends and range agree, drop what is larger than the type, and keep the ends small.
    Bounded finish(Bounded b, Type t);
    Bounded compute(const Expr &e);

    // The rules, one a node. bounds.cpp:
    Bounded visit(const IntImm *op);
    Bounded visit(const UIntImm *op);
    Bounded visit(const FloatImm *op);
    Bounded visit(const StringImm *op);
    Bounded visit(const Broadcast *op);
    Bounded visit(const Cast *op);
    Bounded visit(const Reinterpret *op);
    Bounded visit(const Variable *op);
    Bounded visit(const Select *op);
    Bounded visit(const Load *op);
    Bounded visit(const Ramp *op);
    Bounded visit(const Let *op);
    Bounded visit(const Shuffle *op);
    Bounded visit(const VectorReduce *op);

    // bounds_operators.cpp:
    Bounded visit(const Add *op);
    Bounded visit(const Sub *op);
    Bounded visit(const Mul *op);
    Bounded visit(const Div *op);
    Bounded visit(const Mod *op);
    Bounded visit(const Min *op);
    Bounded visit(const Max *op);
    Bounded visit(const EQ *op);
    Bounded visit(const NE *op);
    Bounded visit(const LT *op);
    Bounded visit(const LE *op);
    Bounded visit(const GT *op);
    Bounded visit(const GE *op);
    Bounded visit(const And *op);
    Bounded visit(const Or *op);
    Bounded visit(const Not *op);
    Bounded add(const Bounded &a, const Bounded &b, Type t);
    Bounded sub(const Bounded &a, const Bounded &b, Type t);
    Bounded mul(const Bounded &a, const Bounded &b, Type t);
    Bounded div(const Bounded &a, const Bounded &b, Type t);
    Bounded mod(const Bounded &a, const Bounded &b, Type t);
    Bounded square(const Bounded &a, Type t);
    Interval float_div(const Bounded &a, const Bounded &b) const;
    Interval int_div(const Bounded &a, const Bounded &b) const;
    Interval int_mod(const Bounded &a, const Bounded &b) const;
    Bounded less(const Bounded &a, const Bounded &b);
    Bounded less_equal(const Bounded &a, const Bounded &b);
    Bounded equals(const Bounded &a, const Bounded &b);
    Bounded negated(const Bounded &a);
    /// The result of an operation with the exact `range` and, where it does not wrap, `ends`.
    Bounded arithmetic(const ConstantInterval &range, const Interval &ends, Type t) const;

    // bounds_cast.cpp:
    Bounded cast(const Bounded &value, Type from, Type to);
    Bounded cast_to_int(const Bounded &value, Type from, Type to);

    // bounds_calls.cpp:
    Bounded visit(const Call *op);
    Bounded func_call(const Call *op);
    Bounded intrinsic(const Call *op);
    bool bit_intrinsic(const Call *op, Bounded *result);
    bool float_intrinsic(const Call *op, Bounded *result);
    bool choice_intrinsic(const Call *op, Bounded *result);
    Bounded shift(const Call *op, bool left);
    Bounded bitwise(const Call *op);
    Bounded absolute(const Call *op);
    ConstantInterval range_of_call(const Call *op);
    Bounded promise(const Call *op);
    Bounded promised_point(const Call *op, const Bounded &value);
    Bounded rounding(const Call *op);
    /// The call with its arguments replaced by their point values, if each is one.
    Bounded pure_call(const Call *op);

    Bounded choice(const Expr &condition, const Expr &a, const Expr &b);
    bool one_side_moves(const Expr &condition, const Interval &a, const Interval &b) const;
    Bounded under_condition(const Expr &condition, const Expr &e);
    using Narrowed = std::vector<std::pair<std::string, Interval>>;
    Narrowed narrowed_by(const Expr &condition) const;
    Bounded make_union(const Bounded &a, const Bounded &b, Type t) const;

    const Scope<Interval> &vars_;
    const FuncValueBounds &funcs_;
    const bool const_bound_;
    EndNames &names_;
    Scope<Bounded> lets_;
    Memo memo_;
    /// A branch that is narrowed is walked again, so these keep the cost linear: of branches that are
    /// in no narrowed one, and of those inside.
    int narrowings_left_ = 16;
    int inner_narrowings_left_ = 32;
    bool inside_narrowed_ = false;
};

}  // namespace calotype::internal
