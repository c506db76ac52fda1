// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The update is looked at as an expression in X, the Func's old value at the place that is stored
// to, and in parts without X. A value is a chain of one operator, ((X + a) + b) - c, whose other
// operands are gathered into one: a + b - c.
#include "pipeline/associativity.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "arith/exact_types.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/expr_nodes.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"

namespace calotype::internal {

namespace {

enum class Op { Add, Mul, Min, Max, And, Or, BitAnd, BitOr, BitXor, SaturatingAdd };

const Op all_ops[] = {Op::Add, Op::Mul,    Op::Min,   Op::Max,    Op::And,
                      Op::Or,  Op::BitAnd, Op::BitOr, Op::BitXor, Op::SaturatingAdd};

Expr apply_op(Op op, const Expr &a, const Expr &b) {
    const Type t = a.type();
    switch (op) {
    case Op::Add:
        return Add::make(a, b);
    case Op::Mul:
        return Mul::make(a, b);
    case Op::Min:
        return Min::make(a, b);
    case Op::Max:
        return Max::make(a, b);
    case Op::And:
        return And::make(a, b);
    case Op::Or:
        return Or::make(a, b);
    case Op::BitAnd:
        return Call::make(t, Intrinsic::bitwise_and, {a, b});
    case Op::BitOr:
        return Call::make(t, Intrinsic::bitwise_or, {a, b});
    case Op::BitXor:
        return Call::make(t, Intrinsic::bitwise_xor, {a, b});
    case Op::SaturatingAdd:
        return Call::make(t, Intrinsic::saturating_add, {a, b});
    }
    return Expr();
}

Expr identity_of(Op op, const Type &t) {
    switch (op) {
    case Op::Mul:
        return make_one(t);
    case Op::Min:
        return t.max();
    case Op::Max:
        return t.min();
    case Op::And:
        return const_true();
    case Op::BitAnd:
        return t.is_bool() ? const_true() : t.is_uint() ? t.max() : make_const(t, -1);
    default:
        return make_zero(t);
    }
}

// The two operands if e is an application of the operator.
std::optional<std::pair<Expr, Expr>> operands(Op op, const Expr &e) {
    auto binary = [&](const auto *n) -> std::optional<std::pair<Expr, Expr>> {
        if (n) {
            return std::make_pair(n->a, n->b);
        }
        return std::nullopt;
    };
    auto call = [&](Intrinsic id) -> std::optional<std::pair<Expr, Expr>> {
        if (const Call *c = Call::as_intrinsic(e, id)) {
            return std::make_pair(c->args[0], c->args[1]);
        }
        return std::nullopt;
    };
    switch (op) {
    case Op::Add:
        return binary(e.as<Add>());
    case Op::Mul:
        return binary(e.as<Mul>());
    case Op::Min:
        return binary(e.as<Min>());
    case Op::Max:
        return binary(e.as<Max>());
    case Op::And:
        return binary(e.as<And>());
    case Op::Or:
        return binary(e.as<Or>());
    case Op::BitAnd:
        return call(Intrinsic::bitwise_and);
    case Op::BitOr:
        return call(Intrinsic::bitwise_or);
    case Op::BitXor:
        return call(Intrinsic::bitwise_xor);
    case Op::SaturatingAdd:
        // Of signed values it is not associative: 100 + 100 - 100 depends on the order.
        return e.type().is_uint() ? call(Intrinsic::saturating_add) : std::nullopt;
    }
    return std::nullopt;
}

// Puts Variables for the old values in place of the calls.
class NameOldValues : public GraphMutator {
public:
    NameOldValues(const std::string &func, const std::vector<Expr> &args)
        : func_(func), args_(args) {
    }
    bool reads_elsewhere = false;

private:
    using GraphMutator::visit;
    Expr visit(const Call *op) override {
        if (op->call_type != CallKind::Func || op->name != func_) {
            return GraphMutator::visit(op);
        }
        for (size_t i = 0; i < args_.size(); i++) {
            reads_elsewhere |= !equal(op->args[i], args_[i]);
        }
        return AssociativeUpdate::old_value(op->type, size_t(op->value_index));
    }
    const std::string &func_;
    const std::vector<Expr> &args_;
};

std::string old_name(size_t i) {
    return "old$" + std::to_string(i);
}

std::string new_name(size_t i) {
    return "new$" + std::to_string(i);
}

// a < b, a <= b, a > b, a >= b as (smaller, larger).
std::optional<std::pair<Expr, Expr>> ordered(const Expr &e) {
    if (const LT *n = e.as<LT>()) {
        return std::make_pair(n->a, n->b);
    }
    if (const LE *n = e.as<LE>()) {
        return std::make_pair(n->a, n->b);
    }
    if (const GT *n = e.as<GT>()) {
        return std::make_pair(n->b, n->a);
    }
    if (const GE *n = e.as<GE>()) {
        return std::make_pair(n->b, n->a);
    }
    return std::nullopt;
}

// A select that means min or max of its two values.
Expr as_min_or_max(const Expr &e) {
    const Select *s = e.as<Select>();
    const auto order = s ? ordered(s->condition) : std::nullopt;
    if (order && equal(order->first, s->true_value) && equal(order->second, s->false_value)) {
        return Min::make(s->true_value, s->false_value);
    }
    if (order && equal(order->second, s->true_value) && equal(order->first, s->false_value)) {
        return Max::make(s->true_value, s->false_value);
    }
    return e;
}

// b if e is the largest value - b, in either spelling.
Expr room_above(const Expr &e) {
    const Sub *difference = e.as<Sub>();
    if (difference && equal(difference->a, e.type().max())) {
        return difference->b;
    }
    const Call *inverted = Call::as_intrinsic(e, Intrinsic::bitwise_not);
    return inverted ? inverted->args[0] : Expr();
}

// select(a > largest - b, largest, a + b), or the other way round.
Expr saturating_select(const Select &s) {
    const auto order = ordered(s.condition);
    const Expr largest = s.type.max();
    const bool saturates_if_true = equal(s.true_value, largest);
    if (!order || (!saturates_if_true && !equal(s.false_value, largest))) {
        return Expr();
    }
    const Add *sum = (saturates_if_true ? s.false_value : s.true_value).as<Add>();
    const Expr &a = saturates_if_true ? order->second : order->first;
    const Expr b = room_above(saturates_if_true ? order->first : order->second);
    const bool same =
        sum && b.defined() &&
        ((equal(sum->a, a) && equal(sum->b, b)) || (equal(sum->b, a) && equal(sum->a, b)));
    return same ? apply_op(Op::SaturatingAdd, a, b) : Expr();
}

// The exact sum of two values of type t, in a wider one: those two.
std::optional<std::pair<Expr, Expr>> exact_sum(const Expr &e, const Type &t) {
    const auto narrow = [&](const Expr &wide) {
        const Cast *cast = wide.as<Cast>();
        return cast && cast->value.type() == t ? cast->value : Expr();
    };
    if (const Call *c = Call::as_intrinsic(e, Intrinsic::widening_add)) {
        return c->args[0].type() == t && c->args[1].type() == t
                   ? std::optional(std::make_pair(c->args[0], c->args[1]))
                   : std::nullopt;
    }
    const Add *sum =
        e.type().is_int_or_uint() && e.type().bits() > t.bits() ? e.as<Add>() : nullptr;
    const Expr a = sum ? narrow(sum->a) : Expr(), b = sum ? narrow(sum->b) : Expr();
    return a.defined() && b.defined() ? std::optional(std::make_pair(a, b)) : std::nullopt;
}

// What is cut off at the largest value of a type, of an expression that means that.
Expr cut_at_largest(const Expr &e) {
    if (const Call *c = Call::as_intrinsic(e, Intrinsic::saturating_cast)) {
        return c->args[0];
    }
    const Cast *cast = e.as<Cast>();
    const Min *least = cast ? cast->value.as<Min>() : nullptr;
    if (!least || !least->type.can_represent(cast->type)) {
        return Expr();
    }
    const Expr largest = make_const(least->type, int64_t((uint64_t(1) << cast->type.bits()) - 1));
    return equal(least->b, largest) ? least->a : equal(least->a, largest) ? least->b : Expr();
}

// Expressions that mean a saturating addition of unsigned values, as one.
Expr as_saturating_add(const Expr &e) {
    if (!e.type().is_uint() || e.type().is_bool()) {
        return e;
    }
    if (const Select *s = e.as<Select>()) {
        const Expr sum = saturating_select(*s);
        return sum.defined() ? sum : e;
    }
    const Expr wide = e.type().bits() < 64 ? cut_at_largest(e) : Expr();
    const auto ab = wide.defined() ? exact_sum(wide, e.type()) : std::nullopt;
    return ab ? apply_op(Op::SaturatingAdd, ab->first, ab->second) : e;
}

// One value of the update, in terms of its own old value.
class Chain {
public:
    Chain(Op op, const std::string &old) : op_(op), old_(old) {
    }

    // The operands other than the old value, combined; undefined if e is the old value alone;
    // nothing if e is not a chain of the operator.
    std::optional<Expr> rest(const Expr &original) const {
        const Expr e = as_saturating_add(as_min_or_max(original));
        if (is_old(e)) {
            return Expr();
        }
        if (const Select *s = e.as<Select>()) {
            return rest_of_select(*s);
        }
        if (const Sub *s = e.as<Sub>(); s && op_ == Op::Add && !uses_var(s->b, old_)) {
            return combine(rest(s->a), Sub::make(make_zero(e.type()), s->b));
        }
        const auto ab = operands(op_, e);
        if (!ab) {
            return op_ == Op::Add ? rest_of_extremum(e) : std::nullopt;
        }
        if (!uses_var(ab->second, old_)) {
            return combine(rest(ab->first), ab->second);
        }
        if (!uses_var(ab->first, old_)) {
            return combine(rest(ab->second), ab->first);
        }
        return std::nullopt;
    }

private:
    bool is_old(const Expr &e) const {
        const Variable *v = e.as<Variable>();
        return v && v->name == old_;
    }
    // Where the value stays as it is, the identity is combined in.
    std::optional<Expr> rest_of_select(const Select &s) const {
        if (uses_var(s.condition, old_)) {
            return std::nullopt;
        }
        const auto t = rest(s.true_value), f = rest(s.false_value);
        if (!t || !f || (!t->defined() && !f->defined())) {
            return std::nullopt;
        }
        const Expr identity = identity_of(op_, s.type);
        return Select::make(s.condition, t->defined() ? *t : identity,
                            f->defined() ? *f : identity);
    }
    // max(X + a, X + b) is X + max(a, b) where nothing wraps.
    std::optional<Expr> rest_of_extremum(const Expr &e) const {
        const bool is_min = e.kind() == NodeKind::Min;
        const auto ab = operands(is_min ? Op::Min : Op::Max, e);
        if (!ab || !never_wraps(e.type())) {
            return std::nullopt;
        }
        const auto a = rest(ab->first), b = rest(ab->second);
        if (!a || !b || (!a->defined() && !b->defined())) {
            return std::nullopt;
        }
        const Expr zero = make_zero(e.type());
        return apply_op(is_min ? Op::Min : Op::Max, a->defined() ? *a : zero,
                        b->defined() ? *b : zero);
    }
    std::optional<Expr> combine(const std::optional<Expr> &a, const Expr &b) const {
        if (!a) {
            return std::nullopt;
        }
        return a->defined() ? apply_op(op_, *a, b) : b;
    }
    const Op op_;
    const std::string &old_;
};

bool add_independent_value(const Expr &value, size_t i, AssociativeUpdate *result) {
    const Type t = value.type();
    const std::string old = old_name(i);
    if (equal(value, AssociativeUpdate::old_value(t, i))) {  // nothing is combined in
        result->ops.push_back(value);
        result->identities.push_back(make_zero(t));
        result->ys.push_back(make_zero(t));
        return true;
    }
    for (Op op : all_ops) {
        const auto y = Chain(op, old).rest(value);
        if (y && y->defined()) {
            result->ops.push_back(apply_op(op, AssociativeUpdate::old_value(t, i),
                                           AssociativeUpdate::new_value(t, i)));
            result->identities.push_back(identity_of(op, t));
            result->ys.push_back(*y);
            return true;
        }
    }
    return false;
}

// What a value of the form select(condition, y, X), either way round, or min or max of both,
// combines in.
Expr other_than_old(const Expr &value, const Expr &condition, const Expr &x) {
    Expr a, b;
    if (const Select *s = value.as<Select>(); s && equal(s->condition, condition)) {
        a = s->true_value;
        b = s->false_value;
    } else if (const auto ab = operands(value.kind() == NodeKind::Min ? Op::Min : Op::Max, value)) {
        a = ab->first;
        b = ab->second;
    } else {
        return Expr();
    }
    return equal(a, x) ? b : equal(b, x) ? a : Expr();
}

bool uses_any_old_value(const Expr &e, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (uses_var(e, old_name(i))) {
            return true;
        }
    }
    return false;
}

// Of c || is_nan(x), in either order and spelling: c and x.
std::pair<Expr, Expr> without_nan(const Expr &condition) {
    Expr a, b;
    if (const Or *either = condition.as<Or>()) {
        a = either->a;
        b = either->b;
    } else if (const Call *c = Call::as_intrinsic(condition, Intrinsic::bitwise_or)) {
        a = c->args[0];
        b = c->args[1];
    } else {
        return {condition, Expr()};
    }
    if (Call::as_intrinsic(a, Intrinsic::is_nan)) {
        std::swap(a, b);
    }
    const Call *nan = Call::as_intrinsic(b, Intrinsic::is_nan);
    return nan ? std::pair{a, nan->args[0]} : std::pair{condition, Expr()};
}

// (select(c, y0, X0), select(c, y1, X1), ...) where c compares y_k with X_k: keeps the Tuple of the
// smallest or the largest value k; or of the first that is NaN, if what is kept is kept then, too.
// The values stand in these places of a Tuple of `count`.
AssociativeUpdate prove_choice(const std::vector<Expr> &values, const std::vector<size_t> &places,
                               size_t count) {
    const Select *chooser = nullptr;
    std::vector<Expr> xs, ys, news;
    for (size_t i = 0; i < values.size(); i++) {
        chooser = chooser ? chooser : values[i].as<Select>();
        xs.push_back(AssociativeUpdate::old_value(values[i].type(), places[i]));
        news.push_back(AssociativeUpdate::new_value(values[i].type(), places[i]));
    }
    const auto [comparison, kept_if_nan] =
        chooser ? without_nan(chooser->condition) : std::pair<Expr, Expr>();
    const auto order = chooser ? ordered(comparison) : std::nullopt;
    if (!order) {
        return {};
    }
    for (size_t i = 0; i < values.size(); i++) {
        ys.push_back(other_than_old(values[i], chooser->condition, xs[i]));
        if (!ys[i].defined() || uses_any_old_value(ys[i], count)) {
            return {};
        }
    }
    for (size_t k = 0; k < values.size(); k++) {
        const bool old_smaller = equal(order->first, xs[k]) && equal(order->second, ys[k]);
        const bool old_larger = equal(order->second, xs[k]) && equal(order->first, ys[k]);
        if (!old_smaller && !old_larger) {
            continue;
        }
        const Variable *taken = chooser->true_value.as<Variable>();
        const bool takes_old = taken && uses_any_old_value(chooser->true_value, count);
        if (kept_if_nan.defined() && !(takes_old && equal(kept_if_nan, xs[k]))) {
            return {};
        }
        const bool keeps_smaller = old_smaller == takes_old;
        AssociativeUpdate result;
        result.ys = ys;
        result.commutative = false;
        for (size_t i = 0; i < values.size(); i++) {
            const Type t = values[i].type();
            result.ops.push_back(substitute(ys[i], news[i], substitute(ys[k], news[k], values[i])));
            result.identities.push_back(i != k ? make_zero(t) : keeps_smaller ? t.max() : t.min());
        }
        return result;
    }
    return {};
}

// What x is multiplied by; undefined if e is not a product with it.
Expr cofactor(const Expr &e, const Expr &x) {
    const Mul *product = e.as<Mul>();
    if (!product) {
        return Expr();
    }
    return equal(product->a, x) ? product->b : equal(product->b, x) ? product->a : Expr();
}

// (X0 y0 - X1 y1, X0 y1 + X1 y0): the product of two complex numbers. The values stand in these
// places of a Tuple of `count`.
AssociativeUpdate prove_complex_product(const std::vector<Expr> &values,
                                        const std::vector<size_t> &places, size_t count) {
    const Sub *real = values.size() == 2 ? values[0].as<Sub>() : nullptr;
    const Add *imaginary = real ? values[1].as<Add>() : nullptr;
    if (!imaginary || values[0].type() != values[1].type()) {
        return {};
    }
    const Type t = values[0].type();
    const Expr x0 = AssociativeUpdate::old_value(t, places[0]);
    const Expr x1 = AssociativeUpdate::old_value(t, places[1]);
    const Expr y0 = cofactor(real->a, x0), y1 = cofactor(real->b, x1);
    if (!y0.defined() || !y1.defined() || uses_any_old_value(y0, count) ||
        uses_any_old_value(y1, count)) {
        return {};
    }
    const auto is_product = [](const Expr &e, const Expr &x, const Expr &y) {
        const Expr other = cofactor(e, x);
        return other.defined() && equal(other, y);
    };
    if (!(is_product(imaginary->a, x0, y1) && is_product(imaginary->b, x1, y0)) &&
        !(is_product(imaginary->a, x1, y0) && is_product(imaginary->b, x0, y1))) {
        return {};
    }
    const Expr n0 = AssociativeUpdate::new_value(t, places[0]);
    const Expr n1 = AssociativeUpdate::new_value(t, places[1]);
    AssociativeUpdate result;
    result.ops = {Sub::make(Mul::make(x0, n0), Mul::make(n1, x1)),
                  Add::make(Mul::make(x1, n0), Mul::make(n1, x0))};
    result.identities = {make_one(t), make_zero(t)};
    result.ys = {y0, y1};
    return result;
}

// Values that depend on each other, directly or by others, stand in one group; each group holds
// places in increasing order.
std::vector<std::vector<size_t>> dependent_groups(const std::vector<Expr> &values) {
    std::vector<size_t> group(values.size());
    std::iota(group.begin(), group.end(), size_t(0));
    for (size_t i = 0; i < values.size(); i++) {
        for (size_t j = 0; j < values.size(); j++) {
            if (group[i] != group[j] && uses_var(values[i], old_name(j))) {
                const size_t from = group[j], to = group[i];
                std::replace(group.begin(), group.end(), from, to);
            }
        }
    }
    std::map<size_t, std::vector<size_t>> members;
    for (size_t i = 0; i < values.size(); i++) {
        members[group[i]].push_back(i);
    }
    std::vector<std::vector<size_t>> result;
    for (const auto &[unused, places] : members) {
        result.push_back(places);
    }
    return result;
}

// The update of one group: its values stand in these places of a Tuple of `count`.
AssociativeUpdate prove_group(const std::vector<Expr> &values, const std::vector<size_t> &places,
                              size_t count) {
    AssociativeUpdate alone;
    if (values.size() == 1 && add_independent_value(values[0], places[0], &alone)) {
        return alone;
    }
    const AssociativeUpdate choice = prove_choice(values, places, count);
    return choice.associative() ? choice : prove_complex_product(values, places, count);
}

AssociativeUpdate prove_each_group(const std::vector<Expr> &values) {
    AssociativeUpdate result;
    result.ops = result.identities = result.ys = std::vector<Expr>(values.size());
    for (const std::vector<size_t> &places : dependent_groups(values)) {
        std::vector<Expr> members;
        for (size_t place : places) {
            members.push_back(values[place]);
        }
        const AssociativeUpdate group = prove_group(members, places, values.size());
        if (!group.associative()) {
            return {};
        }
        for (size_t i = 0; i < places.size(); i++) {
            result.ops[places[i]] = group.ops[i];
            result.identities[places[i]] = group.identities[i];
            result.ys[places[i]] = group.ys[i];
        }
        result.commutative = result.commutative && group.commutative;
    }
    return result;
}

}  // namespace

Expr AssociativeUpdate::old_value(Type t, size_t i) {
    return Variable::make(t, old_name(i));
}

Expr AssociativeUpdate::new_value(Type t, size_t i) {
    return Variable::make(t, new_name(i));
}

std::vector<Expr> AssociativeUpdate::apply(const std::vector<Expr> &old_values,
                                           const std::vector<Expr> &new_values) const {
    std::map<std::string, Expr> replacements;
    for (size_t i = 0; i < ops.size(); i++) {
        replacements[old_name(i)] = old_values[i];
        replacements[new_name(i)] = new_values[i];
    }
    std::vector<Expr> result;
    for (const Expr &op : ops) {
        result.push_back(substitute(replacements, op));
    }
    return result;
}

AssociativeUpdate prove_associative(const std::string &func, const Definition &update) {
    // Which values are combined must not depend on those that have been.
    if (update.predicate.defined() && uses_buffer(update.predicate, func)) {
        return {};
    }
    for (const Expr &e : update.args) {
        if (uses_buffer(e, func)) {
            return {};
        }
    }
    NameOldValues name_old_values(func, update.args);
    std::vector<Expr> values;
    for (const Expr &v : update.values) {
        values.push_back(name_old_values(substitute_in_all_lets(v)));
    }
    if (name_old_values.reads_elsewhere) {
        return {};
    }
    return prove_each_group(values);
}

}  // namespace calotype::internal
