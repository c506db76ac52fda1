// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums that overflow though none of the user's does. int32 and int64 are taken not to overflow, so that sums may be added
// in any order, and terms may go from one side of a comparison to the other:
//
//     a - b < 7                 a < b + 7
//     min(c - 2, b - 5)         min(c, b - 3) - 2
//
// A sum that leaves its type on the way and comes back has its value all the same, since sums wrap. What is compared,
// divided, or the operand of a minimum or maximum does not: where b is within 7 of the largest int32, b + 7 is less than a.
// Coordinates are far from the ends of their type; what is read from memory may be anything. So a rule that makes such an
// operand of data needs bounds by which it fits.
#include <algorithm>

#include "arith/exact_types.h"
#include "arith/simplify/simplifier.h"
#include "ir/visitor.h"

namespace calotype::internal {

namespace {

// Looks for what comes from memory or from outside. A vector variable of which nothing is known is one of those; a scalar
// may be too, but most are coordinates.
class DataSearch : public Visitor {
public:
    explicit DataSearch(const Facts &facts) : facts_(facts) {
    }
    bool found = false;

    void operator()(const Expr &e) override {
        constexpr int most = 1000;
        found = found || ++seen_ > most;
        if (!found) {
            Visitor::operator()(e);
        }
    }

protected:
    using Visitor::visit;
    void visit(const Variable *op) override {
        const Facts::Origin origin = facts_.origin_of(op->name);
        found = origin == Facts::Origin::Data ||
                (origin == Facts::Origin::Unknown && op->type.is_vector());
    }
    void visit(const Load *) override {
        found = true;
    }
    void visit(const Call *op) override {
        found = !op->is_intrinsic();
        Visitor::visit(op);
    }

private:
    const Facts &facts_;
    int seen_ = 0;
};

}  // namespace

bool Simplifier::may_be_data(const Expr &e) const {
    DataSearch search(facts_);
    search(e);
    return search.found;
}

bool Simplifier::may_overflow(const Expr &e) {
    const Type t = e.type();
    return is_exact_int(t) && !ConstRange::of_type(t).contains(unbounded_info(e).range) &&
           may_be_data(e);
}

namespace {

// The integer that stands at a node of a rule.
std::optional<int64_t> number_at(const Rule &rule, int n, const Bindings &bindings,
                                 RangeOracle &oracle) {
    const PatternOp op = rule.nodes[n].op;
    if (op != PatternOp::Const && op != PatternOp::Literal && op != PatternOp::Fold) {
        return std::nullopt;
    }
    const auto number = evaluate(rule, n, bindings, oracle);
    return number ? std::optional(number->i) : std::nullopt;
}

// The range over unbounded integers of a node of a rule, whose letters have those of `info_of`.
class RangeOfNode {
public:
    RangeOfNode(const Rule &rule, const Bindings &bindings, RangeOracle &oracle,
                const InfoOf &info_of)
        : rule_(rule), bindings_(bindings), oracle_(oracle), info_of_(info_of) {
    }

    ConstRange operator()(int n) const {
        const PatternNode &p = rule_.nodes[n];
        const auto operand = [&](int i) {
            return (*this)(p.child[i]);
        };
        switch (p.op) {
        case PatternOp::Wild:
            return info_of_(Expr(bindings_.wild[p.slot])).range;
        case PatternOp::Add:
            return operand(0) + operand(1);
        case PatternOp::Sub:
            return operand(0) - operand(1);
        case PatternOp::Mul:
            return operand(0) * operand(1);
        case PatternOp::Div:
            return operand(0) / operand(1);
        case PatternOp::Mod:
            return operand(0) % operand(1);
        case PatternOp::Min:
            return min(operand(0), operand(1));
        case PatternOp::Max:
            return max(operand(0), operand(1));
        case PatternOp::Select:
            return union_of(operand(1), operand(2));
        case PatternOp::Broadcast:
            return operand(0);
        default: {
            const auto number = number_at(rule_, n, bindings_, oracle_);
            return number ? ConstRange::single(*number) : ConstRange::everything();
        }
        }
    }

private:
    const Rule &rule_;
    const Bindings &bindings_;
    RangeOracle &oracle_;
    const InfoOf &info_of_;
};

// A letter of the node, whose type is the node's but for the lanes; null if there is none.
const ExprNode *letter_in(const Rule &rule, int n, const Bindings &bindings) {
    const PatternNode &p = rule.nodes[n];
    if (p.op == PatternOp::Wild) {
        return bindings.wild[p.slot];
    }
    const ExprNode *found = nullptr;
    for (int i = p.op == PatternOp::Select; i < p.arity && !found; i++) {
        found = letter_in(rule, p.child[i], bindings);
    }
    return found;
}

// Calls f on the letters of the node until it returns true.
template<typename F>
bool any_letter(const Rule &rule, int n, const Bindings &bindings, const F &f) {
    const PatternNode &p = rule.nodes[n];
    if (p.op == PatternOp::Wild) {
        return f(Expr(bindings.wild[p.slot]));
    }
    for (int i = 0; i < p.arity; i++) {
        if (any_letter(rule, p.child[i], bindings, f)) {
            return true;
        }
    }
    return false;
}

}  // namespace

// x + k fits where x does and the pattern has x + c, with k from 0 to c; the same of x * k and of k - x.
bool Simplifier::lies_between(const Rule &rule, int n, const Bindings &bindings) {
    const PatternNode &p = rule.nodes[n];
    const int constant = p.op == PatternOp::Sub ? 0 : 1;
    if (p.op != PatternOp::Add && p.op != PatternOp::Mul && p.op != PatternOp::Sub) {
        return false;
    }
    const PatternNode &letter = rule.nodes[p.child[1 - constant]];
    const auto k = number_at(rule, p.child[constant], bindings, *this);
    if (letter.op != PatternOp::Wild || !k || may_overflow(Expr(bindings.wild[letter.slot]))) {
        return false;
    }
    return std::any_of(rule.operands.begin(), rule.operands.end(), [&](int other) {
        const PatternNode &q = rule.nodes[other];
        const bool is_alike = q.op == p.op && rule.nodes[q.child[1 - constant]].op == letter.op &&
                              rule.nodes[q.child[1 - constant]].slot == letter.slot;
        const auto c =
            is_alike ? number_at(rule, q.child[constant], bindings, *this) : std::nullopt;
        return c && ((0 <= *k && *k <= *c) || (p.op == PatternOp::Add && *c <= *k && *k <= 0));
    });
}

bool Simplifier::may_overflow(const Rule &rule, const Bindings &bindings) {
    const InfoOf info_of = [this](const Expr &e) {
        return unbounded_info(e);
    };
    for (const uint16_t n : rule.new_operands) {
        const ExprNode *letter = letter_in(rule, n, bindings);
        const Type t = letter->type;
        if (!is_exact_int(t) ||
            ConstRange::of_type(t).contains(RangeOfNode(rule, bindings, *this, info_of)(n))) {
            continue;
        }
        const bool is_data =
            any_letter(rule, n, bindings, [&](const Expr &e) { return may_be_data(e); });
        if (is_data && !lies_between(rule, n, bindings)) {
            return true;
        }
    }
    return false;
}

}  // namespace calotype::internal
