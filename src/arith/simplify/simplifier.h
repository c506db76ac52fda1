// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simplifier: the engine. Expressions are rebuilt from the leaves up by "constructors": each takes
// operands that are simplified already and gives the simplified node, so that nothing is walked
// twice when a rule rewrites. One file an operator defines its constructor's steps and its rules.
#pragma once

#include "arith/simplify.h"
#include "arith/simplify/facts.h"
#include "arith/simplify/rule_table.h"
#include "ir/mutator.h"

namespace calotype::internal {

class LinearForm;

class Simplifier final : public Mutator, private RangeOracle {
public:
    explicit Simplifier(const SimplifyContext &context, bool finite_floats = false);

    using Mutator::mutate;
    Expr mutate(const Expr &e) override;

    // Constructors. Operands are simplified. `original`, where given, is returned in place of an
    // equal new node.
    Expr binary(NodeKind op, const Expr &a, const Expr &b, const ExprNode *original = nullptr);
    Expr add(const Expr &a, const Expr &b) {
        return binary(NodeKind::Add, a, b);
    }
    Expr sub(const Expr &a, const Expr &b) {
        return binary(NodeKind::Sub, a, b);
    }
    Expr mul(const Expr &a, const Expr &b) {
        return binary(NodeKind::Mul, a, b);
    }
    Expr logical_not(const Expr &a, const ExprNode *original = nullptr);
    Expr select(const Expr &condition, const Expr &true_value, const Expr &false_value,
                const ExprNode *original = nullptr);
    Expr ramp(const Expr &base, const Expr &stride, int lanes, const ExprNode *original = nullptr);
    Expr broadcast(const Expr &value, int lanes, const ExprNode *original = nullptr);
    Expr cast(Type t, const Expr &value, const ExprNode *original = nullptr);

    /// Bounds and alignment of a simplified integer expression under the current facts.
    IntegerInfo info(const Expr &e);
    /// The same of sums that may leave their type on the way (unbounded_info_of_operation).
    IntegerInfo unbounded_info(const Expr &e);
    IntegerInfo info_of_let(const Let *op);
    ConstRange range(const Expr &e) {
        return info(e).range;
    }

    /// Whether e, of a type that does not wrap, is made of data whose sum may overflow though no sum of the user's does
    /// (overflow.cpp).
    bool may_overflow(const Expr &e);

    /// What follows from a condition: true facts and narrower variables. Call right after opening a
    /// layer of facts().
    void learn_true(const Expr &condition);
    void learn_false(const Expr &condition);
    Facts &facts() {
        return facts_;
    }

protected:
    using Mutator::visit;
#define ARITH(Name, symbol)                                                                        \
    Expr visit(const Name *op) override {                                                          \
        return binary(NodeKind::Name, mutate(op->a), mutate(op->b), op);                           \
    }
#define COMPARE(Name, symbol) ARITH(Name, symbol)
#define LOGIC(Name, symbol) ARITH(Name, symbol)
#include "ir/nodes.def"
    Expr visit(const Not *op) override;
    Expr visit(const Select *op) override;
    Expr visit(const Ramp *op) override;
    Expr visit(const Broadcast *op) override;
    Expr visit(const Cast *op) override;
    Expr visit(const Variable *op) override;
    Expr visit(const Call *op) override;
    Expr visit(const Let *op) override;
    Expr visit(const Shuffle *op) override;
    Expr visit(const VectorReduce *op) override;

    Stmt visit(const LetStmt *op) override;
    Stmt visit(const For *op) override;
    Stmt visit(const IfThenElse *op) override;
    Stmt visit(const AssertStmt *op) override;
    Stmt visit(const Block *op) override;
    Stmt visit(const Fork *op) override;
    Stmt visit(const Evaluate *op) override;
    Stmt visit(const Store *op) override;
    Stmt visit(const Provide *op) override;
    Stmt visit(const Allocate *op) override;
    Stmt visit(const Realize *op) override;
    Stmt visit(const ProducerConsumer *op) override;
    Stmt visit(const HoistedStorage *op) override;
    Stmt visit(const Acquire *op) override;
    Stmt visit(const Atomic *op) override;
    Stmt visit(const Prefetch *op) override;

private:
    bool keeps_nan(Type t) const;
    bool may_exchange(NodeKind op, const Expr &a, const Expr &b) const;

    // The steps of binary() that are particular to an operator, in the operator's file: undefined
    // where they have nothing better.
    Expr before_rules(NodeKind op, const Expr &a, const Expr &b);
    Expr after_rules(NodeKind op, const Expr &a, const Expr &b);
    Expr less_by_ranges(const Expr &a, const Expr &b);
    Expr equal_by_ranges(const Expr &a, const Expr &b);
    Expr extremum_by_ranges(NodeKind op, const Expr &a, const Expr &b);
    Expr extremum_of_repeated(NodeKind op, const Expr &a, const Expr &b);
    Expr drop_dominated(NodeKind op, const Expr &a, const Expr &b);
    Expr div_by_ranges(const Expr &a, const Expr &b);
    Expr mod_by_ranges(const Expr &a, const Expr &b);
    Expr compare_condition(NodeKind op, const Expr &a, const Expr &b);
    Expr join_ramps(const Shuffle *op, const std::vector<Expr> &vectors);
    Expr less_by_ramp(const Expr &a, const Expr &b);
    Expr by_broadcast(NodeKind op, const Expr &a, const Expr &b);
    Expr by_facts(const Expr &condition);
    int truth_of_neighbours(const Expr &a, const Expr &b);
    Expr extremum_by_facts(NodeKind op, const Expr &a, const Expr &b);

    // Linear forms (linear.cpp).
    Expr cancel_in_sum(NodeKind op, const Expr &a, const Expr &b);
    bool shorten(LinearForm *form);
    /// One quotient for the difference of two whose numerators are a constant apart.
    bool join_quotients(LinearForm *sum);
    Expr cancel_in_comparison(NodeKind op, const Expr &a, const Expr &b);
    Expr cancel_in_lanes(NodeKind op, const Expr &a, const Expr &b);
    Expr divide_terms(NodeKind op, const Expr &a, const Expr &b);
    Expr remainder_of_ramp(const Ramp &ramp, const Expr &b);
    Expr shorter_by_lets(const Expr &a, const Expr &b);
    std::optional<int64_t> difference_by_lets(const Expr &a, const Expr &b);

    // Quotients and remainders of one value (fused.cpp).
    struct FusedPart;
    Expr unwrapped(const Expr &e) const;
    std::optional<FusedPart> find_part(const Expr &e, NodeKind kind, int levels) const;
    bool belong_together(const FusedPart &quotient, const FusedPart &remainder);
    Expr join_fused(const Expr &a, const Expr &b);

    // Rules nest no deeper than this on anything seen in practice; beyond it nodes are made as they
    // are.
    static constexpr int max_depth = 200;
    /// The first rule that applies, its replacement constructed; undefined if none does.
    Expr rewrite(NodeKind root, Type type, const Expr *operands, int count, int lanes = 0);
    Expr build(const Rule &rule, int node, const Bindings &bindings);
    bool may_overflow(const Rule &rule, const Bindings &bindings);
    bool lies_between(const Rule &rule, int node, const Bindings &bindings);
    bool may_be_data(const Expr &e) const;

    Expr fold_call(const Call *op, const std::vector<Expr> &args);
    Expr shift_as_arithmetic(const Call *op, const std::vector<Expr> &args);
    Expr mask_as_remainder(const Expr &x, const Expr &mask);
    void learn(const Expr &condition, bool value);
    void learn_bounds(const Expr &a, const Expr &b, bool strict);
    void learn_at_least(const Expr &e, int64_t least, int levels);
    void learn_not_zero(const Expr &e);
    void learn_equal(const Expr &a, const Expr &b);
    void learn_float(const Expr &e, const Expr &value);

    template<typename T>
    auto simplify_let(const T *op) -> decltype(op->body);
    std::string unused_name(const std::string &name);

    std::optional<int64_t> lower_bound(const ExprNode *e) override;
    std::optional<int64_t> upper_bound(const ExprNode *e) override;
    std::optional<int64_t> remainder(const ExprNode *e, int64_t modulus) override;

    const RuleTable &table_;
    const SimplifyContext &context_;
    const bool finite_floats_;
    Facts facts_;
    int depth_ = 0;
    int renamed_ = 0;
};

/// A value of which it is said between which others it lies.
bool is_promise(const Expr &e);
/// Drops lets that are not used and whose value has no effects.
Expr remove_dead_lets(const Expr &e);
/// The same, and allocations that nothing touches.
Stmt remove_dead_code(const Stmt &s);

}  // namespace calotype::internal
