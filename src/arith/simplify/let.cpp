// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variables and lets, in expressions and statements. Values that are cheaper to repeat than to name
// are substituted; other values leave their bounds and alignment with the name. Lets that end up
// without a use are dropped afterwards (dead_code.cpp), all at once.
#include "arith/simplify/simplifier.h"
#include "ir/constants.h"
#include "ir/queries.h"

namespace calotype::internal {

namespace {

// A constant, a variable, a variable plus a constant, or a vector made of these.
bool is_repeatable(const Expr &e) {
    if (const auto *b = e.as<Broadcast>()) {
        return is_repeatable(b->value);
    }
    if (const auto *r = e.as<Ramp>()) {
        return is_repeatable(r->base) && is_const(r->stride);
    }
    if (const auto *a = e.as<Add>()) {
        return a->a.as<Variable>() && is_const(a->b);
    }
    return e.as<Variable>() || (is_const(e) && !e.as<StringImm>());
}

// Values that linear.cpp and fused.cpp may look into: small sums, clamps, quotients and remainders
// of int32 and int64.
bool keeps_value(const Expr &e) {
    if (is_promise(e)) {
        return keeps_value(e.as<Call>()->args[0]);
    }
    const bool sum = e.as<Min>() || e.as<Max>() || e.as<Add>() || e.as<Sub>();
    const bool part = e.as<Div>() || e.as<Mod>();
    return (sum || part) && e.type().is_scalar() && e.type().is_int() && e.type().bits() >= 32 &&
           is_simple(e);
}

// A let in an expression goes at once if it can, so that what is around sees its body; the others
// wait for dead_code.cpp, which decides them all in one walk.
bool can_drop(const Let *, const std::string &name, const Expr &value, const Expr &body) {
    return !has_effects(value) && !uses_var(body, name);
}

bool can_drop(const LetStmt *, const std::string &, const Expr &value, const Stmt &body) {
    return !body.defined() && !has_effects(value);
}

Expr without_body(const Let *, const Expr &) {
    internal_error << "let without a body";
}

Stmt without_body(const LetStmt *, const Expr &value) {
    return Evaluate::make(value);
}

// `let v = ramp(b, 1, 8)` names b instead, so that what indexes by v is seen to be dense: v becomes
// ramp(v, 1, 8), the inner v the scalar. The same for broadcasts. Undefined if the value is
// something else.
Expr over_scalar(const Expr &value, const std::string &name, Expr *scalar) {
    if (const auto *r = value.as<Ramp>(); r && is_const(r->stride) && r->base.type().is_scalar()) {
        *scalar = r->base;
        return Ramp::make(Variable::make(r->base.type(), name), r->stride, r->lanes);
    }
    if (const auto *b = value.as<Broadcast>(); b && b->value.type().is_scalar()) {
        *scalar = b->value;
        return Broadcast::make(Variable::make(b->value.type(), name), b->lanes);
    }
    return Expr();
}

}  // namespace

Expr Simplifier::visit(const Variable *op) {
    const Expr replacement = facts_.replacement_of(op->name);
    if (replacement.defined() && replacement.type() == op->type) {
        return mutate(replacement);  // more may be known here than where it was bound
    }
    if (op->type.is_int_or_uint()) {
        const ConstRange known = range(Expr(op));
        if (known.is_single()) {
            return make_const(op->type, *known.min);
        }
    }
    if (op->type.is_bool() && facts_.has_truths()) {
        if (Expr known = by_facts(Expr(op)); known.defined()) {
            return known;
        }
    }
    return Expr(op);
}

// A name for a binder that would capture what a replacement in force mentions. Passes make names
// with $ and a number, never with $r.
std::string Simplifier::unused_name(const std::string &name) {
    std::string fresh;
    do {
        fresh = name + "$r" + std::to_string(++renamed_);
    } while (facts_.in_replacement(fresh) || facts_.info_of(fresh));
    return fresh;
}

template<typename T>
auto Simplifier::simplify_let(const T *op) -> decltype(op->body) {
    Expr value = mutate(op->value);
    std::string name = op->name;
    auto body = op->body;
    const bool hides_itself = is_repeatable(value) && uses_var(value, name);
    if (hides_itself || facts_.in_replacement(name)) {
        name = unused_name(name);
        body = substitute(op->name, Variable::make(value.type(), name), body);
    }
    {
        Facts::Layer layer(facts_, name);
        Expr scalar = value;
        const Expr replacement = is_repeatable(value) ? value : over_scalar(value, name, &scalar);
        value = scalar;
        const bool is_data = may_be_data(value);
        facts_.bind(name, unbounded_info(value), replacement, keeps_value(value) ? value : Expr(),
                    is_data ? Facts::Origin::Data : Facts::Origin::Indices);
        body = mutate(body);
    }
    if (can_drop(op, name, value, body)) {
        return body;
    }
    if (!body.defined()) {
        return without_body(op, value);
    }
    if (name == op->name && value.same_as(op->value) && body.same_as(op->body)) {
        return op;
    }
    return T::make(name, value, body);
}

Expr Simplifier::visit(const Let *op) {
    const Expr e = simplify_let(op);
    const Let *let = e.as<Let>();
    const Variable *whole = let ? let->body.as<Variable>() : nullptr;
    return whole && whole->name == let->name ? let->value : e;  // let v = f(x) in v
}

Stmt Simplifier::visit(const LetStmt *op) {
    return simplify_let(op);
}

}  // namespace calotype::internal
