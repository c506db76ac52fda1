// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RuleTable: all rules compiled and indexed by root operator and kinds of the first two operands,
// and the matching of one rule. Built once, immutable afterwards, shared by all threads.
#pragma once

#include <array>
#include <optional>

#include "arith/simplify/rule.h"
#include "ir/expr_nodes.h"

namespace calotype::internal {

/// The number in a constant: an integer that fits 64 bits, or a float.
struct Number {
    bool is_float = false;
    int64_t i = 0;
    double f = 0;

    double as_double() const {
        return is_float ? f : double(i);
    }
};

/// The number of an immediate or of (nested) broadcasts of one.
std::optional<Number> number_of(const ExprNode *e);

/// What the letters of a rule stand for. Pointers are borrowed from the matched expressions.
struct Bindings {
    const ExprNode *wild[max_wilds] = {};
    const ExprNode *constant_node[max_consts] = {};
    Number constant[max_consts];
    int64_t lanes[max_lanes] = {};
    Type root_type;
    bool finite_floats = false;  ///< set before matching: rules of finite floats apply

    Type type_of(int source) const;
};

/// Constant bounds of matched expressions, asked for by lo(), hi() and rem().
class RangeOracle {
public:
    virtual ~RangeOracle() = default;
    virtual std::optional<int64_t> lower_bound(const ExprNode *e) = 0;
    virtual std::optional<int64_t> upper_bound(const ExprNode *e) = 0;
    virtual std::optional<int64_t> remainder(const ExprNode *e, int64_t modulus) = 0;
};

/// True if `operands`, those of the rule's root, match; fills the bindings. `lanes` counts for a
/// root that is a ramp or broadcast.
bool match_rule(const Rule &rule, const Expr *operands, int lanes, Bindings *bindings);
/// True if the condition holds, or there is none.
bool condition_holds(const Rule &rule, const Bindings &bindings, RangeOracle &oracle);
/// The value of a node of a fold or condition.
std::optional<Number> evaluate(const Rule &rule, int node, const Bindings &bindings,
                               RangeOracle &oracle);

class RuleTable {
public:
    static const RuleTable &instance();

    /// Rules with that root which may match operands of the first two kinds, in order.
    struct Candidates {
        const Rule *rules;
        const std::vector<uint16_t> *indices;
    };
    Candidates candidates(NodeKind root, const Expr &a, const Expr *b) const;

    const std::vector<Rule> &rules(NodeKind root) const {
        return roots_[size_t(root)].rules;
    }

private:
    RuleTable();

    /// Node kinds, and one more for constants of any kind.
    static constexpr int kinds = 40, constant_kind = kinds - 1;
    struct Root {
        std::vector<Rule> rules;
        std::vector<std::vector<uint16_t>> by_kinds;
    };
    static int kind_of(const Expr &e);
    static bool may_match(const PatternNode &p, int kind);
    void index(Root &root);

    std::array<Root, kinds> roots_;
};

}  // namespace calotype::internal
