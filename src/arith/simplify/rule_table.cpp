// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/simplify/rule_table.h"

#include <cmath>
#include <limits>

#include "arith/simplify/const_range.h"
#include "ir/equality.h"
#include "support/error.h"

namespace calotype::internal {

std::optional<Number> number_of(const ExprNode *e) {
    while (e->kind == NodeKind::Broadcast) {
        e = static_cast<const Broadcast *>(e)->value.get();
    }
    switch (e->kind) {
    case NodeKind::IntImm:
        return Number{false, static_cast<const IntImm *>(e)->value, 0};
    case NodeKind::UIntImm: {
        const uint64_t value = static_cast<const UIntImm *>(e)->value;
        if (value > uint64_t(std::numeric_limits<int64_t>::max())) {
            return std::nullopt;
        }
        return Number{false, int64_t(value), 0};
    }
    case NodeKind::FloatImm:
        return Number{true, 0, static_cast<const FloatImm *>(e)->value};
    default:
        return std::nullopt;
    }
}

Type Bindings::type_of(int source) const {
    if (source >= Rule::type_of_root) {
        return root_type;
    }
    if (source >= Rule::type_of_const) {
        return constant_node[source - Rule::type_of_const]->type;
    }
    return wild[source]->type;
}

namespace {

bool equals(const Number &n, int64_t value) {
    return n.is_float ? n.f == double(value) : n.i == value;
}

class Matcher {
public:
    Matcher(const Rule &rule, Bindings &bindings) : rule_(rule), bind_(bindings) {
    }

    bool lanes(int n, int count) {
        const PatternNode &p = rule_.nodes[n];
        internal_assert(p.op == PatternOp::Lanes)
            << "rule '" << rule_.text << "': lanes must be l0 or l1";
        if (p.first_use) {
            bind_.lanes[p.slot] = count;
            return true;
        }
        return bind_.lanes[p.slot] == count;
    }

    bool match(int n, const Expr &e) {
        const PatternNode &p = rule_.nodes[n];
        switch (p.op) {
        case PatternOp::Wild:
            return wild(p, e);
        case PatternOp::Const:
            return constant(p, e);
        case PatternOp::Literal:
            return literal(e, p.value);
        case PatternOp::True:
            return e.type().is_bool() && literal(e, 1);
        case PatternOp::False:
            return e.type().is_bool() && literal(e, 0);
        case PatternOp::Not:
            return e.kind() == NodeKind::Not && match(p.child[0], e.as<Not>()->a);
        case PatternOp::Select: {
            const auto *s = e.as<Select>();
            return s && match(p.child[0], s->condition) && match(p.child[1], s->true_value) &&
                   match(p.child[2], s->false_value);
        }
        case PatternOp::Ramp: {
            const auto *r = e.as<Ramp>();
            return r && lanes(p.child[2], r->lanes) && match(p.child[0], r->base) &&
                   match(p.child[1], r->stride);
        }
        case PatternOp::Broadcast: {
            const auto *b = e.as<Broadcast>();
            return b && lanes(p.child[1], b->lanes) && match(p.child[0], b->value);
        }
        case PatternOp::Likely: {
            const auto *c = e.as<Call>();
            return c && c->is_likely() && match(p.child[0], c->args[0]);
        }
        default:
            return binary(p, e);
        }
    }

private:
    bool wild(const PatternNode &p, const Expr &e) {
        if (p.first_use) {
            bind_.wild[p.slot] = e.get();
            return p.slot < first_nonconstant_wild || !number_of(e.get());
        }
        const ExprNode *other = bind_.wild[p.slot];
        if (other == e.get()) {
            return true;
        }
        return other->kind == e.kind() && other->type == e.type() && equal(Expr(other), e);
    }

    bool constant(const PatternNode &p, const Expr &e) {
        const auto number = number_of(e.get());
        if (!number) {
            return false;
        }
        if (p.first_use) {
            bind_.constant[p.slot] = *number;
            bind_.constant_node[p.slot] = e.get();
            return true;
        }
        const Number &other = bind_.constant[p.slot];
        return other.is_float == number->is_float && other.i == number->i && other.f == number->f;
    }

    // A rule that says 0 means 0.0; what it says of -0.0 counts where floats are finite.
    bool literal(const Expr &e, int64_t value) const {
        const auto number = number_of(e.get());
        const bool is_negative_zero = number && number->f == 0 && std::signbit(number->f);
        return number && equals(*number, value) && (bind_.finite_floats || !is_negative_zero);
    }

    template<typename T>
    bool operands(const PatternNode &p, const Expr &e) {
        const T *op = e.as<T>();
        return op && match(p.child[0], op->a) && match(p.child[1], op->b);
    }

    bool binary(const PatternNode &p, const Expr &e) {
        switch (p.op) {
        case PatternOp::Add:
            return operands<Add>(p, e);
        case PatternOp::Sub:
            return operands<Sub>(p, e);
        case PatternOp::Mul:
            return operands<Mul>(p, e);
        case PatternOp::Div:
            return operands<Div>(p, e);
        case PatternOp::Mod:
            return operands<Mod>(p, e);
        case PatternOp::Min:
            return operands<Min>(p, e);
        case PatternOp::Max:
            return operands<Max>(p, e);
        case PatternOp::EQ:
            return operands<EQ>(p, e);
        case PatternOp::NE:
            return operands<NE>(p, e);
        case PatternOp::LT:
            return operands<LT>(p, e);
        case PatternOp::LE:
            return operands<LE>(p, e);
        case PatternOp::And:
            return operands<And>(p, e);
        case PatternOp::Or:
            return operands<Or>(p, e);
        default:
            internal_error << "rule '" << rule_.text << "': cannot be matched";
        }
    }

    const Rule &rule_;
    Bindings &bind_;
};

// The operator of a compiled pattern that stands for a node kind, or Fold where there is none.
PatternOp pattern_op(NodeKind kind) {
    switch (kind) {
    case NodeKind::Add:
        return PatternOp::Add;
    case NodeKind::Sub:
        return PatternOp::Sub;
    case NodeKind::Mul:
        return PatternOp::Mul;
    case NodeKind::Div:
        return PatternOp::Div;
    case NodeKind::Mod:
        return PatternOp::Mod;
    case NodeKind::Min:
        return PatternOp::Min;
    case NodeKind::Max:
        return PatternOp::Max;
    case NodeKind::EQ:
        return PatternOp::EQ;
    case NodeKind::NE:
        return PatternOp::NE;
    case NodeKind::LT:
        return PatternOp::LT;
    case NodeKind::LE:
        return PatternOp::LE;
    case NodeKind::And:
        return PatternOp::And;
    case NodeKind::Or:
        return PatternOp::Or;
    case NodeKind::Not:
        return PatternOp::Not;
    case NodeKind::Select:
        return PatternOp::Select;
    case NodeKind::Ramp:
        return PatternOp::Ramp;
    case NodeKind::Broadcast:
        return PatternOp::Broadcast;
    case NodeKind::Call:
        return PatternOp::Likely;
    default:
        return PatternOp::Fold;
    }
}

class Evaluator {
public:
    Evaluator(const Rule &rule, const Bindings &bindings, RangeOracle &oracle)
        : rule_(rule), bind_(bindings), oracle_(oracle) {
    }

    std::optional<Number> operator()(int n) {
        const PatternNode &p = rule_.nodes[n];
        switch (p.op) {
        case PatternOp::Const:
            return bind_.constant[p.slot];
        case PatternOp::Lanes:
            return integer(bind_.lanes[p.slot]);
        case PatternOp::Literal:
            return integer(p.value);
        case PatternOp::True:
        case PatternOp::False:
            return integer(p.op == PatternOp::True);
        case PatternOp::Fold:
            return (*this)(p.child[0]);
        case PatternOp::Lo:
            return integer(oracle_.lower_bound(wild(p.child[0])));
        case PatternOp::Hi:
            return integer(oracle_.upper_bound(wild(p.child[0])));
        case PatternOp::Rem: {
            const auto modulus = (*this)(p.child[1]);
            return modulus ? integer(oracle_.remainder(wild(p.child[0]), modulus->i))
                           : std::nullopt;
        }
        case PatternOp::Not:
        case PatternOp::Negate:
            return unary(p);
        default:
            return binary(p);
        }
    }

private:
    static std::optional<Number> integer(std::optional<int64_t> x) {
        return x ? std::optional<Number>(Number{false, *x, 0}) : std::nullopt;
    }
    static Number real(double x) {
        return {true, 0, x};
    }

    const ExprNode *wild(int n) const {
        const PatternNode &p = rule_.nodes[n];
        internal_assert(p.op == PatternOp::Wild) << "rule '" << rule_.text << "': not a letter";
        return bind_.wild[p.slot];
    }

    std::optional<Number> unary(const PatternNode &p) {
        const auto a = (*this)(p.child[0]);
        if (!a) {
            return std::nullopt;
        }
        if (p.op == PatternOp::Not) {
            return integer(a->i == 0);
        }
        if (a->is_float) {
            return real(-a->f);
        }
        int64_t r;
        return __builtin_sub_overflow(int64_t(0), a->i, &r) ? std::nullopt : integer(r);
    }

    std::optional<Number> binary(const PatternNode &p) {
        const auto a = (*this)(p.child[0]);
        // Both sides of && and || may lack a bound: only the side that decides is needed.
        if (p.op == PatternOp::And && a && !a->i) {
            return a;
        }
        if (p.op == PatternOp::Or && a && a->i) {
            return a;
        }
        const auto b = (*this)(p.child[1]);
        if (p.op == PatternOp::Or && !a) {
            return b;
        }
        if (!a || !b) {
            return std::nullopt;
        }
        return a->is_float || b->is_float ? on_floats(p.op, a->as_double(), b->as_double())
                                          : on_integers(p.op, a->i, b->i);
    }

    std::optional<Number> on_integers(PatternOp op, int64_t a, int64_t b) const {
        int64_t r = 0;
        switch (op) {
        case PatternOp::Add:
            return __builtin_add_overflow(a, b, &r) ? std::nullopt : integer(r);
        case PatternOp::Sub:
            return __builtin_sub_overflow(a, b, &r) ? std::nullopt : integer(r);
        case PatternOp::Mul:
            return __builtin_mul_overflow(a, b, &r) ? std::nullopt : integer(r);
        case PatternOp::Div:
            if (b == -1) {
                return __builtin_sub_overflow(int64_t(0), a, &r) ? std::nullopt : integer(r);
            }
            return integer(euclidean_div(a, b));
        case PatternOp::Mod:
            return integer(euclidean_mod(a, b));
        case PatternOp::Min:
            return integer(a < b ? a : b);
        case PatternOp::Max:
            return integer(a < b ? b : a);
        case PatternOp::EQ:
            return integer(a == b);
        case PatternOp::NE:
            return integer(a != b);
        case PatternOp::LT:
            return integer(a < b);
        case PatternOp::LE:
            return integer(a <= b);
        case PatternOp::And:
            return integer(a && b);
        case PatternOp::Or:
            return integer(a || b);
        default:
            internal_error << "rule '" << rule_.text << "': not arithmetic";
        }
    }

    std::optional<Number> on_floats(PatternOp op, double a, double b) const {
        switch (op) {
        case PatternOp::Add:
            return real(a + b);
        case PatternOp::Sub:
            return real(a - b);
        case PatternOp::Mul:
            return real(a * b);
        case PatternOp::Div:
            return real(a / b);
        case PatternOp::Min:
            return real(a < b ? a : b);
        case PatternOp::Max:
            return real(a > b ? a : b);
        case PatternOp::EQ:
            return integer(a == b);
        case PatternOp::NE:
            return integer(a != b);
        case PatternOp::LT:
            return integer(a < b);
        case PatternOp::LE:
            return integer(a <= b);
        default:
            return std::nullopt;
        }
    }

    const Rule &rule_;
    const Bindings &bind_;
    RangeOracle &oracle_;
};

}  // namespace

bool match_rule(const Rule &rule, const Expr *operands, int lanes, Bindings *bindings) {
    Matcher matcher(rule, *bindings);
    const PatternNode &root = rule.nodes[rule.pattern];
    const bool lanes_last = root.op == PatternOp::Ramp || root.op == PatternOp::Broadcast;
    for (int i = 0; i < root.arity - lanes_last; i++) {
        if (!matcher.match(root.child[i], operands[i])) {
            return false;
        }
    }
    if (lanes_last && !matcher.lanes(root.child[root.arity - 1], lanes)) {
        return false;
    }
    const uint8_t types =
        bindings->finite_floats && (rule.types & finite) ? rule.types | floating : rule.types;
    for (int16_t source : rule.value_slots) {
        const Type t = bindings->type_of(source);
        if (!(types & rule_type_of(t)) || ((rule.types & scalar) && t.is_vector())) {
            return false;
        }
    }
    return true;
}

std::optional<Number> evaluate(const Rule &rule, int node, const Bindings &bindings,
                               RangeOracle &oracle) {
    return Evaluator(rule, bindings, oracle)(node);
}

bool condition_holds(const Rule &rule, const Bindings &bindings, RangeOracle &oracle) {
    if (rule.condition < 0) {
        return true;
    }
    const auto value = evaluate(rule, rule.condition, bindings, oracle);
    return value && value->i != 0;
}

const std::vector<RuleFile> &rule_files() {
    static const std::vector<RuleFile> files = {
        add_rules, sub_rules, mul_rules,    div_rules,  mod_rules,
        min_rules, max_rules, lt_rules,     eq_rules,   and_rules,
        or_rules,  not_rules, select_rules, ramp_rules, broadcast_rules,
    };
    return files;
}

const RuleTable &RuleTable::instance() {
    static const RuleTable table;
    return table;
}

RuleTable::RuleTable() {
    for (const RuleFile &file : rule_files()) {
        Root &root = roots_[size_t(file.root)];
        for (size_t i = 0; i < file.count; i++) {
            for (Rule &rule : compile_rule(file.root, file.rules[i])) {
                const PatternOp op = rule.nodes[rule.pattern].op;
                internal_assert(op == pattern_op(file.root))
                    << "rule '" << rule.text << "' stands in the table of " << file.name;
                root.rules.push_back(std::move(rule));
            }
        }
        index(root);
    }
}

void RuleTable::index(Root &root) {
    root.by_kinds.assign(kinds * kinds, {});
    for (size_t r = 0; r < root.rules.size(); r++) {
        const Rule &rule = root.rules[r];
        const PatternNode &top = rule.nodes[rule.pattern];
        for (int a = 0; a < kinds; a++) {
            if (!may_match(rule.nodes[top.child[0]], a)) {
                continue;
            }
            for (int b = 0; b < kinds; b++) {
                if (top.arity < 2 || may_match(rule.nodes[top.child[1]], b)) {
                    root.by_kinds[a * kinds + b].push_back(uint16_t(r));
                }
            }
        }
    }
}

bool RuleTable::may_match(const PatternNode &p, int kind) {
    switch (p.op) {
    case PatternOp::Wild:
    case PatternOp::Lanes:
        return true;
    case PatternOp::Const:
    case PatternOp::Literal:
    case PatternOp::True:
    case PatternOp::False:
        return kind == constant_kind;
    case PatternOp::Broadcast:
        return kind == constant_kind || kind == int(NodeKind::Broadcast);
    default:
        return pattern_op(NodeKind(kind)) == p.op;
    }
}

int RuleTable::kind_of(const Expr &e) {
    return number_of(e.get()) ? constant_kind : int(e.kind());
}

RuleTable::Candidates RuleTable::candidates(NodeKind root, const Expr &a, const Expr *b) const {
    static const std::vector<uint16_t> none;
    const Root &r = roots_[size_t(root)];
    if (r.by_kinds.empty()) {
        return {nullptr, &none};
    }
    const int kb = b ? kind_of(*b) : 0;
    return {r.rules.data(), &r.by_kinds[kind_of(a) * kinds + kb]};
}

}  // namespace calotype::internal
