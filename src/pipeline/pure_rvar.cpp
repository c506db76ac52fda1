// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two iterations differ in the RVar v. They store to different elements of the Func if some
// argument of the stored element is an injective function of v alone. What one of them reads is not
// what another stores if it has that very argument in that place, or if in some place the two
// arguments can never be equal: their ranges, or their residues modulo some number, have nothing in
// common. Where the domain has one value of v there are no two iterations.
#include "pipeline/pure_rvar.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "arith/alignment_analysis.h"
#include "arith/bounds.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/walk/search.h"
#include "pipeline/associativity.h"

namespace calotype::internal {

namespace {

// The arguments of every call to the Func.
using CallArgs = std::vector<std::vector<Expr>>;

void add_self_calls(const Expr &e, const std::string &func, CallArgs *calls) {
    for_each<Call>(e, [&](const Call *op) {
        if (op->call_type == CallKind::Func && op->name == func) {
            calls->push_back(op->args);
        }
    });
}

bool is_parameter(const Variable *op) {
    return op->symbol.defined() && op->symbol->kind == SymbolKind::Parameter;
}

// Free of anything that varies between iterations: constants and scalar parameters alone.
bool is_fixed(const Expr &e) {
    return !contains_node(e, [](const Node *node) {
        const Variable *variable = node_as<Variable>(node);
        return node->kind == NodeKind::Call || (variable && !is_parameter(variable));
    });
}

bool is_injective_in(const Expr &e, const std::string &v);

bool is_multiple_in(const Expr &injective, const Expr &factor, const std::string &v) {
    return is_const(factor) && !is_const_zero(factor) && is_injective_in(injective, v);
}

bool is_injective_in(const Expr &e, const std::string &v) {
    if (const Variable *op = e.as<Variable>()) {
        return op->name == v;
    }
    if (const Add *op = e.as<Add>()) {
        return (is_injective_in(op->a, v) && is_fixed(op->b)) ||
               (is_injective_in(op->b, v) && is_fixed(op->a));
    }
    if (const Sub *op = e.as<Sub>()) {
        return (is_injective_in(op->a, v) && is_fixed(op->b)) ||
               (is_injective_in(op->b, v) && is_fixed(op->a));
    }
    if (const Mul *op = e.as<Mul>()) {
        return is_multiple_in(op->a, op->b, v) || is_multiple_in(op->b, op->a, v);
    }
    return false;
}

/// Whether two coordinates are never equal, whatever iterations they belong to.
class NeverEqual {
public:
    explicit NeverEqual(const Definition &d) {
        for (const ReductionVariable &rv : d.schedule.rvars) {
            ranges_.push(rv.var, Interval(rv.min, simplify(rv.min + rv.extent - 1)));
        }
    }

    bool operator()(const Expr &a, const Expr &b) const {
        return have_other_residues(a, b) || have_other_ranges(a, b);
    }

private:
    static bool have_other_residues(const Expr &a, const Expr &b) {
        const Alignment x = alignment_of(a), y = alignment_of(b);
        const int64_t common = std::gcd(x.modulus, y.modulus);
        return common > 1 && (x.remainder - y.remainder) % common != 0;
    }

    bool have_other_ranges(const Expr &a, const Expr &b) const {
        const Interval x = range_of(a), y = range_of(b);
        const auto is_below = [](const Expr &max, const Expr &min) {
            return max.defined() && min.defined() && can_prove(max < min);
        };
        return is_below(x.max, y.min) || is_below(y.max, x.min);
    }

    /// Variables of loops that no domain bounds may be anything.
    Interval range_of(const Expr &e) const {
        Scope<Interval> vars;
        vars.set_containing_scope(&ranges_);
        for_each<Variable>(e, [&](const Variable *op) {
            if (!is_parameter(op) && !vars.contains(op->name)) {
                vars.push(op->name, Interval::everything());
            }
        });
        return bounds_of_expr(e, vars);
    }

    Scope<Interval> ranges_;
};

bool has_one_value(const Definition &d, const std::string &rvar) {
    const std::vector<ReductionVariable> &rvars = d.schedule.rvars;
    return std::any_of(rvars.begin(), rvars.end(), [&](const ReductionVariable &rv) {
        return rv.var == rvar && can_prove(rv.extent <= 1);
    });
}

}  // namespace

bool is_pure_rvar(const Definition &d, const std::string &func, const std::string &rvar) {
    if (has_one_value(d, rvar)) {
        return true;
    }
    CallArgs calls;
    for (const std::vector<Expr> &part : {d.values, d.args, {d.predicate}}) {
        for (const Expr &e : part) {
            add_self_calls(e, func, &calls);
        }
    }
    std::vector<bool> injective;
    for (const Expr &arg : d.args) {
        injective.push_back(is_injective_in(arg, rvar));
    }
    if (std::find(injective.begin(), injective.end(), true) == injective.end()) {
        return false;
    }
    const NeverEqual never_equal(d);
    return std::all_of(calls.begin(), calls.end(), [&](const std::vector<Expr> &args) {
        for (size_t i = 0; i < d.args.size(); i++) {
            if ((injective[i] && equal(args[i], d.args[i])) || never_equal(args[i], d.args[i])) {
                return true;
            }
        }
        return false;
    });
}

bool iterations_commute(const Definition &d, const std::string &func) {
    const AssociativeUpdate update = prove_associative(func, d);
    if (update.associative()) {
        return update.commutative;
    }
    CallArgs calls;
    std::set<std::string> kept;  // pure variables that say where to store
    for (const Expr &arg : d.args) {
        add_self_calls(arg, func, &calls);
        const Variable *v = arg.as<Variable>();
        if (v && !v->symbol.defined()) {
            kept.insert(v->name);
        }
    }
    add_self_calls(d.predicate, func, &calls);
    const auto varies = [&](const Node *node) {
        const Variable *variable = node_as<Variable>(node);
        const Call *call = node_as<Call>(node);
        return (variable && !is_parameter(variable) && !kept.count(variable->name)) ||
               (call && !call->is_pure());
    };
    bool varying = false;
    for (const Expr &value : d.values) {
        add_self_calls(value, func, &calls);
        varying = varying || contains_node(value, varies);
    }
    return calls.empty() && !varying;
}

}  // namespace calotype::internal
