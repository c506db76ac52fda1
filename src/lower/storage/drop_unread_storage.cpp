// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/storage/drop_unread_storage.h"

#include <string>
#include <unordered_set>
#include <utility>

#include "ir/mutator.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "lower/loops/simplify_early.h"

namespace calotype::internal {

namespace {

/// The names of all that is used but for being stored to.
class FindUsed : public GraphVisitor {
public:
    std::unordered_set<std::string> names;

private:
    using GraphVisitor::visit;

    void visit(const Variable *op) override {
        names.insert(op->name);
    }
    void visit(const Load *op) override {
        names.insert(op->name);
        GraphVisitor::visit(op);
    }
    void visit(const Prefetch *op) override {
        names.insert(op->name);
        GraphVisitor::visit(op);
    }
    void visit(const Store *op) override {
        if (in_atomic_ || has_effects(op->value) || has_effects(op->index) ||
            has_effects(op->predicate)) {
            names.insert(op->name);
        }
        GraphVisitor::visit(op);
    }
    void visit(const Atomic *op) override {
        const bool outer = std::exchange(in_atomic_, true);
        GraphVisitor::visit(op);
        in_atomic_ = outer;
    }

    bool in_atomic_ = false;
};

class DropUnread : public StmtMutator {
public:
    explicit DropUnread(const std::unordered_set<std::string> &used) : used_(used) {
    }

private:
    using Mutator::visit;

    Stmt visit(const Allocate *op) override {
        if (used_.count(op->name) || op->new_expr.defined() || !op->free_function.empty()) {
            return Mutator::visit(op);
        }
        dropped_.insert(op->name);
        return mutate(op->body);
    }
    Stmt visit(const Store *op) override {
        return dropped_.count(op->name) ? Evaluate::make(0) : Stmt(op);
    }
    Stmt visit(const Free *op) override {
        return dropped_.count(op->name) ? Evaluate::make(0) : Stmt(op);
    }

    const std::unordered_set<std::string> &used_;
    std::unordered_set<std::string> dropped_;
};

}  // namespace

Stmt drop_unread_storage(const Stmt &s, LowerContext &ctx) {
    Stmt result = s;
    while (true) {
        FindUsed used;
        used(result);
        const Stmt fewer = DropUnread(used.names).mutate(result);
        if (fewer.same_as(result)) {
            return result;
        }
        result = simplify_early(fewer, ctx);
    }
}

}  // namespace calotype::internal
