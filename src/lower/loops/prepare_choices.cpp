// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/prepare_choices.h"

#include <set>
#include <string>

#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/with.h"

namespace calotype::internal {

namespace {

/// The opposite, as a conjunction where that is possible.
Expr opposite(const Expr &e) {
    if (const Or *op = e.as<Or>()) {
        return opposite(op->a) && opposite(op->b);
    } else if (const Not *op = e.as<Not>()) {
        return op->a;
    } else if (const Broadcast *op = e.as<Broadcast>()) {
        return Broadcast::make(opposite(op->value), op->lanes);
    }
    return !e;
}

/// What is likely first.
Expr turned(const Select *op) {
    return contains_likely(op->false_value) && !contains_likely(op->true_value)
               ? Select::make(opposite(op->condition), op->false_value, op->true_value)
               : op;
}

/// For the index of an access, or a part of one.
class TagInIndex : public GraphMutator {
public:
    /// The vectors that indices are made of.
    std::set<std::string> names;

private:
    using GraphMutator::visit;

    template<typename MinMax>
    Expr clamp(const MinMax *op) {
        const bool first = op->b.template as<Broadcast>() != nullptr;
        const Expr lanes = first ? op->a : op->b, limit = first ? op->b : op->a;
        if (contains_likely(op)) {
            return MinMax::make(within_likely(op->a), within_likely(op->b));
        }
        const bool is_clamp = op->type.is_vector() && limit.as<Broadcast>() &&
                              !lanes.as<Broadcast>() && !contains_kind(lanes, NodeKind::Load);
        if (!is_clamp) {
            return GraphMutator::visit(op);
        }
        const Expr inner = mutate(lanes), tagged = contains_likely(inner) ? inner : likely(inner);
        return first ? MinMax::make(tagged, limit) : MinMax::make(limit, tagged);
    }
    /// What is tagged may be made of clamps that are not.
    Expr within_likely(const Expr &e) {
        return contains_likely(e) ? mutate(e) : e;
    }
    Expr visit(const Min *op) override {
        return clamp(op);
    }
    Expr visit(const Max *op) override {
        return clamp(op);
    }
    /// A choice that is tagged stays as it is: a tag in what is not likely would undo it.
    Expr visit(const Select *op) override {
        return contains_likely(op) ? turned(op) : GraphMutator::visit(op);
    }
    Expr visit(const Variable *op) override {
        if (op->type.is_vector()) {
            names.insert(op->name);
        }
        return op;
    }
};

class Preparation : public GraphMutator {
private:
    using GraphMutator::visit;

    Expr visit(const Select *op) override {
        const Expr select = turned(op);
        return GraphMutator::visit(select.as<Select>());
    }
    Expr visit(const Load *op) override {
        return with(op, &Load::index, in_index_.mutate(op->index), &Load::predicate,
                    mutate(op->predicate));
    }
    Stmt visit(const Store *op) override {
        return with(op, &Store::index, in_index_.mutate(op->index), &Store::value,
                    mutate(op->value), &Store::predicate, mutate(op->predicate));
    }
    Stmt visit(const LetStmt *op) override {
        const Stmt body = mutate(op->body);
        return with(op, &LetStmt::value, value_of(op), &LetStmt::body, body);
    }
    Expr visit(const Let *op) override {
        const Expr body = mutate(op->body);
        return with(op, &Let::value, value_of(op), &Let::body, body);
    }

    /// After the body, which says what the name is for.
    template<typename AnyLet>
    Expr value_of(const AnyLet *op) {
        return in_index_.names.count(op->name) ? in_index_.mutate(op->value) : mutate(op->value);
    }

    TagInIndex in_index_;
};

}  // namespace

Stmt prepare_choices(const Stmt &s) {
    return Preparation().mutate(s);
}

}  // namespace calotype::internal
