// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide_associativity.h"

#include "arith/simplify.h"
#include "pipeline/associativity.h"

namespace calotype {
namespace Internal {

namespace {

using internal::AssociativeUpdate;

AssociativeUpdate prove(const std::string &f, const std::vector<Expr> &args,
                        const std::vector<Expr> &values) {
    Definition update;
    update.args = args;
    update.values = values;
    return internal::prove_associative(f, update);
}

/// The value of the update in terms of what its parts are replaced by.
Expr as_written(const Expr &value, const AssociativeOp::Replacement &x,
                const AssociativeOp::Replacement &y) {
    const auto variable = [](const AssociativeOp::Replacement &r) {
        return Variable::make(r.expr.type(), r.var);
    };
    return substitute(x.expr, variable(x), substitute(y.expr, variable(y), value));
}

}  // namespace

AssociativeOp prove_associativity(const std::string &f, const std::vector<Expr> &args,
                                  const std::vector<Expr> &exprs) {
    std::vector<Expr> values = exprs;
    AssociativeUpdate update = prove(f, args, values);
    if (!update.associative()) {
        for (Expr &value : values) {
            value = internal::simplify(value);
        }
        update = prove(f, args, values);
    }
    AssociativeOp result;
    if (!update.associative()) {
        return result;
    }
    result.is_associative = true;
    result.pattern = {update.ops, update.identities, update.commutative};
    for (size_t i = 0; i < values.size(); i++) {
        const Type t = values[i].type();
        const Expr x = AssociativeUpdate::old_value(t, i), y = AssociativeUpdate::new_value(t, i);
        const Expr old = Call::make(t, f, args, Call::CallType::Func, int(i));
        result.xs.emplace_back(x.as<Variable>()->name, old);
        const bool has_new = !internal::equal(update.ops[i], x);
        result.ys.push_back(has_new ? AssociativeOp::Replacement(y.as<Variable>()->name,
                                                                 internal::simplify(update.ys[i]))
                                    : AssociativeOp::Replacement());
        if (Call::as_intrinsic(update.ops[i], Call::saturating_add)) {
            result.pattern.ops[i] = as_written(values[i], result.xs[i], result.ys[i]);
        }
    }
    return result;
}

}  // namespace Internal
}  // namespace calotype
