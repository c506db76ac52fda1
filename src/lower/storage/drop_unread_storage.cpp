// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/storage/drop_unread_storage.h"

#include <string>
#include <unordered_set>

#include "ir/mutator.h"
#include "ir/queries.h"
#include "ir/walk/search.h"
#include "lower/loops/simplify_early.h"

namespace calotype::internal {

namespace {

bool has_effects_beside(const Store *op) {
    return has_effects(op->value) || has_effects(op->index) || has_effects(op->predicate);
}

/// The names of all that is used but for being stored to.
std::unordered_set<std::string> names_needed(const Stmt &s) {
    std::unordered_set<std::string> names;
    for_each<Variable>(s, [&](const Variable *op) { names.insert(op->name); });
    for_each<Load>(s, [&](const Load *op) { names.insert(op->name); });
    for_each<Prefetch>(s, [&](const Prefetch *op) { names.insert(op->name); });
    for_each<Store>(s, [&](const Store *op) {
        if (has_effects_beside(op)) {
            names.insert(op->name);
        }
    });
    for_each<Atomic>(s, [&](const Atomic *atomic) {
        for_each<Store>(atomic->body, [&](const Store *op) { names.insert(op->name); });
    });
    return names;
}

class DropUnread : public StmtMutator {
public:
    explicit DropUnread(const std::unordered_set<std::string> &needed) : needed_(needed) {
    }

private:
    using Mutator::visit;

    Stmt visit(const Allocate *op) override {
        if (needed_.count(op->name) || op->new_expr.defined() || !op->free_function.empty()) {
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

    const std::unordered_set<std::string> &needed_;
    std::unordered_set<std::string> dropped_;
};

}  // namespace

Stmt drop_unread_storage(const Stmt &s, LowerContext &ctx) {
    Stmt result = s;
    while (true) {
        const std::unordered_set<std::string> needed = names_needed(result);
        const Stmt fewer = DropUnread(needed).mutate(result);
        if (fewer.same_as(result)) {
            return result;
        }
        result = simplify_early(fewer, ctx);
    }
}

}  // namespace calotype::internal
