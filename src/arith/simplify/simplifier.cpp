// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The steps that all operators share, and the public functions. A binary operator goes through:
//
//   constants fold -> operands in order -> broadcasts -> known ranges -> rule table -> linear forms
//   -> facts
//
// The first step that finds something better constructs it, and construction simplifies again.
// Every step makes the expression smaller in the order of docs/simplifier.md, so this ends.
#include "arith/simplify/simplifier.h"

#include "arith/constant_interval.h"
#include "arith/finite_floats.h"
#include "arith/simplify/fold.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/queries.h"

namespace calotype::internal {

namespace {

bool is_commutative(NodeKind op) {
    switch (op) {
    case NodeKind::Add:
    case NodeKind::Mul:
    case NodeKind::Min:
    case NodeKind::Max:
    case NodeKind::EQ:
    case NodeKind::NE:
    case NodeKind::And:
    case NodeKind::Or:
        return true;
    default:
        return false;
    }
}

// The order of a commutative operator's operands: constants last, and but for conditions (whose
// order the user may have chosen with care) the larger kind first, then by structure.
bool out_of_order(NodeKind op, const Expr &a, const Expr &b) {
    const bool const_a = is_const(a), const_b = is_const(b);
    if (const_a || const_b) {
        return const_a && !const_b;
    }
    if (op == NodeKind::And || op == NodeKind::Or) {
        return false;
    }
    if (a.kind() != b.kind()) {
        return a.kind() < b.kind();
    }
    return !a.same_as(b) && compare(a, b) > 0;
}

Expr make_binary(NodeKind op, const Expr &a, const Expr &b) {
    switch (op) {
#define ARITH(Name, symbol)                                                                        \
    case NodeKind::Name:                                                                           \
        return Name::make(a, b);
#define COMPARE(Name, symbol) ARITH(Name, symbol)
#define LOGIC(Name, symbol) ARITH(Name, symbol)
#include "ir/nodes.def"
    default:
        internal_error << "not a binary operator";
    }
}

// All binary nodes have the same layout of operands; Add stands for them.
bool has_operands(const ExprNode *node, NodeKind op, const Expr &a, const Expr &b) {
    if (!node || node->kind != op) {
        return false;
    }
    switch (op) {
#define ARITH(Name, symbol)                                                                        \
    case NodeKind::Name:                                                                           \
        return static_cast<const Name *>(node)->a.same_as(a) &&                                    \
               static_cast<const Name *>(node)->b.same_as(b);
#define COMPARE(Name, symbol) ARITH(Name, symbol)
#define LOGIC(Name, symbol) ARITH(Name, symbol)
#include "ir/nodes.def"
    default:
        return false;
    }
}

bool yields_bool(NodeKind op) {
    switch (op) {
#define COMPARE(Name, symbol) case NodeKind::Name:
#define LOGIC(Name, symbol) COMPARE(Name, symbol)
#include "ir/nodes.def"
        return true;
    default:
        return false;
    }
}

}  // namespace

Simplifier::Simplifier(const SimplifyContext &context, bool finite_floats)
    : table_(RuleTable::instance()), context_(context), finite_floats_(finite_floats) {
    for (const auto &[name, range] : context.bounds) {
        auto aligned = context.alignments.find(name);
        facts_.bind(name,
                    {range, aligned == context.alignments.end() ? Alignment{} : aligned->second});
    }
    for (const auto &[name, alignment] : context.alignments) {
        if (!context.bounds.count(name)) {
            facts_.bind(name, {ConstRange::everything(), alignment});
        }
    }
    for (const Expr &fact : context.facts) {
        learn_true(mutate(fact));
    }
}

Expr Simplifier::mutate(const Expr &e) {
    if (!e.defined()) {
        return e;
    }
    switch (e.kind()) {
    case NodeKind::IntImm:
    case NodeKind::UIntImm:
    case NodeKind::FloatImm:
    case NodeKind::StringImm:
        return e;
    case NodeKind::Variable:
        return Mutator::mutate(e);
    default:
        break;
    }
    const bool nothing_known = !finite_floats_ && depth_ == 0 && facts_.is_empty();
    if (nothing_known && e->simplified.is_set()) {
        return e;
    }
    const bool shared = !e.get()->is_unique();
    if (shared) {
        if (const Expr *known = facts_.find_simplified(e)) {
            return *known;
        }
    }
    Expr result = Mutator::mutate(e);
    if (nothing_known) {
        result->simplified.set();
    }
    if (shared) {
        facts_.remember_simplified(e, result);
    }
    return result;
}

// Whether a NaN or a negative zero among the values of the type has to be reckoned with.
bool Simplifier::keeps_nan(Type t) const {
    return t.is_float() && !finite_floats_;
}

// The smaller or larger of a NaN and a number, and of two zeros, is the second.
bool Simplifier::may_exchange(NodeKind op, const Expr &a, const Expr &b) const {
    const bool is_extremum = op == NodeKind::Min || op == NodeKind::Max;
    return is_commutative(op) && !(is_extremum && keeps_nan(a.type())) &&
           !(has_effects(a) && has_effects(b));
}

Expr Simplifier::binary(NodeKind op, const Expr &a, const Expr &b, const ExprNode *original) {
    switch (op) {
    case NodeKind::GT:
        return binary(NodeKind::LT, b, a);
    case NodeKind::GE:
        return binary(NodeKind::LE, b, a, original);
    case NodeKind::LE: {
        if (keeps_nan(a.type())) {
            break;  // a <= b is not !(b < a)
        }
        const Expr opposite = binary(NodeKind::LT, b, a);
        if (const auto *lt = opposite.as<LT>()) {
            return has_operands(original, op, lt->b, lt->a) ? Expr(original)
                                                            : LE::make(lt->b, lt->a);
        }
        return logical_not(opposite);
    }
    case NodeKind::NE: {
        const Expr opposite = binary(NodeKind::EQ, a, b);
        if (const auto *eq = opposite.as<EQ>()) {
            return has_operands(original, op, eq->a, eq->b) ? Expr(original)
                                                            : NE::make(eq->a, eq->b);
        }
        return logical_not(opposite);
    }
    default:
        break;
    }
    if (Expr folded = fold_operator(op, a, b); folded.defined()) {
        return folded;
    }
    if (may_exchange(op, a, b) && out_of_order(op, a, b)) {
        return binary(op, b, a, original);
    }
    if (depth_ < max_depth) {
        depth_++;
        const Expr operands[2] = {a, b};
        const Type type = yields_bool(op) ? Bool(a.type().lanes()) : a.type();
        Expr better = by_broadcast(op, a, b);
        if (!better.defined()) {
            better = before_rules(op, a, b);
        }
        if (!better.defined()) {
            better = rewrite(op, type, operands, 2);
        }
        if (!better.defined()) {
            better = after_rules(op, a, b);
        }
        depth_--;
        const bool drops_effects =
            better.defined() && is_const(better) && (has_effects(a) || has_effects(b));
        if (better.defined() && !drops_effects) {
            return better;
        }
    }
    return has_operands(original, op, a, b) ? Expr(original) : make_binary(op, a, b);
}

Expr Simplifier::before_rules(NodeKind op, const Expr &a, const Expr &b) {
    switch (op) {
    case NodeKind::Div:
        return div_by_ranges(a, b);
    case NodeKind::Mod:
        return mod_by_ranges(a, b);
    case NodeKind::Min:
    case NodeKind::Max:
        return extremum_by_ranges(op, a, b);
    case NodeKind::LT: {
        Expr known = less_by_ranges(a, b);
        known = known.defined() ? known : compare_condition(op, a, b);
        return known.defined() ? known : less_by_ramp(a, b);
    }
    case NodeKind::EQ: {
        Expr known = equal_by_ranges(a, b);
        return known.defined() ? known : compare_condition(op, a, b);
    }
    default:
        return Expr();
    }
}

Expr Simplifier::after_rules(NodeKind op, const Expr &a, const Expr &b) {
    switch (op) {
    case NodeKind::Add: {
        Expr whole = join_fused(a, b);
        return whole.defined() ? whole : cancel_in_sum(op, a, b);
    }
    case NodeKind::Sub:
        return cancel_in_sum(op, a, b);
    case NodeKind::Div:
    case NodeKind::Mod:
        return divide_terms(op, a, b);
    case NodeKind::LT:
    case NodeKind::EQ: {
        Expr better = cancel_in_comparison(op, a, b);
        better = better.defined() ? better : cancel_in_lanes(op, a, b);
        return better.defined() || !facts_.has_truths() ? better : by_facts(make_binary(op, a, b));
    }
    case NodeKind::And:
    case NodeKind::Or:
        return facts_.has_truths() ? by_facts(make_binary(op, a, b)) : Expr();
    case NodeKind::Min:
    case NodeKind::Max:
        return facts_.has_truths() ? extremum_by_facts(op, a, b) : Expr();
    default:
        return Expr();
    }
}

// True or false if the facts decide the condition, which is of a kind that learn() keeps.
Expr Simplifier::by_facts(const Expr &condition) {
    int truth = facts_.truth_of(condition);
    if (const auto *lt = condition.as<LT>(); lt && truth < 0) {
        truth = facts_.truth_of(LT::make(lt->b, lt->a)) == 1 ? 0 : -1;
    }
    if (const auto *lt = condition.as<LT>(); lt && truth < 0) {
        truth = truth_of_neighbours(lt->a, lt->b);
    }
    if (const auto *eq = condition.as<EQ>(); eq && truth < 0 && !eq->a.type().is_bool()) {
        const bool differ = facts_.truth_of(LT::make(eq->a, eq->b)) == 1 ||
                            facts_.truth_of(LT::make(eq->b, eq->a)) == 1;
        truth = differ ? 0 : -1;
    }
    return truth < 0 ? Expr() : make_const(condition.type(), truth);
}

namespace {

/// A sum without its constant term, which is added to *constant.
Expr without_constant(const Expr &e, int64_t *constant) {
    const auto *sum = e.as<Add>();
    const auto term = sum ? as_const_int(sum->b) : std::nullopt;
    *constant = term.value_or(0);
    return term ? sum->a : e;
}

}  // namespace

// a + m < b + n, where a < b or b < a is decided: 1 if it holds, 0 if not, -1 if that is not known.
int Simplifier::truth_of_neighbours(const Expr &a, const Expr &b) {
    if (a.type() != Int(32) && a.type() != Int(64)) {
        return -1;
    }
    int64_t m, n;
    const Expr x = without_constant(a, &m), y = without_constant(b, &n);
    const auto distance = checked_sub(n, m);
    if (!distance || *distance == 0) {
        return -1;
    }
    if (*distance > 0) {  // holds where x <= y
        return facts_.truth_of(LT::make(x, y)) == 1 || facts_.truth_of(LT::make(y, x)) == 0 ? 1
                                                                                            : -1;
    }
    return facts_.truth_of(LT::make(x, y)) == 0 || facts_.truth_of(LT::make(y, x)) == 1 ? 0 : -1;
}

// The one of two values that the facts say is smaller or larger.
Expr Simplifier::extremum_by_facts(NodeKind op, const Expr &a, const Expr &b) {
    if (!a.type().is_int_or_uint() || !a.type().is_scalar()) {
        return Expr();
    }
    const bool smallest = op == NodeKind::Min;
    for (const auto &[first, second] : {std::pair(a, b), std::pair(b, a)}) {
        if (is_promise(first) && equal(first.as<Call>()->args[smallest ? 2 : 1], second)) {
            return first;
        }
        const Expr less = binary(NodeKind::LT, first, second);
        if (is_const(less)) {
            return is_const_one(less) == smallest ? first : second;
        }
    }
    return Expr();
}

namespace {

// Whether the rule would drop, merge or copy what has an effect.
bool repeats_effects(const Rule &rule, const Bindings &bindings) {
    for (const uint8_t slot : rule.repeated) {
        if (has_effects(Expr(bindings.wild[slot]))) {
            return true;
        }
    }
    return false;
}

}  // namespace

Expr Simplifier::rewrite(NodeKind root, Type type, const Expr *operands, int count, int lanes) {
    const auto candidates =
        table_.candidates(root, operands[0], count > 1 ? &operands[1] : nullptr);
    for (uint16_t i : *candidates.indices) {
        const Rule &rule = candidates.rules[i];
        Bindings bindings;
        bindings.root_type = type;
        bindings.finite_floats = finite_floats_;
        if (!match_rule(rule, operands, lanes, &bindings) ||
            !condition_holds(rule, bindings, *this) || repeats_effects(rule, bindings) ||
            may_overflow(rule, bindings)) {
            continue;
        }
        Expr result = build(rule, rule.replacement, bindings);
        if (result.defined() && result.type() == type) {
            return result;
        }
    }
    return Expr();
}

namespace {

// The constant `number` in type t, undefined where an exact type cannot hold it.
Expr make_number(Type t, const Number &number) {
    if (t.is_float()) {
        return make_const(t, number.as_double());
    }
    if (number.is_float || !t.is_int_or_uint()) {
        return Expr();
    }
    if (!t.can_overflow() && (number.i < t.imin() || number.i > t.imax())) {
        return Expr();
    }
    return make_wrapped_const(t, number.i);
}

NodeKind node_kind(PatternOp op) {
    switch (op) {
    case PatternOp::Add:
        return NodeKind::Add;
    case PatternOp::Sub:
        return NodeKind::Sub;
    case PatternOp::Mul:
        return NodeKind::Mul;
    case PatternOp::Div:
        return NodeKind::Div;
    case PatternOp::Mod:
        return NodeKind::Mod;
    case PatternOp::Min:
        return NodeKind::Min;
    case PatternOp::Max:
        return NodeKind::Max;
    case PatternOp::EQ:
        return NodeKind::EQ;
    case PatternOp::NE:
        return NodeKind::NE;
    case PatternOp::LT:
        return NodeKind::LT;
    case PatternOp::LE:
        return NodeKind::LE;
    case PatternOp::And:
        return NodeKind::And;
    case PatternOp::Or:
        return NodeKind::Or;
    default:
        internal_error << "not a binary operator in a replacement";
    }
}

}  // namespace

Expr Simplifier::build(const Rule &rule, int n, const Bindings &bindings) {
    const PatternNode &p = rule.nodes[n];
    switch (p.op) {
    case PatternOp::Wild:
        return Expr(bindings.wild[p.slot]);
    case PatternOp::Const: {
        const Expr constant(bindings.constant_node[p.slot]);
        const Type t = bindings.type_of(p.type_source);
        return constant.type() == t ? constant : make_number(t, bindings.constant[p.slot]);
    }
    case PatternOp::Literal:
    case PatternOp::True:
    case PatternOp::False:
    case PatternOp::Fold: {
        const auto number = evaluate(rule, n, bindings, *this);
        if (number && p.op == PatternOp::Fold && p.slot == fold_must_fit &&
            !bindings.type_of(p.type_source).can_represent(number->i)) {
            return Expr();
        }
        return number ? make_number(bindings.type_of(p.type_source), *number) : Expr();
    }
    default:
        break;
    }
    Expr children[3];
    const bool lanes_last = p.op == PatternOp::Ramp || p.op == PatternOp::Broadcast;
    for (int i = 0; i < p.arity - lanes_last; i++) {
        children[i] = build(rule, p.child[i], bindings);
        if (!children[i].defined()) {
            return Expr();
        }
    }
    int lanes = 0;
    if (lanes_last) {
        const auto count = evaluate(rule, p.child[p.arity - 1], bindings, *this);
        lanes = count ? int(count->i) : 0;
        if (lanes < 1) {
            return Expr();
        }
    }
    switch (p.op) {
    case PatternOp::Not:
        return logical_not(children[0]);
    case PatternOp::Likely:
        return Call::make(children[0].type(), Intrinsic::likely, {children[0]});
    case PatternOp::Broadcast:
        return broadcast(children[0], lanes);
    case PatternOp::Ramp:
        return children[0].type() == children[1].type() ? ramp(children[0], children[1], lanes)
                                                        : Expr();
    case PatternOp::Select: {
        const int condition_lanes = children[0].type().lanes();
        const bool fits = children[1].type() == children[2].type() &&
                          (condition_lanes == 1 || condition_lanes == children[1].type().lanes());
        return fits ? select(children[0], children[1], children[2]) : Expr();
    }
    default:
        break;
    }
    if (children[0].type() != children[1].type()) {
        return Expr();
    }
    const Expr built = binary(node_kind(p.op), children[0], children[1]);
    // A letter may stand for a constant, and the sum of two leave the type.
    return Call::as_intrinsic(built, Intrinsic::signed_integer_overflow) ? Expr() : built;
}

std::optional<int64_t> Simplifier::lower_bound(const ExprNode *e) {
    return range(Expr(e)).min;
}

std::optional<int64_t> Simplifier::upper_bound(const ExprNode *e) {
    return range(Expr(e)).max;
}

std::optional<int64_t> Simplifier::remainder(const ExprNode *e, int64_t modulus) {
    const Alignment known = info(Expr(e)).alignment;
    if (modulus == 0 || known.modulus % modulus != 0) {
        return std::nullopt;
    }
    return euclidean_mod(known.remainder, modulus);
}

Expr simplify(const Expr &e, const SimplifyContext &context) {
    if (!e.defined()) {
        return e;
    }
    Expr result = Simplifier(context).mutate(e);
    return context.remove_dead_code ? remove_dead_lets(result) : result;
}

Stmt simplify(const Stmt &s, const SimplifyContext &context) {
    if (!s.defined()) {
        return s;
    }
    Stmt result = Simplifier(context).mutate(s);
    return context.remove_dead_code ? remove_dead_code(result) : result;
}

Expr simplify_finite(const Expr &e) {
    return e.defined() ? Simplifier({}, true).mutate(e) : e;
}

Stmt simplify_finite(const Stmt &s) {
    return s.defined() ? remove_dead_code(Simplifier({}, true).mutate(s)) : s;
}

bool can_prove(const Expr &condition, const SimplifyContext &context) {
    internal_assert(condition.defined() && condition.type().is_bool())
        << "can_prove of something that is not a condition";
    return is_const_one(Simplifier(context).mutate(remove_likelies(condition)));
}

ConstRange constant_range(const Expr &e, const SimplifyContext &context) {
    Simplifier simplifier(context);
    return simplifier.range(simplifier.mutate(remove_likelies(e)));
}

Alignment modulus_remainder(const Expr &e, const SimplifyContext &context) {
    internal_assert(e.defined() && e.type().is_int_or_uint() && !e.type().is_bool())
        << "modulus_remainder of something that is no integer";
    Simplifier simplifier(context);
    return simplifier.info(simplifier.mutate(remove_likelies(e))).alignment;
}

}  // namespace calotype::internal
