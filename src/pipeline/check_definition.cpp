// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/check_definition.h"

#include <algorithm>
#include <set>

#include "ir/equality.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "support/error.h"

namespace calotype::internal {

DefinitionCheck::DefinitionCheck(std::string func, std::string what,
                                 const std::vector<std::string> &pure_args,
                                 const ReductionDomain &domain)
    : func_(std::move(func)), what_(std::move(what)), domain_(domain) {
    for (const std::string &arg : pure_args) {
        bound_.push(arg);
    }
}

void DefinitionCheck::visit(const Variable *op) {
    check_has_values(what_, op->type);
    if (!op->symbol.defined()) {
        user_assert(bound_.contains(op->name))
            << what_ << " uses variable " << op->name << ", which is none of its arguments";
        return;
    }
    if (op->symbol->kind != SymbolKind::ReductionDomain) {
        return;
    }
    ReductionDomain d(op->symbol);
    if (!domain_.defined()) {
        domain_ = d;
    }
    first_rvar_ = first_rvar_.empty() ? op->name : first_rvar_;
    user_assert(domain_.same_as(d)) << what_ << " uses RVars of two reduction domains, "
                                    << domain_.symbol()->name << " and " << d.symbol()->name;
}

void DefinitionCheck::visit(const Let *op) {
    (*this)(op->value);
    ScopedBinding<> bind(bound_, op->name);
    (*this)(op->body);
}

void DefinitionCheck::visit(const Cast *op) {
    check_has_values(what_, op->type);
    GraphVisitor::visit(op);
}

void DefinitionCheck::visit(const Call *op) {
    check_has_values(what_, op->type);
    GraphVisitor::visit(op);
    if (op->call_type != CallKind::Func) {
        return;
    }
    if (op->name == func_) {
        calls_self_ = true;
    }
    if (op->symbol.defined()) {
        called_.push_back(Function(op->symbol).contents());
    }
}

namespace {

bool is_plain_var(const Expr &e, const std::string &name) {
    const Variable *v = e.as<Variable>();
    return v && !v->symbol.defined() && v->name == name;
}

class CallsOfSelf : public GraphVisitor {
public:
    CallsOfSelf(const std::string &what, const std::string &func,
                const std::vector<std::string> &pure_args, const std::vector<Expr> &args)
        : what_(what), func_(func) {
        // A Var in the place of another dimension, as the second one in f(x, x), is pure in its
        // own.
        for (size_t i = 0; i < args.size(); i++) {
            const Variable *v = args[i].as<Variable>();
            const bool is_pure =
                v && !v->symbol.defined() && i < pure_args.size() && v->name == pure_args[i];
            pure_in_place_.push_back(is_pure ? v->name : "");
        }
    }

private:
    using GraphVisitor::visit;
    void visit(const Call *op) override {
        GraphVisitor::visit(op);
        if (op->call_type != CallKind::Func || op->name != func_) {
            return;
        }
        for (size_t i = 0; i < pure_in_place_.size() && i < op->args.size(); i++) {
            const std::string &pure = pure_in_place_[i];
            user_assert(pure.empty() || is_plain_var(op->args[i], pure))
                << what_ << " calls " << func_ << " at " << op->args[i] << " in place of " << pure
                << ": a Var of the left side must stand in the same place in calls of the func "
                << "itself, or be an RVar";
        }
    }

    const std::string &what_, &func_;
    std::vector<std::string> pure_in_place_;
};

using Conditions = std::set<Expr, ExprDeepLess>;

/// The conditions of selects that choose undef.
class UndefConditions : public GraphVisitor {
public:
    Conditions conditions;

private:
    using GraphVisitor::visit;
    void visit(const Select *op) override {
        if (contains_intrinsic(op->true_value, Intrinsic::undef) ||
            contains_intrinsic(op->false_value, Intrinsic::undef)) {
            conditions.insert(op->condition);
        }
        GraphVisitor::visit(op);
    }
};

Conditions undef_conditions(const Expr &e) {
    UndefConditions finder;
    finder(e);
    return finder.conditions;
}

/// Whether e is value i of the Func at those coordinates.
bool is_value_at(const Expr &e, const std::string &func, const std::vector<Expr> &args, int i) {
    const Call *call = e.as<Call>();
    return call && call->call_type == CallKind::Func && call->name == func &&
           call->value_index == i &&
           std::equal(call->args.begin(), call->args.end(), args.begin(), args.end(),
                      [](const Expr &x, const Expr &y) { return equal(x, y); });
}

bool agree(const Conditions &a, const Conditions &b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Expr &x, const Expr &y) { return equal(x, y); });
}

}  // namespace

void check_has_values(const std::string &what, const Type &t) {
    const int bits = t.bits();
    const bool is_float_size = bits == 16 || (!t.is_bfloat() && (bits == 32 || bits == 64));
    user_assert(t.is_float() ? is_float_size : !t.is_int_or_uint() || (bits >= 1 && bits <= 64))
        << what << " has a part of type " << t
        << ", of which there are no values: integers have 1 to 64 bits, floats 16, 32 or 64";
}

void check_calls_of_self(const std::string &what, const std::string &func,
                         const std::vector<std::string> &pure_args, const std::vector<Expr> &args,
                         const std::vector<Expr> &values) {
    CallsOfSelf check(what, func, pure_args, args);
    for (const Expr &e : args) {
        check(e);
    }
    for (const Expr &e : values) {
        check(e);
    }
}

void check_undefs_agree(const std::string &what, const std::string &func,
                        const std::vector<Expr> &args, const std::vector<Expr> &values) {
    if (values.size() < 2) {
        return;
    }
    const char *wording = " is undef under other conditions than ";
    const Expr *first = nullptr;  // of those that are undef at times
    for (const Expr &e : args) {
        const Conditions conditions = undef_conditions(e);
        if (!conditions.empty()) {
            user_assert(!first || agree(conditions, undef_conditions(*first)))
                << what << ": coordinate " << e << wording << *first;
            first = &e;
        }
    }
    if (first) {
        return;  // that decides for all values
    }
    for (size_t i = 0; i < values.size(); i++) {
        const Expr &e = values[i];
        if (is_value_at(e, func, args, int(i))) {
            continue;  // left as it is
        }
        const Conditions conditions = undef_conditions(e);
        if (conditions.empty() && contains_intrinsic(e, Intrinsic::undef)) {
            continue;  // never stored
        }
        user_assert(!first || agree(conditions, undef_conditions(*first)))
            << what << ": value " << e << wording << *first;
        first = &e;
    }
}

}  // namespace calotype::internal
