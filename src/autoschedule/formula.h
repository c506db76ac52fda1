// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Formula: an expression over numbered values, made ready to be evaluated many times.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/expr.h"

namespace calotype::internal {

/// The numbers of the values, by the names of the Variables that stand for them.
using Slots = std::map<std::string, int>;
/// What is known of another Variable.
using KnownValue = std::function<std::optional<double>(const std::string &)>;

/// Integers are taken as unbounded, conversions between them as exact.
class Formula {
public:
    /// None: e is undefined, reads memory, or has a Variable of which nothing is known, whose name
    /// is then in `unknown`, if that is given.
    static std::optional<Formula> make(const Expr &e, const Slots &slots, const KnownValue &known,
                                       std::string *unknown = nullptr);
    double operator()(const std::vector<double> &values) const;

    enum class Op : uint8_t {
        Constant,  ///< pushes `constant`
        Value,     ///< pushes values[index]
        Bind,      ///< takes the top as the next of the lets
        Bound,     ///< pushes let `index`
        Add,
        Sub,
        Mul,
        DivInt,
        DivFloat,
        ModInt,
        ModFloat,
        Min,
        Max,
        EQ,
        NE,
        LT,
        LE,
        And,
        Or,
        Not,
        Select,
        Truncate,
        Floor,
        Ceil,
        Round,
        Abs,
        ShiftLeft,
        ShiftRight,
    };
    struct Step {
        Op op;
        int index = 0;
        double constant = 0;
    };

private:
    std::vector<Step> steps_;
};

}  // namespace calotype::internal
