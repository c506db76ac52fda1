// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Part of Halide.h: what can be found out about expressions: simplification, bounds, alignment,
// solving, matching; and the functions of a pipeline.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "arith/alignment_analysis.h"
#include "arith/bounds.h"
#include "arith/box.h"
#include "arith/const_bounds.h"
#include "arith/cse.h"
#include "arith/interval.h"
#include "arith/monotonic.h"
#include "arith/simplify.h"
#include "arith/solve.h"
#include "calotype.h"
#include "halide_constant_interval.h"
#include "halide_ir.h"

namespace calotype {
namespace Internal {

using internal::and_condition_over_domain;
using internal::Box;
using internal::box_contains;
using internal::box_intersection;
using internal::box_provided;
using internal::box_required;
using internal::box_touched;
using internal::box_union;
using internal::boxes_overlap;
using internal::boxes_provided;
using internal::boxes_required;
using internal::boxes_touched;
using internal::common_subexpression_elimination;
using internal::Direction;
using internal::find_constant_bound;
using internal::find_constant_bounds;
using internal::FuncValueBounds;
using internal::Interval;
using internal::merge_boxes;
using internal::Monotonic;
using internal::solve_expression;
using internal::solve_for_inner_interval;
using internal::solve_for_outer_interval;
using internal::SolverResult;

/// The order of less_than for std::set and std::map; the same for graphs.
struct IRDeepCompare {
    template<typename IR>
    bool operator()(const IR &a, const IR &b) const {
        return less_than(a, b);
    }
};
using IRGraphDeepCompare = IRDeepCompare;

/// The integers x with x == remainder (mod modulus); modulus 0: the remainder alone.
struct ModulusRemainder : internal::Alignment {
    using Alignment::Alignment;
    ModulusRemainder() = default;
    ModulusRemainder(const Alignment &a) : Alignment(a) {
    }
    /// What holds of a member of either; what is in both.
    static ModulusRemainder unify(const ModulusRemainder &a, const ModulusRemainder &b) {
        return internal::union_of(a, b);
    }
    static ModulusRemainder intersect(const ModulusRemainder &a, const ModulusRemainder &b) {
        return internal::intersection(a, b);
    }
};
ModulusRemainder operator+(const ModulusRemainder &a, const ModulusRemainder &b);
ModulusRemainder operator-(const ModulusRemainder &a, const ModulusRemainder &b);
ModulusRemainder operator*(const ModulusRemainder &a, const ModulusRemainder &b);
ModulusRemainder operator/(const ModulusRemainder &a, const ModulusRemainder &b);
ModulusRemainder operator%(const ModulusRemainder &a, const ModulusRemainder &b);

ModulusRemainder modulus_remainder(const Expr &e, const Scope<ModulusRemainder> &variables);
/// False if it is not known.
bool reduce_expr_modulo(const Expr &e, int64_t modulus, int64_t *remainder);

using internal::make_intersection;
using internal::make_union;
/// With what is known of variables, and with conditions that hold.
Expr simplify(const Expr &e, const Scope<Interval> &bounds,
              const Scope<ModulusRemainder> &alignments = Scope<ModulusRemainder>(),
              const std::vector<Expr> &assumptions = {});
Stmt simplify(const Stmt &s, const Scope<Interval> &bounds,
              const Scope<ModulusRemainder> &alignments = Scope<ModulusRemainder>(),
              const std::vector<Expr> &assumptions = {});
bool can_prove(const Expr &condition, const Scope<Interval> &bounds);

Interval bounds_of_expr_in_scope(const Expr &e, const Scope<Interval> &variables,
                                 const FuncValueBounds &funcs = {}, bool const_bound = false);
ConstantInterval
constant_integer_bounds(const Expr &e,
                        const Scope<ConstantInterval> &variables = Scope<ConstantInterval>());
/// By how much e may change if the variable grows by one.
ConstantInterval
derivative_bounds(const Expr &e, const std::string &variable,
                  const Scope<ConstantInterval> &others = Scope<ConstantInterval>());
/// e as a t if no value that it can have is changed by that, else undefined.
Expr lossless_cast(Type t, const Expr &e);
Monotonic is_monotonic(const Expr &e, const std::string &variable,
                       const Scope<ConstantInterval> &others = Scope<ConstantInterval>());

/// A value that is known to be from min to max; the compiler may use that.
Expr promise_clamped(const Expr &value, const Expr &min, const Expr &max);
/// Stands where no program gets to.
Expr unreachable(const Type &t = Int(32));

/// Whether e has the pattern's form. Variables of the pattern that are named "*" stand for any
/// expression of their type, and `matched` gets those in order; the second form has variables of
/// any names, each of which stands for one expression.
bool expr_match(const Expr &pattern, const Expr &e, std::vector<Expr> &matched);
bool expr_match(const Expr &pattern, const Expr &e, std::map<std::string, Expr> &matched);

/// The operands of a conjunction (disjunction) of any depth, left to right, behind those there are.
void split_into_ands(const Expr &condition, std::vector<Expr> &operands);
void split_into_ors(const Expr &condition, std::vector<Expr> &operands);

/// All functions that f calls, directly or not, and f itself.
std::map<std::string, Function> find_transitive_calls(const Function &f);
/// Names of the Funcs, each behind those that it calls; and the groups of those that are computed
/// together, in that order.
std::pair<std::vector<std::string>, std::vector<std::vector<std::string>>>
realization_order(const std::vector<Function> &outputs, std::map<std::string, Function> &env);
/// Specializations on conditions that are known are dropped, or take the place of all behind them.
void simplify_specializations(std::map<std::string, Function> &env);
/// Put the definition of a pure Func in place of its calls in all definitions of another.
void inline_function(Function caller, const Function &f);
/// The code of a pipeline as it is given to a back end.
Stmt lower_main_stmt(const std::vector<Function> &outputs, const std::string &name,
                     const Target &target);

}  // namespace Internal

// Found by their arguments' namespace, which is that one.
namespace internal {
using Internal::inline_function;
using Internal::simplify_specializations;
}  // namespace internal

}  // namespace calotype
