// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every rule is reached: there are constants with which its own pattern, as an expression, matches
// it and no rule above it.
#include <gtest/gtest.h>

#include <random>

#include "arith/simplify/rule_table.h"
#include "ir/constants.h"
#include "rules/rule_cases.h"
#include "support/error.h"

namespace calotype::test {

using namespace internal;
namespace {

using internal::PatternNode;
using internal::PatternOp;
using internal::Rule;

/// Nothing is known but what the test says: bounds and remainders that suit most conditions.
class FixedOracle final : public internal::RangeOracle {
public:
    int64_t low = 0, high = 0;
    bool knows_remainders = true;
    std::optional<int64_t> lower_bound(const ExprNode *) override {
        return low;
    }
    std::optional<int64_t> upper_bound(const ExprNode *) override {
        return high;
    }
    std::optional<int64_t> remainder(const ExprNode *, int64_t modulus) override {
        return modulus == 0 || !knows_remainders ? std::nullopt : std::optional<int64_t>(0);
    }
};

Type value_type(const Rule &rule) {
    return rule.types & internal::exact          ? Int(32)
           : rule.types & internal::narrow_int   ? Int(8)
           : rule.types & internal::unsigned_int ? UInt(8)
           : rule.types & internal::boolean      ? Bool()
                                                 : Float(32);
}

/// The pattern of a rule as an expression: letters are variables, constants what is asked for.
class Instance {
public:
    Instance(const Rule &rule, const std::vector<int64_t> &constants)
        : rule_(rule), constants_(constants), symbols_(symbols_of(rule)) {
    }

    /// The operands of the root, and its lanes where it is a ramp or broadcast.
    std::vector<Expr> operands() {
        const PatternNode &root = rule_.nodes[rule_.pattern];
        const int lanes = lanes_of(rule_.pattern) / (is_vector_op(root) ? lane_count(root) : 1);
        std::vector<Expr> all;
        for (int i = 0; i < root.arity - is_vector_op(root); i++) {
            all.push_back(make(root.child[i], lanes));
        }
        return all;
    }
    int root_lanes() const {
        const PatternNode &root = rule_.nodes[rule_.pattern];
        return is_vector_op(root) ? lane_count(root) : 0;
    }

private:
    static bool is_vector_op(const PatternNode &p) {
        return p.op == PatternOp::Ramp || p.op == PatternOp::Broadcast;
    }
    int lane_count(const PatternNode &p) const {
        return rule_.nodes[p.child[p.arity - 1]].slot == 0 ? 4 : 2;
    }
    int lanes_of(int n) const {
        const PatternNode &p = rule_.nodes[n];
        int lanes = 1;
        for (int i = 0; i < p.arity - is_vector_op(p); i++) {
            lanes = std::max(lanes, lanes_of(p.child[i]));
        }
        return is_vector_op(p) ? lanes * lane_count(p) : lanes;
    }
    Type type_of(PatternOp op, int slot, int lanes) const {
        for (const Symbol &s : symbols_) {
            if (s.op == op && s.slot == slot) {
                return (s.condition ? Bool() : value_type(rule_)).with_lanes(lanes);
            }
        }
        internal_error << "rule '" << rule_.text << "': no such symbol";
    }

    Expr make(int n, int lanes) {
        const PatternNode &p = rule_.nodes[n];
        switch (p.op) {
        case PatternOp::Wild:
            return Variable::make(type_of(p.op, p.slot, lanes), std::string(1, "xyzwuvab"[p.slot]));
        case PatternOp::Const:
            return make_const(type_of(p.op, p.slot, lanes), constants_[p.slot]);
        case PatternOp::Literal:
            return make_const(value_type(rule_).with_lanes(lanes), p.value);
        case PatternOp::True:
        case PatternOp::False:
            return make_const(Bool(lanes), p.op == PatternOp::True);
        case PatternOp::Not:
            return Not::make(make(p.child[0], lanes));
        case PatternOp::Likely: {
            const Expr e = make(p.child[0], lanes);
            return Call::make(e.type(), Intrinsic::likely, {e});
        }
        case PatternOp::Select:
            return Select::make(make(p.child[0], lanes), make(p.child[1], lanes),
                                make(p.child[2], lanes));
        case PatternOp::Broadcast:
            return Broadcast::make(make(p.child[0], lanes / lane_count(p)), lane_count(p));
        case PatternOp::Ramp:
            return Ramp::make(make(p.child[0], lanes / lane_count(p)),
                              make(p.child[1], lanes / lane_count(p)), lane_count(p));
        default:
            return binary(p.op, make(p.child[0], lanes), make(p.child[1], lanes));
        }
    }

    Expr binary(PatternOp op, const Expr &a, const Expr &b) const {
        switch (op) {
        case PatternOp::Add:
            return Add::make(a, b);
        case PatternOp::Sub:
            return Sub::make(a, b);
        case PatternOp::Mul:
            return Mul::make(a, b);
        case PatternOp::Div:
            return Div::make(a, b);
        case PatternOp::Mod:
            return Mod::make(a, b);
        case PatternOp::Min:
            return Min::make(a, b);
        case PatternOp::Max:
            return Max::make(a, b);
        case PatternOp::EQ:
            return EQ::make(a, b);
        case PatternOp::NE:
            return NE::make(a, b);
        case PatternOp::LT:
            return LT::make(a, b);
        case PatternOp::LE:
            return LE::make(a, b);
        case PatternOp::And:
            return And::make(a, b);
        case PatternOp::Or:
            return Or::make(a, b);
        default:
            internal_error << "rule '" << rule_.text << "': not a binary operator";
        }
    }

    const Rule &rule_;
    const std::vector<int64_t> &constants_;
    std::vector<Symbol> symbols_;
};

enum class Reached { Yes, Shadowed, NeverMatches };

/// Which rule of the table comes first for the pattern of `rule`, over many constants.
Reached reach(const internal::RuleFile &file, const Rule &rule, std::string *shadow) {
    static constexpr int64_t values[] = {1, 2, 3, 4, 8, -1, -2, -4, 0, 7, 5, 12, -8};
    std::mt19937 random(3);
    const auto &rules = internal::RuleTable::instance().rules(file.root);
    Reached best = Reached::NeverMatches;
    for (int tries = 0; tries < 3000; tries++) {
        std::vector<int64_t> constants(internal::max_consts);
        for (int64_t &c : constants) {
            c = values[random() % std::size(values)];
        }
        FixedOracle oracle;
        oracle.low = tries % 2 ? 0 : 1;
        oracle.high = tries % 3 ? 0 : -1;
        oracle.knows_remainders = tries % 5 != 0;
        Instance instance(rule, constants);
        const std::vector<Expr> operands = instance.operands();
        for (const Rule &candidate : rules) {
            internal::Bindings bindings;
            if (!internal::match_rule(candidate, operands.data(), instance.root_lanes(),
                                      &bindings) ||
                !internal::condition_holds(candidate, bindings, oracle)) {
                continue;
            }
            if (candidate.text == rule.text) {
                return Reached::Yes;
            }
            *shadow = candidate.text;
            best = Reached::Shadowed;
            break;
        }
    }
    return best;
}

TEST(Reach, EveryRuleAppliesSomewhere) {
    for (const NamedRule &named : all_rules()) {
        std::string shadow;
        const Reached reached = reach(*named.file, named.rule, &shadow);
        EXPECT_TRUE(reached == Reached::Yes)
            << named.file->name << ": " << named.rule.text
            << (reached == Reached::Shadowed ? "\n  never comes before " + shadow
                                             : "\n  does not match itself");
    }
}

}  // namespace
}  // namespace calotype::test
