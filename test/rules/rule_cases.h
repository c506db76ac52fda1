// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the proofs share: the letters of a rule, and a reading of its two sides over a small domain
// of values, written apart from the engine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arith/simplify/rule.h"

namespace calotype::test {

/// The values over which a rule is read.
struct Domain {
    enum Kind { Wrapping, Unbounded, Floating, Finite } kind = Unbounded;
    bool is_signed = true;
    int bits = 64;

    bool is_float() const {
        return kind == Floating || kind == Finite;
    }
    /// The value of an operation in this domain.
    double settle(double exact) const;
    /// All values if they are few, else some that matter.
    std::vector<double> values() const;
    std::string name() const;
};

/// A letter, constant or lane count of a rule.
struct Symbol {
    internal::PatternOp op;  ///< Wild, Const or Lanes
    int slot;
    bool condition;  ///< holds true or false rather than a value

    std::string name() const;
};
std::vector<Symbol> symbols_of(const internal::Rule &rule);

/// Values of the symbols, in the order of symbols_of().
class Assignment {
public:
    Assignment(const internal::Rule &rule, const Domain &domain)
        : rule_(rule), domain_(domain), symbols_(symbols_of(rule)), values_(symbols_.size()) {
    }
    const std::vector<Symbol> &symbols() const {
        return symbols_;
    }
    void set(size_t symbol, double value) {
        values_[symbol] = value;
    }
    double get(internal::PatternOp op, int slot) const;

    /// Lanes of the pattern.
    int lanes() const {
        return lanes_of(rule_.pattern);
    }
    /// The condition, with lo(x) and hi(x) the value of x itself: the tightest bounds there can be.
    bool condition() const;
    /// One lane of a side; nothing where a fold leaves the numbers that can be held exactly.
    std::optional<double> pattern(int lane) const {
        return value(rule_.pattern, lane);
    }
    std::optional<double> replacement(int lane) const {
        return value(rule_.replacement, lane);
    }
    std::string text() const;

private:
    int lanes_of(int node) const;
    std::optional<double> value(int node, int lane) const;
    std::optional<double> binary(internal::PatternOp op, double a, double b, const Domain &d) const;
    std::optional<double> folded(int node) const;

    const internal::Rule &rule_;
    const Domain domain_;
    std::vector<Symbol> symbols_;
    std::vector<double> values_;
};

/// Every rule of every table, as written.
struct NamedRule {
    const internal::RuleFile *file;
    internal::Rule rule;
};
const std::vector<NamedRule> &all_rules();

}  // namespace calotype::test
