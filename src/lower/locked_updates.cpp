// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/locked_updates.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "ir/conventions/runtime_calls.h"
#include "ir/expr_nodes.h"
#include "ir/mutator.h"
#include "lower/names.h"
#include "lower/statements_of.h"

namespace calotype::internal {

namespace {

/// The name of the mutexes if the statement is a call of f, else an empty text.
std::string mutexes_of(const Stmt &s, RuntimeFunction f) {
    const auto *op = s.as<Evaluate>();
    return op && is_call(op->value, f) ? op->value.as<Call>()->args[0].as<Variable>()->name : "";
}

class MarkLocked : public StmtMutator {
public:
    explicit MarkLocked(const LowerContext &ctx) {
        for (const auto &[func, f] : ctx.env) {
            funcs_[names::mutex(func)] = func;
        }
    }

private:
    using Mutator::visit;

    Stmt visit(const Block *op) override {
        std::vector<Stmt> marked;
        const std::vector<Stmt> all = statements_of(op);
        for (auto s = all.begin(); s != all.end(); ++s) {
            const auto end = unlocked(s, all.end());
            if (end == all.end()) {
                marked.push_back(mutate(*s));
            } else {
                const std::string mutexes = mutexes_of(*s, RuntimeFunction::mutex_array_lock);
                marked.push_back(Atomic::make(funcs_.at(mutexes), mutexes,
                                              Block::make(std::vector<Stmt>(s, end + 1))));
                s = end;
            }
        }
        return Block::make(marked);
    }

    /// Where what `s` locks is unlocked; the end if it locks nothing, or that is elsewhere.
    using Place = std::vector<Stmt>::const_iterator;
    static Place unlocked(Place s, Place end) {
        const std::string mutexes = mutexes_of(*s, RuntimeFunction::mutex_array_lock);
        return mutexes.empty() ? end : std::find_if(s, end, [&](const Stmt &other) {
            return mutexes_of(other, RuntimeFunction::mutex_array_unlock) == mutexes;
        });
    }

    std::map<std::string, std::string> funcs_;  ///< by the names of their mutexes
};

class UnmarkLocked : public StmtMutator {
    using Mutator::visit;

    Stmt visit(const Atomic *op) override {
        const Stmt s = Mutator::visit(op);
        return op->mutex_name.empty() ? s : s.as<Atomic>()->body;
    }
};

}  // namespace

Stmt mark_locked_updates(const Stmt &s, const LowerContext &ctx) {
    return MarkLocked(ctx).mutate(s);
}

Stmt unmark_locked_updates(const Stmt &s) {
    return UnmarkLocked().mutate(s);
}

}  // namespace calotype::internal
