// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lets without a use and allocations that nothing touches, dropped in one walk: bodies are walked
// before the values bound around them, so that by the time a let is decided all uses are counted,
// but for those in values that were dropped themselves.
#include <unordered_map>

#include "arith/simplify/simplifier.h"
#include "ir/queries.h"
#include "ir/visitor.h"

namespace calotype::internal {

namespace {

// The block of f(s) for each statement s of a chain, in a loop: chains may be long.
template<typename F>
Stmt map_block(const Block *op, F f) {
    std::vector<Stmt> result;
    bool changed = false;
    for (Stmt rest = op; rest.defined();) {
        const auto *block = rest.as<Block>();
        const Stmt before = block ? block->first : rest;
        result.push_back(f(before));
        changed = changed || !result.back().same_as(before);
        rest = block ? block->rest : Stmt();
    }
    return changed ? Block::make(result) : Stmt(op);
}

class DropFrees final : public Mutator {
public:
    explicit DropFrees(const std::string &name) : name_(name) {
    }

protected:
    using Mutator::visit;
    Stmt visit(const Free *op) override {
        return op->name == name_ ? Stmt() : Stmt(op);
    }
    Stmt visit(const Block *op) override {
        return map_block(op, [&](const Stmt &s) { return mutate(s); });
    }

private:
    const std::string &name_;
};

class DropDeadCode final : public Mutator {
public:
    using Mutator::mutate;
    Expr mutate(const Expr &e) override {
        if (!e.defined() || e.get()->is_unique()) {
            return Mutator::mutate(e);
        }
        auto it = done_.find(e.get());
        if (it != done_.end()) {
            return it->second.second;
        }
        Expr result = Mutator::mutate(e);
        done_.emplace(e.get(), std::make_pair(e, result));
        return result;
    }

protected:
    using Mutator::visit;
    Expr visit(const Variable *op) override {
        uses_[op->name]++;
        return op;
    }
    Expr visit(const Load *op) override {
        uses_[op->name]++;
        return Mutator::visit(op);
    }
    Expr visit(const Call *op) override {
        uses_[op->name]++;
        return Mutator::visit(op);
    }
    Stmt visit(const Store *op) override {
        uses_[op->name]++;
        return Mutator::visit(op);
    }
    Stmt visit(const Provide *op) override {
        uses_[op->name]++;
        return Mutator::visit(op);
    }
    Stmt visit(const Prefetch *op) override {
        uses_[op->name]++;
        return Mutator::visit(op);
    }
    Expr visit(const Let *op) override {
        return drop_let(op);
    }
    Stmt visit(const LetStmt *op) override {
        return drop_let(op);
    }

    Stmt visit(const Allocate *op) override {
        const int outside = open(op->name);
        Stmt body = mutate(op->body);
        const bool used = close(op->name, outside);
        if (!used && !op->new_expr.defined()) {
            return DropFrees(op->name).mutate(body);
        }
        return Allocate::make(op->name, op->type, op->memory_type, mutate(op->extents),
                              mutate(op->condition), body, mutate(op->new_expr), op->free_function,
                              op->padding);
    }

    Stmt visit(const Block *op) override {
        return map_block(op, [&](const Stmt &s) { return mutate(s); });
    }

private:
    // What was walked before a binder opens or closes may count for another binding of the name.
    int open(const std::string &name) {
        done_.clear();
        int &count = uses_[name];
        return std::exchange(count, 0);
    }
    bool close(const std::string &name, int outside) {
        done_.clear();
        return std::exchange(uses_[name], outside) > 0;
    }

    template<typename T>
    auto drop_let(const T *op) -> decltype(op->body) {
        const int outside = open(op->name);
        const auto body = mutate(op->body);
        const bool used = close(op->name, outside);
        if (!used && !has_effects(op->value)) {
            return body;
        }
        const Expr value = mutate(op->value);
        return value.same_as(op->value) && body.same_as(op->body) ? decltype(op->body)(op)
                                                                  : T::make(op->name, value, body);
    }

    std::unordered_map<std::string, int> uses_;
    std::unordered_map<const ExprNode *, std::pair<Expr, Expr>> done_;
};

}  // namespace

Expr remove_dead_lets(const Expr &e) {
    return contains_kind(e, NodeKind::Let) ? DropDeadCode().mutate(e) : e;
}

Stmt remove_dead_code(const Stmt &s) {
    return s.defined() ? DropDeadCode().mutate(s) : s;
}

}  // namespace calotype::internal
