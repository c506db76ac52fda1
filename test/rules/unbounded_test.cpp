// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every rule that claims int32 and int64, proved by Z3 over unbounded integers. Constants are
// symbols where Z3 decides that quickly; elsewhere the rule is proved for each of many choices of
// constants, the other letters still standing for all integers.
#include <gtest/gtest.h>

#ifdef CALOTYPE_WITH_Z3
#include <z3++.h>

#include <random>

#include "rules/rule_cases.h"
#include "support/error.h"

namespace calotype::test {

using namespace internal;

namespace {

using internal::PatternNode;
using internal::PatternOp;
using internal::Rule;

/// A rule in Z3's terms: letters are integers, letters for conditions are Booleans.
class Encoding {
public:
    Encoding(z3::context &z3, const Rule &rule) : z3_(z3), rule_(rule), symbols_(symbols_of(rule)) {
        for (const Symbol &s : symbols_) {
            values_.push_back(s.condition ? z3.bool_const(s.name().c_str())
                                          : z3.int_const(s.name().c_str()));
        }
    }

    void fix(size_t symbol, int64_t value) {
        values_[symbol] =
            symbols_[symbol].condition ? z3_.bool_val(value != 0) : z3_.int_val(value);
    }

    int lanes() const {
        return lanes_of(rule_.pattern);
    }

    /// Something that has a solution exactly if the rule is wrong in that lane.
    z3::expr refutation(int lane) {
        const z3::expr before = value(rule_.pattern, lane), after = value(rule_.replacement, lane);
        z3::expr wrong = before != after;
        if (rule_.condition >= 0) {
            const z3::expr condition = value(rule_.condition, 0);
            wrong = condition && wrong;
        }
        for (const z3::expr &fact : facts_) {
            wrong = wrong && fact;
        }
        return wrong;
    }

private:
    z3::expr symbol(PatternOp op, int slot) const {
        for (size_t i = 0; i < symbols_.size(); i++) {
            if (symbols_[i].op == op && symbols_[i].slot == slot) {
                return values_[i];
            }
        }
        internal_error << "rule '" << rule_.text << "': a symbol is not bound by the pattern";
    }

    int lanes_of(int n) const {
        const PatternNode &p = rule_.nodes[n];
        const bool lanes_last = p.op == PatternOp::Ramp || p.op == PatternOp::Broadcast;
        int lanes = 1;
        for (int i = 0; i < p.arity - lanes_last; i++) {
            lanes = std::max(lanes, lanes_of(p.child[i]));
        }
        if (lanes_last) {
            lanes *= int(value_of_lanes(p.child[p.arity - 1]));
        }
        return lanes;
    }

    int64_t value_of_lanes(int n) const {
        const PatternNode &p = rule_.nodes[n];
        if (p.op == PatternOp::Lanes) {
            return symbol(p.op, p.slot).get_numeral_int64();
        }
        internal_assert(p.op == PatternOp::Fold && rule_.nodes[p.child[0]].op == PatternOp::Mul)
            << "rule '" << rule_.text << "': lanes too clever for the proof";
        const PatternNode &product = rule_.nodes[p.child[0]];
        return value_of_lanes(product.child[0]) * value_of_lanes(product.child[1]);
    }

    // A bound of x that is only known to be one.
    z3::expr bound(const PatternNode &p, const char *prefix) {
        const z3::expr x = value(p.child[0], 0);
        const z3::expr b = z3_.int_const((prefix + x.to_string()).c_str());
        facts_.push_back(p.op == PatternOp::Lo ? b <= x : x <= b);
        return b;
    }

    static z3::expr divide(const z3::expr &a, const z3::expr &b) {
        return z3::ite(b == 0, b, a / b);
    }
    static z3::expr modulo(const z3::expr &a, const z3::expr &b) {
        return z3::ite(b == 0, b, z3::mod(a, b));
    }

    z3::expr value(int n, int lane) {
        const PatternNode &p = rule_.nodes[n];
        switch (p.op) {
        case PatternOp::Wild:
        case PatternOp::Const:
        case PatternOp::Lanes:
            return symbol(p.op, p.slot);
        case PatternOp::Literal:
            return z3_.int_val(p.value);
        case PatternOp::True:
            return z3_.bool_val(true);
        case PatternOp::False:
            return z3_.bool_val(false);
        case PatternOp::Lo:
            return bound(p, "lo_");
        case PatternOp::Hi:
            return bound(p, "hi_");
        case PatternOp::Rem:
            return modulo(value(p.child[0], lane), value(p.child[1], lane));
        case PatternOp::Not:
            return !value(p.child[0], lane);
        case PatternOp::Negate:
            return -value(p.child[0], lane);
        case PatternOp::Likely:
        case PatternOp::Fold:
            return value(p.child[0], lane);
        case PatternOp::Select:
            return z3::ite(value(p.child[0], lane), value(p.child[1], lane),
                           value(p.child[2], lane));
        case PatternOp::Broadcast:
            return value(p.child[0], lane % lanes_of(p.child[0]));
        case PatternOp::Ramp: {
            const int inner = lanes_of(p.child[0]);
            return value(p.child[0], lane % inner) +
                   value(p.child[1], lane % inner) * (lane / inner);
        }
        default:
            return binary(p.op, value(p.child[0], lane), value(p.child[1], lane));
        }
    }

    z3::expr binary(PatternOp op, const z3::expr &a, const z3::expr &b) const {
        switch (op) {
        case PatternOp::Add:
            return a + b;
        case PatternOp::Sub:
            return a - b;
        case PatternOp::Mul:
            return a * b;
        case PatternOp::Div:
            return divide(a, b);
        case PatternOp::Mod:
            return modulo(a, b);
        case PatternOp::Min:
            return z3::ite(a < b, a, b);
        case PatternOp::Max:
            return z3::ite(a < b, b, a);
        case PatternOp::EQ:
            return a == b;
        case PatternOp::NE:
            return a != b;
        case PatternOp::LT:
            return a < b;
        case PatternOp::LE:
            return a <= b;
        case PatternOp::And:
            return a && b;
        case PatternOp::Or:
            return a || b;
        default:
            internal_error << "rule '" << rule_.text << "': not a binary operator";
        }
    }

    z3::context &z3_;
    const Rule &rule_;
    std::vector<Symbol> symbols_;
    std::vector<z3::expr> values_;
    std::vector<z3::expr> facts_;
};

enum class Verdict { Proved, Refuted, Unknown };

class Prover {
public:
    Prover(z3::context &z3, const Rule &rule) : z3_(z3), rule_(rule), symbols_(symbols_of(rule)) {
    }

    void run(int *proved_whole, int *proved_by_samples) {
        const bool has_lanes = std::any_of(symbols_.begin(), symbols_.end(), [](const Symbol &s) {
            return s.op == PatternOp::Lanes;
        });
        if (!has_lanes) {
            const Verdict whole = decide({}, 300'000);
            if (whole != Verdict::Unknown) {
                EXPECT_EQ(whole, Verdict::Proved) << rule_.text << "\n  " << counterexample_;
                ++*proved_whole;
                return;
            }
        }
        ++*proved_by_samples;
        by_samples();
    }

private:
    // Constants, lane counts, and for products of two letters the letters too.
    void by_samples() {
        std::mt19937 random(7);
        static constexpr int64_t values[] = {1,  2,  3,  4,  5, 6, 8, 12, 16,  -1,
                                             -2, -3, -4, -8, 0, 7, 9, 31, -17, 100};
        const Domain unbounded{Domain::Unbounded};
        Assignment assignment(rule_, unbounded);
        int decided = 0;
        for (int tries = 0; tries < 20000 && decided < samples; tries++) {
            std::vector<std::optional<int64_t>> fixed(symbols_.size());
            for (size_t i = 0; i < symbols_.size(); i++) {
                if (symbols_[i].op == PatternOp::Lanes) {
                    fixed[i] = 2 + int(random() % 3);
                } else if (symbols_[i].op == PatternOp::Const) {
                    fixed[i] =
                        symbols_[i].condition ? random() % 2 : values[random() % std::size(values)];
                } else if (divides(rule_.pattern, symbols_[i].slot)) {
                    fixed[i] = values[random() % std::size(values)];
                }
                assignment.set(i, double(fixed[i].value_or(0)));
            }
            // Bounds of letters are left to Z3; other conditions filter the constants.
            if (rule_.text.find("lo(") == std::string::npos &&
                rule_.text.find("hi(") == std::string::npos &&
                rule_.text.find("rem(") == std::string::npos && !assignment.condition()) {
                continue;
            }
            const Verdict v = decide(fixed, 20'000'000);
            ASSERT_NE(v, Verdict::Refuted) << rule_.text << "\n  " << counterexample_;
            ASSERT_NE(v, Verdict::Unknown)
                << rule_.text << "\n  Z3 cannot decide " << assignment.text();
            decided++;
        }
        EXPECT_GT(decided, 10) << rule_.text << "\n  too few constants meet the condition";
    }

    /// True if the letter is a divisor somewhere: too hard for Z3 as a symbol.
    bool divides(int n, int slot) const {
        const PatternNode &p = rule_.nodes[n];
        if (p.op == PatternOp::Div || p.op == PatternOp::Mod) {
            const PatternNode &divisor = rule_.nodes[p.child[1]];
            if (divisor.op == PatternOp::Wild && divisor.slot == slot) {
                return true;
            }
        }
        return std::any_of(p.child, p.child + p.arity, [&](int c) { return divides(c, slot); });
    }

    // The effort is in Z3's own units: the same verdict on every machine, however busy, and no
    // timer thread of Z3, which now and then waits for ever.
    Verdict decide(const std::vector<std::optional<int64_t>> &fixed, unsigned effort) {
        Encoding encoding(z3_, rule_);
        for (size_t i = 0; i < fixed.size(); i++) {
            if (fixed[i]) {
                encoding.fix(i, *fixed[i]);
            }
        }
        for (int lane = 0; lane < encoding.lanes(); lane++) {
            z3::solver solver(z3_);
            solver.set("rlimit", effort);
            solver.add(encoding.refutation(lane));
            const z3::check_result result = solver.check();
            if (result == z3::sat) {
                std::ostringstream model;
                model << solver.get_model();
                counterexample_ = model.str();
                for (size_t i = 0; i < fixed.size(); i++) {
                    counterexample_ +=
                        fixed[i] ? " " + symbols_[i].name() + "=" + std::to_string(*fixed[i]) : "";
                }
                return Verdict::Refuted;
            }
            if (result == z3::unknown) {
                return Verdict::Unknown;
            }
        }
        return Verdict::Proved;
    }

    static constexpr int samples = 20;

    z3::context &z3_;
    const Rule &rule_;
    std::vector<Symbol> symbols_;
    std::string counterexample_;
};

class Unbounded : public testing::TestWithParam<const internal::RuleFile *> {};

TEST_P(Unbounded, RulesAreTrue) {
    z3::context z3;
    int whole = 0, by_samples = 0;
    for (const NamedRule &named : all_rules()) {
        if (named.file == GetParam() && (named.rule.types & internal::exact)) {
            Prover(z3, named.rule).run(&whole, &by_samples);
        }
    }
    RecordProperty("proved_for_all_constants", whole);
    RecordProperty("proved_for_sampled_constants", by_samples);
    std::cout << GetParam()->name << ": " << whole << " rules proved for all constants, "
              << by_samples << " for sampled constants\n";
}

std::vector<const internal::RuleFile *> files() {
    std::vector<const internal::RuleFile *> all;
    for (const internal::RuleFile &f : internal::rule_files()) {
        all.push_back(&f);
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(Rules, Unbounded, testing::ValuesIn(files()),
                         [](const auto &info) { return std::string(info.param->name); });

}  // namespace
}  // namespace calotype::test
#endif
