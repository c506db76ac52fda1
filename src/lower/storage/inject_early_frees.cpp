// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Statements are visited from the last to the first. The first statement in that order that uses
// some storage is its last user. The Free must stand outside of all loops and branches that the
// Allocate is not in as well, so within a statement that is entered many times or perhaps not at
// all, uses are only collected, and count as uses of the whole statement.
#include "lower/storage/inject_early_frees.h"

#include <set>

#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/visitor.h"
#include "ir/with.h"
#include "lower/storage/handle_names.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

class EarlyFrees : public Mutator {
public:
    explicit EarlyFrees(std::unordered_set<std::string> escaping) : escaping_(std::move(escaping)) {
    }

private:
    using Mutator::visit;

    /// Storage that is alive and not used by any statement after the current one.
    struct Storage {
        int depth;
        bool used = false;
    };

    void use(const std::string &name) {
        Storage *storage = alive_.find_mutable(name);
        if (!storage || storage->used) {
            return;
        }
        used_here_.insert(name);
    }

    Expr visit(const Load *op) override {
        use(op->name);
        return Mutator::visit(op);
    }

    /// `s`, then the Frees of what it is the last to use. Call when its parts have been visited.
    Stmt then_free(const Stmt &s) {
        Stmt frees;
        for (auto it = used_here_.begin(); it != used_here_.end();) {
            Storage *storage = alive_.find_mutable(*it);
            if (!storage || storage->depth != depth_) {
                ++it;
                continue;
            }
            storage->used = true;
            frees = Block::make(frees, Free::make(*it));
            it = used_here_.erase(it);
        }
        return Block::make(s, frees);
    }

    Stmt visit(const Store *op) override {
        const Stmt s = Mutator::visit(op);
        use(op->name);
        return then_free(s);
    }

    Stmt visit(const Evaluate *op) override {
        return then_free(Mutator::visit(op));
    }

    Stmt visit(const AssertStmt *op) override {
        return then_free(Mutator::visit(op));
    }

    Stmt visit(const Block *op) override {
        const Stmt rest = mutate(op->rest);
        const Stmt first = mutate(op->first);
        return first.same_as(op->first) && rest.same_as(op->rest) ? Stmt(op)
                                                                  : Block::make(first, rest);
    }

    Stmt visit(const LetStmt *op) override {
        const Stmt body = mutate(op->body);
        const Expr value = mutate(op->value);
        const Stmt frees = then_free(Stmt());
        return LetStmt::make(op->name, value, Block::make(frees, body));
    }

    /// What is inside may run several times, or not at all.
    template<typename T>
    Stmt visit_nested(const T *op) {
        depth_++;
        const Stmt s = Mutator::visit(op);
        depth_--;
        return then_free(s);
    }

    Stmt visit(const For *op) override {
        return visit_nested(op);
    }
    Stmt visit(const IfThenElse *op) override {
        return visit_nested(op);
    }
    Stmt visit(const Fork *op) override {
        return visit_nested(op);
    }
    Stmt visit(const Acquire *op) override {
        return visit_nested(op);
    }
    Stmt visit(const Atomic *op) override {
        return visit_nested(op);
    }

    Stmt visit(const Allocate *op) override {
        const bool grows = op->constant_size() == 0 && (op->memory_type == MemoryType::Auto ||
                                                        op->memory_type == MemoryType::Stack);
        const bool on_heap = op->memory_type == MemoryType::Heap || grows;
        if (!on_heap || escaping_.count(op->name)) {
            return Mutator::visit(op);
        }
        ScopedBinding<Storage> bind(alive_, op->name, Storage{depth_});
        const Stmt body = mutate(op->body);
        used_here_.erase(op->name);
        if (body.same_as(op->body)) {
            return op;
        }
        return with(op, &Allocate::body, body);
    }

    const std::unordered_set<std::string> escaping_;
    Scope<Storage> alive_;
    std::set<std::string> used_here_;  ///< by the statement being visited
    int depth_ = 0;
};

}  // namespace

Stmt inject_early_frees(const Stmt &s, LowerContext &) {
    return EarlyFrees(handle_names(s)).mutate(s);
}

}  // namespace calotype::internal
