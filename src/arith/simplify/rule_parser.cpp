// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rule text to patterns. The grammar is that of C expressions over the letters of rule.h:
//
//   rule       = expression "->" expression [ "if" expression ]
//   expression = unary { operator expression }     by precedence: * /  %, + -, < <= > >=, == !=,
//   &&, || unary      = [ "-" | "!" ] primary primary    = number | letter | name "(" expression {
//   "," expression } ")" | "(" expression ")"
#include <algorithm>
#include <cctype>
#include <set>

#include "arith/simplify/rule.h"
#include "support/error.h"

namespace calotype::internal {

RuleTypes rule_type_of(Type t) {
    if (t.is_bool()) {
        return boolean;
    }
    if (t.is_float()) {
        return floating;
    }
    if (t.is_uint()) {
        return unsigned_int;
    }
    return t.is_int() ? (t.can_overflow() ? narrow_int : exact) : RuleTypes(0);
}

bool is_commutative(PatternOp op) {
    switch (op) {
    case PatternOp::Add:
    case PatternOp::Mul:
    case PatternOp::Min:
    case PatternOp::Max:
    case PatternOp::EQ:
    case PatternOp::NE:
    case PatternOp::And:
    case PatternOp::Or:
        return true;
    default:
        return false;
    }
}

namespace {

struct BinaryOperator {
    const char *text;
    int precedence;
    PatternOp op;
    bool swapped;  // a > b is b < a
};

// Longer operators before their prefixes.
constexpr BinaryOperator binary_operators[] = {
    {"||", 1, PatternOp::Or, false}, {"&&", 2, PatternOp::And, false},
    {"==", 3, PatternOp::EQ, false}, {"!=", 3, PatternOp::NE, false},
    {"<=", 4, PatternOp::LE, false}, {">=", 4, PatternOp::LE, true},
    {"<", 4, PatternOp::LT, false},  {">", 4, PatternOp::LT, true},
    {"+", 5, PatternOp::Add, false}, {"-", 5, PatternOp::Sub, false},
    {"*", 6, PatternOp::Mul, false}, {"/", 6, PatternOp::Div, false},
    {"%", 6, PatternOp::Mod, false},
};

struct NamedFunction {
    const char *name;
    PatternOp op;
    int arity;
};

constexpr NamedFunction named_functions[] = {
    {"min", PatternOp::Min, 2},
    {"max", PatternOp::Max, 2},
    {"select", PatternOp::Select, 3},
    {"ramp", PatternOp::Ramp, 3},
    {"broadcast", PatternOp::Broadcast, 2},
    {"likely", PatternOp::Likely, 1},
    {"fold", PatternOp::Fold, 1},
    {"fit", PatternOp::Fold, 1},
    {"lo", PatternOp::Lo, 1},
    {"hi", PatternOp::Hi, 1},
    {"rem", PatternOp::Rem, 2},
};

class RuleParser {
public:
    explicit RuleParser(const RuleText &text) : text_(text.text) {
        rule_.types = text.types;
        rule_.text = text.text;
    }

    Rule parse() {
        rule_.pattern = expression(0);
        expect("->");
        rule_.replacement = expression(0);
        find_repeated();
        collect_operands(
            rule_.pattern, [](int) { return true; }, rule_.operands);
        collect_operands(
            rule_.replacement, [this](int n) { return has_letter(n) && !is_in_pattern(n); },
            rule_.new_operands);
        if (accept("if")) {
            rule_.condition = expression(0);
        }
        skip_space();
        internal_assert(at_ == text_.size()) << "rule '" << text_ << "': junk at column " << at_;
        return std::move(rule_);
    }

private:
    void find_repeated() {
        int uses[max_wilds] = {};
        count_letters(rule_.pattern, 1, uses);
        count_letters(rule_.replacement, -1, uses);
        for (int slot = 0; slot < max_wilds; slot++) {
            if (uses[slot] != 0) {
                rule_.repeated.push_back(uint8_t(slot));
            }
        }
    }

    void count_letters(int n, int weight, int *uses) const {
        const PatternNode &p = rule_.nodes[n];
        if (p.op == PatternOp::Wild) {
            uses[p.slot] += weight;
        }
        for (int i = 0; i < p.arity; i++) {
            count_letters(p.child[i], weight, uses);
        }
    }

    // Whether the values of its operands have to fit their type, where sums do not.
    static bool needs_values(PatternOp op) {
        switch (op) {
        case PatternOp::Div:
        case PatternOp::Mod:
        case PatternOp::Min:
        case PatternOp::Max:
        case PatternOp::EQ:
        case PatternOp::NE:
        case PatternOp::LT:
        case PatternOp::LE:
            return true;
        default:
            return false;
        }
    }

    template<typename F>
    void collect_operands(int n, const F &wanted, std::vector<uint16_t> &out) const {
        const PatternNode &p = rule_.nodes[n];
        for (int i = 0; i < p.arity; i++) {
            if (needs_values(p.op) && wanted(p.child[i])) {
                out.push_back(p.child[i]);
            }
            collect_operands(p.child[i], wanted, out);
        }
    }

    bool has_letter(int n) const {
        const PatternNode &p = rule_.nodes[n];
        return p.op == PatternOp::Wild ||
               std::any_of(p.child, p.child + p.arity, [this](int c) { return has_letter(c); });
    }

    // A choice between operands is one of them.
    bool is_in_pattern(int n) const {
        const PatternNode &p = rule_.nodes[n];
        if (p.op == PatternOp::Select) {
            return is_in_pattern(p.child[1]) && is_in_pattern(p.child[2]);
        }
        return std::any_of(rule_.operands.begin(), rule_.operands.end(),
                           [&](int operand) { return are_equal(operand, n); });
    }

    bool are_equal(int m, int n) const {
        const PatternNode &p = rule_.nodes[m], &q = rule_.nodes[n];
        if (p.op != q.op || p.slot != q.slot || p.value != q.value || p.arity != q.arity) {
            return false;
        }
        const auto same = [&](int i, int k) {
            return are_equal(p.child[i], q.child[k]);
        };
        if (p.arity == 2 && is_commutative(p.op) && same(0, 1) && same(1, 0)) {
            return true;
        }
        for (int i = 0; i < p.arity; i++) {
            if (!same(i, i)) {
                return false;
            }
        }
        return true;
    }

    void skip_space() {
        while (at_ < text_.size() && text_[at_] == ' ') {
            at_++;
        }
    }

    bool accept(std::string_view token) {
        skip_space();
        if (text_.substr(at_, token.size()) != token) {
            return false;
        }
        at_ += token.size();
        return true;
    }

    void expect(std::string_view token) {
        internal_assert(accept(token))
            << "rule '" << text_ << "': expected " << token << " at column " << at_;
    }

    int add(PatternOp op, std::initializer_list<int> children = {}, int slot = 0,
            int64_t value = 0) {
        PatternNode n;
        n.op = op;
        n.slot = uint8_t(slot);
        n.value = value;
        for (int c : children) {
            n.child[n.arity++] = uint16_t(c);
        }
        rule_.nodes.push_back(n);
        return int(rule_.nodes.size()) - 1;
    }

    const BinaryOperator *peek_operator() {
        skip_space();
        const std::string_view rest = text_.substr(at_);
        if (rest.substr(0, 2) == "->") {
            return nullptr;
        }
        for (const BinaryOperator &o : binary_operators) {
            if (rest.substr(0, std::string_view(o.text).size()) == o.text) {
                return &o;
            }
        }
        return nullptr;
    }

    int expression(int least_precedence) {
        int left = unary();
        while (const BinaryOperator *o = peek_operator()) {
            if (o->precedence <= least_precedence) {
                break;
            }
            at_ += std::string_view(o->text).size();
            const int right = expression(o->precedence);
            left = o->swapped ? add(o->op, {right, left}) : add(o->op, {left, right});
        }
        return left;
    }

    int unary() {
        if (accept("!")) {
            return add(PatternOp::Not, {unary()});
        }
        if (accept("-")) {
            const int operand = unary();
            PatternNode &n = rule_.nodes[operand];
            if (n.op == PatternOp::Literal) {
                n.value = -n.value;
                return operand;
            }
            return add(PatternOp::Negate, {operand});
        }
        return primary();
    }

    int primary() {
        if (accept("(")) {
            const int inner = expression(0);
            expect(")");
            return inner;
        }
        skip_space();
        if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
            return add(PatternOp::Literal, {}, 0, number());
        }
        std::string name;
        while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_]))) {
            name += text_[at_++];
        }
        return accept("(") ? call(name) : leaf(name);
    }

    int64_t number() {
        int64_t value = 0;
        while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
            value = value * 10 + (text_[at_++] - '0');
        }
        return value;
    }

    int call(const std::string &name) {
        for (const NamedFunction &f : named_functions) {
            if (name != f.name) {
                continue;
            }
            int children[3] = {};
            for (int i = 0; i < f.arity; i++) {
                if (i > 0) {
                    expect(",");
                }
                children[i] = expression(0);
            }
            expect(")");
            const int n = add(f.op, {}, name == "fit" ? fold_must_fit : 0);
            rule_.nodes[n].arity = uint8_t(f.arity);
            std::copy(children, children + 3, rule_.nodes[n].child);
            return n;
        }
        internal_error << "rule '" << text_ << "': no function '" << name << "'";
    }

    int leaf(const std::string &name) {
        static constexpr std::string_view letters = "xyzwuvab";
        if (name.size() == 1 && letters.find(name[0]) != std::string_view::npos) {
            return add(PatternOp::Wild, {}, int(letters.find(name[0])));
        }
        if (name.size() == 2 && name[0] == 'c' && name[1] >= '0' && name[1] < '0' + max_consts) {
            return add(PatternOp::Const, {}, name[1] - '0');
        }
        if (name.size() == 2 && name[0] == 'l' && name[1] >= '0' && name[1] < '0' + max_lanes) {
            return add(PatternOp::Lanes, {}, name[1] - '0');
        }
        internal_assert(name == "true" || name == "false")
            << "rule '" << text_ << "': no letter '" << name << "'";
        return add(name == "true" ? PatternOp::True : PatternOp::False);
    }

    std::string_view text_;
    size_t at_ = 0;
    Rule rule_;
};

bool is_logic(PatternOp op) {
    return op == PatternOp::And || op == PatternOp::Or || op == PatternOp::Not;
}

bool is_comparison(PatternOp op) {
    return op == PatternOp::EQ || op == PatternOp::NE || op == PatternOp::LT || op == PatternOp::LE;
}

// Sets that are joined until those in one set are known to be alike.
class UnionFind {
public:
    explicit UnionFind(size_t size) : parent_(size) {
        for (size_t i = 0; i < size; i++) {
            parent_[i] = int(i);
        }
    }
    int find(int i) const {
        while (parent_[i] != i) {
            i = parent_[i];
        }
        return i;
    }
    void join(int a, int b) {
        parent_[find(a)] = find(b);
    }

private:
    std::vector<int> parent_;
};

// Which places of a rule (nodes, letters, constants, the root) have the same type, and which have
// the same type but for the lanes; from the latter follows which are conditions.
class TypeInference {
public:
    explicit TypeInference(Rule &rule)
        : rule_(rule), types_(slots + rule.nodes.size()), elements_(types_),
          is_condition_(slots + rule.nodes.size()) {
        walk(rule.pattern);
        // Before the replacement: a letter that only it shows to be a condition is to be checked.
        for (int i = 0; i < Rule::type_of_root; i++) {
            if (bound_in_pattern(rule.pattern, i) && !condition(i)) {
                rule_.value_slots.push_back(int16_t(i));
            }
        }
        walk(rule.replacement);
        join(node(rule.pattern), Rule::type_of_root);
        join(node(rule.replacement), Rule::type_of_root);
        annotate(rule_.replacement);
    }

private:
    static constexpr int slots = Rule::type_of_root + 1;

    int node(int n) const {
        const PatternNode &p = rule_.nodes[n];
        if (p.op == PatternOp::Wild) {
            return Rule::type_of_wild + p.slot;
        }
        return p.op == PatternOp::Const ? Rule::type_of_const + p.slot : slots + n;
    }

    bool condition(int i) const {
        for (size_t k = 0; k < is_condition_.size(); k++) {
            if (is_condition_[k] && elements_.find(int(k)) == elements_.find(i)) {
                return true;
            }
        }
        return false;
    }

    void join(int a, int b) {
        types_.join(a, b);
        elements_.join(a, b);
    }

    void walk(int n) {
        const PatternNode &p = rule_.nodes[n];
        if (p.op == PatternOp::Fold) {
            return;
        }
        const bool lanes_last = p.op == PatternOp::Ramp || p.op == PatternOp::Broadcast;
        for (int i = 0; i < p.arity - lanes_last; i++) {
            walk(p.child[i]);
        }
        relate(n);
        const bool yields_condition = is_logic(p.op) || is_comparison(p.op) ||
                                      p.op == PatternOp::True || p.op == PatternOp::False;
        is_condition_[node(n)] = is_condition_[node(n)] || yields_condition;
    }

    // Joins a node with its children as its operator says.
    void relate(int n) {
        const PatternNode &p = rule_.nodes[n];
        switch (p.op) {
        case PatternOp::Add:
        case PatternOp::Sub:
        case PatternOp::Mul:
        case PatternOp::Div:
        case PatternOp::Mod:
        case PatternOp::Min:
        case PatternOp::Max:
        case PatternOp::And:
        case PatternOp::Or:
            join(node(p.child[0]), node(p.child[1]));
            join(node(p.child[0]), node(n));
            break;
        case PatternOp::Not:
        case PatternOp::Likely:
            join(node(p.child[0]), node(n));
            break;
        case PatternOp::EQ:
        case PatternOp::NE:
        case PatternOp::LT:
        case PatternOp::LE:
            join(node(p.child[0]), node(p.child[1]));
            break;
        case PatternOp::Select:
            join(node(p.child[1]), node(p.child[2]));
            join(node(p.child[1]), node(n));
            is_condition_[node(p.child[0])] = true;
            break;
        case PatternOp::Ramp:
            join(node(p.child[0]), node(p.child[1]));
            elements_.join(node(p.child[0]), node(n));
            break;
        case PatternOp::Broadcast:
            elements_.join(node(p.child[0]), node(n));
            break;
        default:
            break;
        }
    }

    bool bound_in_pattern(int n, int source) const {
        const PatternNode &p = rule_.nodes[n];
        if (p.arity == 0) {
            return node(n) == source;
        }
        return std::any_of(p.child, p.child + p.arity,
                           [&](int c) { return bound_in_pattern(c, source); });
    }

    // Gives each constant of the replacement something bound whose type it takes.
    void annotate(int n) {
        PatternNode &p = rule_.nodes[n];
        const bool constant = p.op == PatternOp::Fold || p.op == PatternOp::Literal ||
                              p.op == PatternOp::Const || p.op == PatternOp::True ||
                              p.op == PatternOp::False;
        if (constant) {
            for (int i = 0; i < slots && p.type_source < 0; i++) {
                const bool bound = i == Rule::type_of_root || bound_in_pattern(rule_.pattern, i);
                if (bound && types_.find(i) == types_.find(node(n))) {
                    p.type_source = int16_t(i);
                }
            }
            internal_assert(p.type_source >= 0)
                << "rule '" << rule_.text << "': a constant in the replacement has no type";
            return;
        }
        const bool lanes_last = p.op == PatternOp::Ramp || p.op == PatternOp::Broadcast;
        for (int i = 0; i < p.arity - lanes_last; i++) {
            annotate(p.child[i]);
        }
    }

    Rule &rule_;
    UnionFind types_, elements_;
    std::vector<bool> is_condition_;
};

bool is_constant_leaf(PatternOp op) {
    return op == PatternOp::Const || op == PatternOp::Literal || op == PatternOp::True ||
           op == PatternOp::False;
}

void collect_commutative(const Rule &r, int n, std::vector<int> &out) {
    const PatternNode &p = r.nodes[n];
    if (is_commutative(p.op) && !is_constant_leaf(r.nodes[p.child[1]].op)) {
        out.push_back(n);
    }
    for (int i = 0; i < p.arity; i++) {
        collect_commutative(r, p.child[i], out);
    }
}

// The pattern as text with letters numbered by first use: equal for patterns that match the same.
void shape(const Rule &r, int n, std::vector<int> &seen, std::string &out) {
    const PatternNode &p = r.nodes[n];
    out += char('A' + int(p.op));
    if (p.op == PatternOp::Wild || p.op == PatternOp::Const || p.op == PatternOp::Lanes) {
        const int key = int(p.op) * 16 + p.slot;
        auto it = std::find(seen.begin(), seen.end(), key);
        out += std::to_string(it - seen.begin());
        if (it == seen.end()) {
            seen.push_back(key);
        }
    }
    if (p.op == PatternOp::Literal) {
        out += std::to_string(p.value);
    }
    for (int i = 0; i < p.arity; i++) {
        shape(r, p.child[i], seen, out);
    }
}

// Marks, in matching order, where each letter is bound and where it is compared.
void mark_first_uses(Rule &r, int n, std::set<int> &seen) {
    PatternNode &p = r.nodes[n];
    if (p.op == PatternOp::Wild || p.op == PatternOp::Const || p.op == PatternOp::Lanes) {
        p.first_use = seen.insert(int(p.op) * 16 + p.slot).second;
    }
    for (int i = 0; i < p.arity; i++) {
        mark_first_uses(r, p.child[i], seen);
    }
}

}  // namespace

Rule parse_rule(const RuleText &text) {
    Rule rule = RuleParser(text).parse();
    TypeInference infer(rule);
    std::set<int> seen;
    mark_first_uses(rule, rule.pattern, seen);
    return rule;
}

std::vector<Rule> compile_rule(NodeKind root, const RuleText &text) {
    const Rule base = parse_rule(text);
    std::vector<int> turnable;
    collect_commutative(base, base.pattern, turnable);
    std::vector<Rule> variants;
    std::set<std::string> shapes;
    for (unsigned bits = 0; bits < 1u << turnable.size(); bits++) {
        Rule r = base;
        for (size_t i = 0; i < turnable.size(); i++) {
            if (bits >> i & 1) {
                std::swap(r.nodes[turnable[i]].child[0], r.nodes[turnable[i]].child[1]);
            }
        }
        std::vector<int> letters;
        std::string key;
        shape(r, r.pattern, letters, key);
        if (r.condition >= 0) {
            std::string conditional;
            shape(r, r.condition, letters, conditional);
            key += conditional;
        }
        if (shapes.insert(key).second) {
            std::set<int> seen;
            mark_first_uses(r, r.pattern, seen);
            variants.push_back(std::move(r));
        }
    }
    return variants;
}

}  // namespace calotype::internal
