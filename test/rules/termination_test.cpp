// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every rule makes its expression smaller in one well-founded order, so rewriting ends whatever
// rules apply in whatever places. The order is that of Knuth and Bendix:
//
//   - no letter occurs more often in the replacement than in the pattern;
//   - the weights of the replacement's nodes add up to less; or to the same, and
//   - its root comes later in `precedence`; or is the same operator, and its operands are smaller
//     (left to right, or as multisets where the operator commutes).
//
// Operators with a constant operand count as operators of their own, of one operand less, which
// come after the plain ones: that is what lets constants move outwards.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "rules/rule_cases.h"

namespace calotype::test {

using namespace internal;

namespace {

using internal::is_commutative;
using internal::PatternNode;
using internal::PatternOp;
using internal::Rule;

/// An operator, with which of its operands are constant (bit i for operand i).
struct Operator {
    PatternOp op;
    int constants;
    bool operator==(const Operator &o) const {
        return op == o.op && constants == o.constants;
    }
};

int weight(PatternOp op) {
    switch (op) {
    case PatternOp::Add:
    case PatternOp::Mul:
    case PatternOp::Min:
    case PatternOp::Max:
    case PatternOp::EQ:
    case PatternOp::NE:
    case PatternOp::LT:
    case PatternOp::LE:
        return 4;
    case PatternOp::Sub:
        return 5;
    case PatternOp::Div:
    case PatternOp::Mod:
        return 3;
    case PatternOp::And:
    case PatternOp::Or:
        return 2;
    case PatternOp::Select:
    case PatternOp::Ramp:
    case PatternOp::Broadcast:
        return 6;
    default:
        return 1;  // letters, constants, ! and likely
    }
}

/// From the first to the last: between equal weights, a rule replaces an earlier root by a later
/// one.
int precedence(const Operator &o) {
    static const std::vector<PatternOp> dividing = {PatternOp::Div, PatternOp::Mod};
    static const std::vector<PatternOp> plain = {
        PatternOp::Min, PatternOp::Max,    PatternOp::Div, PatternOp::Mod,
        PatternOp::Sub, PatternOp::Select, PatternOp::Add, PatternOp::Mul,
        PatternOp::Not, PatternOp::NE,     PatternOp::LE,  PatternOp::EQ,
        PatternOp::LT,  PatternOp::And,    PatternOp::Or,  PatternOp::Likely,
    };
    static const std::vector<PatternOp> with_constant = {
        PatternOp::Min, PatternOp::Max, PatternOp::Mul, PatternOp::Sub,
        PatternOp::Add, PatternOp::NE,  PatternOp::LE,  PatternOp::EQ,
        PatternOp::LT,  PatternOp::And, PatternOp::Or,
    };
    auto place = [&](const std::vector<PatternOp> &order) {
        return int(std::find(order.begin(), order.end(), o.op) - order.begin());
    };
    if (o.op == PatternOp::Ramp || o.op == PatternOp::Broadcast) {
        return -300 - int(o.op);
    }
    if (!o.constants) {
        return -100 - place(plain);
    }
    return place(dividing) < int(dividing.size()) ? -place(dividing) : -200 - place(with_constant);
}

class Order {
public:
    explicit Order(const Rule &rule) : rule_(rule) {
    }

    bool decreases() const {
        if (constant(rule_.pattern) && constant(rule_.replacement)) {
            return size(rule_.pattern) > size(rule_.replacement);
        }
        return greater(rule_.pattern, rule_.replacement);
    }

    /// True if the engine folds something in the pattern, so that it never comes to this rule.
    bool folds_before() const {
        return folds(rule_.pattern);
    }

private:
    int size(int n) const {
        int sum = 1;
        for (int i = 0; i < node(n).arity && node(n).op != PatternOp::Fold; i++) {
            sum += size(node(n).child[i]);
        }
        return sum;
    }

    // A constant, or what folds to one.
    bool constant(int n) const {
        switch (node(n).op) {
        case PatternOp::Const:
        case PatternOp::Literal:
        case PatternOp::Fold:
        case PatternOp::True:
        case PatternOp::False:
        case PatternOp::Lanes:
            return true;
        case PatternOp::Wild:
        case PatternOp::Ramp:
        case PatternOp::Likely:
            return false;
        default:
            return std::all_of(node(n).child, node(n).child + node(n).arity,
                               [&](int child) { return constant(child); });
        }
    }

    bool folds(int n) const {
        const bool operation = node(n).arity > 0 && node(n).op != PatternOp::Broadcast;
        return (operation && constant(n)) ||
               std::any_of(node(n).child, node(n).child + node(n).arity,
                           [&](int child) { return folds(child); });
    }

    const PatternNode &node(int n) const {
        return rule_.nodes[n];
    }

    // Choices have no constants of their own: theirs are operands like others.
    bool absorbs_constants(int n) const {
        return node(n).op != PatternOp::Select;
    }

    Operator root(int n) const {
        Operator o{node(n).op, 0};
        if (!absorbs_constants(n)) {
            return o;
        }
        const bool lanes_last = o.op == PatternOp::Ramp || o.op == PatternOp::Broadcast;
        for (int i = 0; i < node(n).arity - lanes_last; i++) {
            o.constants |= constant(node(n).child[i]) ? 1 << i : 0;
        }
        return o;
    }

    std::vector<int> operands(int n) const {
        std::vector<int> all;
        for (int i = 0; i < node(n).arity && !constant(n); i++) {
            if (!constant(node(n).child[i]) || !absorbs_constants(n)) {
                all.push_back(node(n).child[i]);
            }
        }
        return all;
    }

    int weigh(int n) const {
        if (node(n).op == PatternOp::Lanes) {
            return 0;
        }
        if (constant(n)) {
            return 1;
        }
        int sum = weight(node(n).op);
        const bool lanes_last = node(n).op == PatternOp::Ramp || node(n).op == PatternOp::Broadcast;
        for (int i = 0; i < node(n).arity - lanes_last; i++) {
            sum += weigh(node(n).child[i]);
        }
        return sum;
    }

    void count(int n, std::map<int, int> &letters, int sign) const {
        if (node(n).op == PatternOp::Wild) {
            letters[node(n).slot] += sign;
        }
        for (int child : operands(n)) {
            count(child, letters, sign);
        }
    }

    bool same(int a, int b) const {
        if (constant(a) || constant(b)) {
            return constant(a) && constant(b);
        }
        if (node(a).op == PatternOp::Wild || node(b).op == PatternOp::Wild) {
            return node(a).op == node(b).op && node(a).slot == node(b).slot;
        }
        const auto x = operands(a), y = operands(b);
        if (!(root(a) == root(b)) || x.size() != y.size()) {
            return false;
        }
        if (x.size() == 2 && is_commutative(node(a).op) && same(x[0], y[1]) && same(x[1], y[0])) {
            return true;
        }
        for (size_t i = 0; i < x.size(); i++) {
            if (!same(x[i], y[i])) {
                return false;
            }
        }
        return true;
    }

    bool greater(int a, int b) const {
        std::map<int, int> letters;
        count(a, letters, 1);
        count(b, letters, -1);
        for (const auto &[letter, surplus] : letters) {
            if (surplus < 0) {
                return false;
            }
        }
        if (weigh(a) != weigh(b)) {
            return weigh(a) > weigh(b);
        }
        const bool leaf_a = node(a).op == PatternOp::Wild || constant(a);
        const bool leaf_b = node(b).op == PatternOp::Wild || constant(b);
        if (leaf_a || leaf_b) {
            return false;
        }
        if (!(root(a) == root(b))) {
            return precedence(root(a)) > precedence(root(b));
        }
        return is_commutative(node(a).op) ? greater_multiset(operands(a), operands(b))
                                          : greater_in_turn(operands(a), operands(b));
    }

    bool greater_in_turn(const std::vector<int> &a, const std::vector<int> &b) const {
        for (size_t i = 0; i < a.size() && i < b.size(); i++) {
            if (!same(a[i], b[i])) {
                return greater(a[i], b[i]);
            }
        }
        return false;
    }

    bool greater_multiset(std::vector<int> a, std::vector<int> b) const {
        for (size_t i = 0; i < a.size();) {
            const auto match =
                std::find_if(b.begin(), b.end(), [&](int n) { return same(a[i], n); });
            if (match == b.end()) {
                i++;
                continue;
            }
            b.erase(match);
            a.erase(a.begin() + long(i));
        }
        return !a.empty() && std::all_of(b.begin(), b.end(), [&](int n) {
            return std::any_of(a.begin(), a.end(), [&](int m) { return greater(m, n); });
        });
    }

    const Rule &rule_;
};

/// Rules that the order does not see shrink, and why they end all the same.
const char *const negative = "one negative factor less; no rule makes a factor negative in a sum";
const char *const scalar =
    "an operation on vectors becomes one on scalars; no rule does the reverse";
const char *const reduced =
    "the constant comes into [0, divisor), and so its own condition fails from then on";
const std::map<std::string, const char *> exceptions = {
    {"x + y * c0 -> x - y * fold(-c0) if c0 < 0", negative},
    {"(x - y) * c0 -> (y - x) * fold(-c0) if c0 < 0", negative},
    {"x - (y + c0) -> (x - y) - c0",
     "a constant leaves a difference; no rule puts one into a difference"},
    {"c0 - ramp(y, z, l0) -> ramp(c0 - y, 0 - z, l0)", "a ramp rises; no rule lowers one"},
    {"ramp(x, y, l0) * c0 -> ramp(x * c0, y * c0, l0)", "a ramp rises; no rule lowers one"},
    {"(x + c0) + broadcast(a, l0) -> x + broadcast(a + fold(c0), l0)", scalar},
    {"(x + broadcast(a, l0)) + c0 -> x + broadcast(a + fold(c0), l0)", scalar},
    {"(x - broadcast(a, l0)) + c0 -> x + broadcast(fold(c0) - a, l0)", scalar},
    {"x / -1 -> 0 - x", "a quotient goes; no rule on sums and products makes one"},
    {"(x + c0) / c1 -> (x + fold(c0 % c1)) / c1 + fold(c0 / c1) if c1 > 0 && (c0 < 0 || c0 >= c1)",
     reduced},
    {"(c0 - x) / c1 -> (fold(c0 % c1) - x) / c1 + fold(c0 / c1) if c1 > 0 && (c0 < 0 || c0 >= c1)",
     reduced},
    {"(x + c0) % c1 -> (x + fold(c0 % c1)) % c1 if c1 > 0 && (c0 < 0 || c0 >= c1)", reduced},
    {"(c0 - x) % c1 -> (fold(c0 % c1) - x) % c1 if c1 > 0 && (c0 < 0 || c0 >= c1)", reduced},
    {"(x * c0) % c1 -> (x * fold(c0 % c1)) % c1 if c1 > 0 && (c0 < 0 || c0 >= c1)", reduced},
    {"(x * c0 + y) % c1 -> (x * fold(c0 % c1) + y) % c1 if c1 > 0 && (c0 < 0 || c0 >= c1)",
     reduced},
    {"ramp(x, c0, l0) % c1 -> ramp(x, fold(c0 % c1), l0) % c1 if c1 > 0 && (c0 < 0 || c0 >= c1)",
     reduced},
};

TEST(Termination, EveryRuleMakesItsExpressionSmaller) {
    for (const NamedRule &named : all_rules()) {
        if (!exceptions.count(named.rule.text)) {
            EXPECT_TRUE(Order(named.rule).decreases())
                << named.file->name << ": " << named.rule.text;
        }
    }
}

/// The rule with some of its letters standing for constants, which changes the operators around
/// them.
Rule with_constants(const Rule &rule, unsigned letters) {
    Rule r = rule;
    for (PatternNode &p : r.nodes) {
        if (p.op == PatternOp::Wild && (letters >> p.slot & 1)) {
            p.op = PatternOp::Const;
        }
    }
    return r;
}

TEST(Termination, AlsoWhereLettersAreConstants) {
    for (const NamedRule &named : all_rules()) {
        for (unsigned letters = 1; letters < 1u << internal::first_nonconstant_wild; letters++) {
            const auto symbols = symbols_of(named.rule);
            unsigned values = 0;
            for (const Symbol &s : symbols) {
                values |= s.op == PatternOp::Wild && !s.condition ? 1u << s.slot : 0;
            }
            const Rule rule = with_constants(named.rule, letters);
            if ((letters & ~values) || Order(rule).folds_before() || exceptions.count(rule.text)) {
                continue;
            }
            EXPECT_TRUE(Order(rule).decreases()) << named.file->name << ": " << rule.text
                                                 << " with constants for letters " << letters;
        }
    }
}

TEST(Termination, ExceptionsAreNeeded) {
    std::map<std::string, const char *> unused = exceptions;
    for (const NamedRule &named : all_rules()) {
        if (exceptions.count(named.rule.text) && !Order(named.rule).decreases()) {
            unused.erase(named.rule.text);
        }
    }
    for (const auto &[text, reason] : unused) {
        ADD_FAILURE() << "not a rule that needs an exception: " << text;
    }
}

}  // namespace
}  // namespace calotype::test
