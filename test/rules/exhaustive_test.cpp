// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every rule on every value: wrapping types at three or four bits, Bools, and for types that do not
// wrap and for floats a grid of values that matter. Where the values are too many, a fixed random
// part.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "rules/rule_cases.h"

namespace calotype::test {

using namespace internal;

namespace {

using internal::PatternOp;
using internal::Rule;

constexpr double most_cases = 150000;

/// The domains that a rule's types stand for; with few symbols one bit more.
std::vector<Domain> domains_of(const Rule &rule, size_t symbols) {
    const int bits = symbols <= 3 ? 4 : 3;
    std::vector<Domain> domains;
    if (rule.types & internal::exact) {
        domains.push_back({Domain::Unbounded, true, 64});
    }
    if (rule.types & internal::narrow_int) {
        domains.push_back({Domain::Wrapping, true, bits});
    }
    if (rule.types & internal::unsigned_int) {
        domains.push_back({Domain::Wrapping, false, bits});
    }
    if (rule.types & internal::boolean) {
        domains.push_back({Domain::Wrapping, false, 1});
    }
    if (rule.types & internal::floating) {
        domains.push_back({Domain::Floating, true, 64});
    }
    if (rule.types & internal::finite) {
        domains.push_back({Domain::Finite, true, 64});
    }
    return domains;
}

/// Floats that are not taken to be finite keep NaN and the sign of zero.
bool same(double a, double b, const Domain &domain) {
    if (domain.kind != Domain::Floating) {
        return a == b || std::isnan(a) || std::isnan(b);
    }
    return std::isnan(a) || std::isnan(b) ? std::isnan(a) && std::isnan(b)
                                          : a == b && std::signbit(a) == std::signbit(b);
}

/// The rule as written; of IEEE floats, whose extremes do not commute, also with the operands of
/// commutative operators exchanged.
std::vector<Rule> variants_of(const NamedRule &named, const Domain &domain) {
    if (domain.kind != Domain::Floating) {
        return {named.rule};
    }
    return internal::compile_rule(named.file->root, {named.rule.types, named.rule.text.c_str()});
}

class Search {
public:
    Search(const Rule &rule, const Domain &domain)
        : rule_(rule), domain_(domain), assignment_(rule, domain) {
        for (const Symbol &s : assignment_.symbols()) {
            choices_.push_back(s.op == PatternOp::Lanes ? std::vector<double>{2, 3, 4}
                               : s.condition            ? std::vector<double>{0, 1}
                                                        : domain.values());
        }
    }

    /// How many assignments met the condition.
    int run() {
        double total = 1;
        for (const auto &c : choices_) {
            total *= double(c.size());
        }
        if (total <= most_cases) {
            enumerate(0);
        } else {
            sample();
        }
        return met_;
    }

private:
    void enumerate(size_t symbol) {
        if (failed_) {
            return;
        }
        if (symbol == choices_.size()) {
            return check();
        }
        for (double v : choices_[symbol]) {
            assignment_.set(symbol, v);
            enumerate(symbol + 1);
        }
    }

    void sample() {
        std::mt19937 random(1);
        for (int i = 0; i < int(most_cases) && !failed_; i++) {
            for (size_t s = 0; s < choices_.size(); s++) {
                assignment_.set(s, choices_[s][random() % choices_[s].size()]);
            }
            check();
        }
    }

    void check() {
        if (!assignment_.condition()) {
            return;
        }
        for (int lane = 0; lane < assignment_.lanes(); lane++) {
            const auto before = assignment_.pattern(lane), after = assignment_.replacement(lane);
            if (!before || !after) {
                return;
            }
            if (!same(*before, *after, domain_)) {
                failed_ = true;
                ADD_FAILURE() << rule_.text << "\n  over " << domain_.name() << " with "
                              << assignment_.text() << ": " << *before << " becomes " << *after;
                return;
            }
        }
        met_++;
    }

    const Rule &rule_;
    const Domain domain_;
    Assignment assignment_;
    std::vector<std::vector<double>> choices_;
    int met_ = 0;
    bool failed_ = false;
};

class Exhaustive : public testing::TestWithParam<const internal::RuleFile *> {};

TEST_P(Exhaustive, RulesHold) {
    for (const NamedRule &named : all_rules()) {
        if (named.file != GetParam()) {
            continue;
        }
        int met = 0;
        for (const Domain &d : domains_of(named.rule, symbols_of(named.rule).size())) {
            for (const Rule &variant : variants_of(named, d)) {
                met += Search(variant, d).run();
            }
        }
        EXPECT_GT(met, 0) << named.rule.text << "\n  was never tried: no value meets its condition";
    }
}

std::vector<const internal::RuleFile *> files() {
    std::vector<const internal::RuleFile *> all;
    for (const internal::RuleFile &f : internal::rule_files()) {
        all.push_back(&f);
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(Rules, Exhaustive, testing::ValuesIn(files()),
                         [](const auto &info) { return std::string(info.param->name); });

}  // namespace
}  // namespace calotype::test
