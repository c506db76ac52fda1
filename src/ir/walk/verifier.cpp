// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nodes check their operands when they are made; what is checked here needs the context of a node
// or the meaning of a call. The rules for the operands of intrinsics are a table, one row a family.
#include "ir/verifier.h"

#include <algorithm>
#include <unordered_set>

#include "ir/conventions/runtime_calls.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include "ir/walk/field_walk.h"
#include "support/error.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

/// What must hold of the types of an intrinsic's arguments and result; lanes are equal in all of
/// them.
enum class Rule {
    None,
    Same,          ///< arguments and result of one type
    SameInteger,   ///< the same, of integers
    SameFloat,     ///< the same, of floats
    Test,          ///< a float to Bool
    FloatCompare,  ///< two floats of one type to Bool
    Unsigned,      ///< the result is the unsigned or float type of the arguments' bits
    Shift,         ///< integers of one width; the result is of the first's type
    Widening,      ///< two integers of one width to an integer of twice the width
    WidenRight,    ///< the result is of the first's type, the second has half its bits
    First,         ///< the result is of the first's type
    Second,        ///< the result is of the second's type
    Choice,        ///< Bool, then one or two values of the result's type
};

struct RuleRow {
    Rule rule;
    std::vector<Intrinsic> intrinsics;
};

const std::vector<RuleRow> &rule_table() {
    using I = Intrinsic;
    static const std::vector<RuleRow> table = {
        {Rule::SameInteger,
         {I::bitwise_and, I::bitwise_not, I::bitwise_or, I::bitwise_xor, I::popcount,
          I::count_leading_zeros, I::count_trailing_zeros, I::div_round_to_zero,
          I::mod_round_to_zero, I::saturating_add, I::saturating_sub, I::halving_add,
          I::halving_sub, I::rounding_halving_add}},
        {Rule::SameFloat,
         {I::sqrt,          I::sin,           I::cos,        I::tan,          I::asin,
          I::acos,          I::atan,          I::atan2,      I::sinh,         I::cosh,
          I::tanh,          I::asinh,         I::acosh,      I::atanh,        I::exp,
          I::log,           I::pow,           I::erf,        I::fma,          I::floor,
          I::ceil,          I::round,         I::trunc,      I::fast_inverse, I::fast_inverse_sqrt,
          I::round_to_tf32, I::trunc_to_tf32, I::strict_add, I::strict_sub,   I::strict_mul,
          I::strict_div,    I::strict_min,    I::strict_max, I::strict_fma}},
        {Rule::Test, {I::is_nan, I::is_inf, I::is_finite}},
        {Rule::FloatCompare, {I::strict_eq, I::strict_lt, I::strict_le}},
        {Rule::Unsigned, {I::abs, I::absd}},
        {Rule::Shift,
         {I::shift_left, I::shift_right, I::rounding_shift_left, I::rounding_shift_right}},
        {Rule::Widening,
         {I::widening_add, I::widening_mul, I::widening_sub, I::widening_shift_left,
          I::widening_shift_right}},
        {Rule::WidenRight, {I::widen_right_add, I::widen_right_mul, I::widen_right_sub}},
        {Rule::Same,
         {I::likely, I::likely_if_innermost, I::strict_float, I::promise_clamped,
          I::unsafe_promise_clamped, I::scatter_gather}},
        {Rule::First, {I::memoize_expr, I::mul_shift_right, I::rounding_mul_shift_right, I::lerp}},
        {Rule::Second, {I::return_second}},
        {Rule::Choice, {I::if_then_else}},
    };
    return table;
}

Rule rule_of(Intrinsic id) {
    for (const RuleRow &row : rule_table()) {
        if (std::find(row.intrinsics.begin(), row.intrinsics.end(), id) != row.intrinsics.end()) {
            return row.rule;
        }
    }
    return Rule::None;
}

bool all_of_type(const std::vector<Expr> &args, Type t) {
    return std::all_of(args.begin(), args.end(), [&](const Expr &e) { return e.type() == t; });
}

bool is_same(const Call *op) {
    return all_of_type(op->args, op->type);
}

/// True if the types of a call obey the rule. The number of arguments was checked when it was made.
bool obeys(const Call *op, Rule rule) {
    const std::vector<Expr> &args = op->args;
    const Type t = op->type;
    if (rule == Rule::None) {
        return true;
    }
    if (args.empty()) {
        return false;
    }
    const Type first = args[0].type();
    const Type second = args.size() > 1 ? args[1].type() : first;
    switch (rule) {
    case Rule::None:
        return true;
    case Rule::Same:
        return is_same(op);
    case Rule::SameInteger:
        return is_same(op) && t.is_int_or_uint();
    case Rule::SameFloat:
        return is_same(op) && t.is_float();
    case Rule::Test:
        return first.is_float() && t == Bool(first.lanes());
    case Rule::FloatCompare:
        return all_of_type(args, first) && first.is_float() && t == Bool(first.lanes());
    case Rule::Unsigned:
        return all_of_type(args, first) &&
               t == (first.is_int() ? first.with_code(Type::UInt) : first);
    case Rule::Shift:
        return t == first && first.is_int_or_uint() && second.is_int_or_uint() &&
               first.bits() == second.bits() && first.lanes() == second.lanes();
    case Rule::Widening:
        return first.is_int_or_uint() && second.is_int_or_uint() && t.is_int_or_uint() &&
               first.bits() == second.bits() && t.bits() == 2 * first.bits() &&
               t.lanes() == first.lanes() && t.lanes() == second.lanes();
    case Rule::WidenRight:
        return t == first && t.is_int_or_uint() && second.is_int_or_uint() &&
               t.bits() == 2 * second.bits() && t.lanes() == second.lanes();
    case Rule::First:
        return t == first;
    case Rule::Second:
        return t == second;
    case Rule::Choice:
        return (args.size() == 2 || args.size() == 3) && first.is_bool() && t == second &&
               t == args.back().type();
    }
    return false;
}

/// What is about lowering alone and has no code.
bool is_hint(Intrinsic id) {
    return id == Intrinsic::likely || id == Intrinsic::likely_if_innermost ||
           id == Intrinsic::promise_clamped || id == Intrinsic::unsafe_promise_clamped;
}

/// Walks with the types of the names in scope. A shared node is looked at once for each set of
/// names in scope.
class Verifier : public Visitor {
public:
    Verifier(const VerifyOptions &options, const std::string &where)
        : options_(options), where_(where),
          free_names_(options.free_names.begin(), options.free_names.end()) {
    }
    void operator()(const Expr &e) override {
        if (e.defined() && is_first_visit(seen_, e.get())) {
            Visitor::operator()(e);
        }
    }
    void operator()(const Stmt &s) override {
        if (s.defined() && is_first_visit(seen_, s.get())) {
            Visitor::operator()(s);
        }
    }

protected:
    using Visitor::visit;

    void visit(const Variable *op) override {
        if (const Type *bound = names_.find(op->name)) {
            check(bound->code() == op->type.code() && bound->bits() == op->type.bits() &&
                      bound->lanes() == op->type.lanes(),
                  Expr(op),
                  "a variable is used as " + to_string(op->type) + " but bound as " +
                      to_string(*bound));
        } else if (options_.closed && !op->symbol.defined()) {
            // An allocation's name is also its address.
            const bool is_address = op->type.is_handle() && storage_.contains(op->name);
            check(is_address || free_names_.count(op->name) != 0, Expr(op),
                  "a variable is not bound");
        }
    }
    void visit(const Let *op) override {
        (*this)(op->value);
        bind(op->name, op->value.type(), op->body);
    }
    void visit(const LetStmt *op) override {
        (*this)(op->value);
        bind(op->name, op->value.type(), op->body);
    }
    void visit(const For *op) override {
        check(!options_.vector_loops_gone || op->for_type != ForType::Vectorized, Stmt(op),
              "a vectorized loop is left");
        check(!options_.unrolled_loops_gone || op->for_type != ForType::Unrolled, Stmt(op),
              "an unrolled loop is left");
        check(!options_.gpu_loops_gone || !is_gpu(op->for_type), Stmt(op), "a GPU loop is left");
        (*this)(op->min);
        (*this)(op->extent);
        bind(op->name, op->min.type(), op->body);
    }
    void visit(const Call *op) override {
        if (op->is_intrinsic()) {
            check(obeys(op, rule_of(op->intrinsic)), Expr(op),
                  "the types of an intrinsic's operands do not fit");
            check(!options_.hints_gone || !is_hint(op->intrinsic), Expr(op), "a hint is left");
        } else {
            const bool at_coordinates =
                op->call_type == CallKind::Func || op->call_type == CallKind::Image;
            check(!options_.flat_storage || !at_coordinates, Expr(op),
                  "a call at coordinates is left");
            const RuntimeFunctionInfo *function =
                op->call_type == CallKind::Extern ? find_runtime_function(op->name) : nullptr;
            check(!function || function->accepts(op->args), Expr(op),
                  "the arguments of a function of the runtime do not fit");
        }
        Visitor::visit(op);
    }
    void visit(const Load *op) override {
        check(op->index.type().is_int_or_uint(), Expr(op), "an index is not an integer");
        Visitor::visit(op);
    }
    void visit(const Store *op) override {
        check(op->index.type().is_int_or_uint(), Stmt(op), "an index is not an integer");
        Visitor::visit(op);
    }
    void visit(const Provide *op) override {
        check(!options_.flat_storage, Stmt(op), "a provide is left");
        Visitor::visit(op);
    }
    void visit(const Realize *op) override {
        check(!options_.flat_storage, Stmt(op), "a realization is left");
        Visitor::visit(op);
    }
    void visit(const HoistedStorage *op) override {
        check(!options_.hoisting_gone, Stmt(op), "hoisted storage is left");
        Visitor::visit(op);
    }
    void visit(const Atomic *op) override {
        check(!options_.mutexes_gone || op->mutex_name.empty(), Stmt(op), "a mutex is left");
        Visitor::visit(op);
    }
    void visit(const Allocate *op) override {
        for (const Expr &extent : op->extents) {
            (*this)(extent);
        }
        (*this)(op->condition);
        (*this)(op->new_expr);
        const ScopedBinding<> in_scope(storage_, op->name);
        visit_anew(op->body);
    }
    void visit(const Free *op) override {
        check(!options_.closed || storage_.contains(op->name), Stmt(op),
              "what is freed is not allocated here");
    }

private:
    template<typename Handle>
    void bind(const std::string &name, Type t, const Handle &body) {
        const ScopedBinding<Type> binding(names_, name, t);
        visit_anew(body);
    }

    /// Other names are in scope in the body: what was seen outside must be looked at again.
    template<typename Handle>
    void visit_anew(const Handle &body) {
        std::unordered_set<const Node *> seen_outside;
        seen_.swap(seen_outside);
        (*this)(body);
        seen_.swap(seen_outside);
    }

    template<typename Handle>
    void check(bool holds, const Handle &node, const std::string &rule) const {
        if (holds) {
            return;
        }
        constexpr size_t longest = 400;
        std::string text = to_string(node);
        if (text.size() > longest) {
            text = text.substr(0, longest) + "...";
        }
        internal_error << "after " << where_ << ", " << rule << ": " << text;
    }

    const VerifyOptions &options_;
    const std::string &where_;
    const std::unordered_set<std::string> free_names_;
    Scope<Type> names_;
    Scope<> storage_;
    std::unordered_set<const Node *> seen_;
};

}  // namespace

void verify(const Stmt &s, const VerifyOptions &options, const std::string &where) {
    Verifier verifier(options, where);
    verifier(s);
}

void verify(const Expr &e, const VerifyOptions &options, const std::string &where) {
    Verifier verifier(options, where);
    verifier(e);
}

}  // namespace calotype::internal
