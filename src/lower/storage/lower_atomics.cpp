// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/storage/lower_atomics.h"

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/conventions/runtime_calls.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "lower/let_scope.h"
#include "lower/storage/add_atomic_mutex.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

/// Drops `atomic` around stores that no other thread can meet: outside of parallel loops, or to
/// storage made in an iteration. The mutexes of the others become calls.
class LowerAtomics : public Mutator {
public:
    explicit LowerAtomics(LowerContext &ctx) : ctx_(ctx) {
    }

private:
    using Mutator::visit;

    Stmt visit(const For *op) override {
        const bool parallel = is_unordered_parallel(op->for_type);
        depth_ += parallel;
        const Stmt result = Mutator::visit(op);
        depth_ -= parallel;
        return result;
    }

    Stmt visit(const Fork *op) override {
        depth_++;
        const Stmt result = Mutator::visit(op);
        depth_--;
        return result;
    }

    Stmt visit(const Allocate *op) override {
        ScopedBinding<int> bind(allocated_at_, op->name, depth_);
        return Mutator::visit(op);
    }

    Stmt visit(const Atomic *op) override {
        auto f = ctx_.env.find(op->producer_name);
        const std::string buffer =
            f == ctx_.env.end() ? op->producer_name : f->second.buffer_name(0);
        const int *allocated_at = allocated_at_.find(buffer);
        if ((allocated_at ? *allocated_at : 0) == depth_) {
            return mutate(op->body);
        }
        return op->mutex_name.empty() ? Mutator::visit(op) : with_lock(op, buffer);
    }

    /// lock; body; unlock, of the mutex for the element that the body stores to.
    Stmt with_lock(const Atomic *op, const std::string &buffer) {
        class FindIndex : public Visitor {
        public:
            std::string buffer;
            LetScope lets;
            Expr index;

        private:
            using Visitor::visit;
            void visit(const LetStmt *op) override {
                const LetScope::Inside inside(lets, op->name, op->value);
                (*this)(op->body);
            }
            void visit(const Store *op) override {
                if (op->name == buffer && !index.defined()) {
                    index = lets.expand(op->index);
                }
            }
        };
        FindIndex find;
        find.buffer = buffer;
        find(op->body);
        internal_assert(find.index.defined() && find.index.type().is_scalar())
            << "atomic update of " << buffer << " without a store to one element";
        const std::string name = ctx_.names.unique(op->mutex_name + ".index");
        const Expr number = Variable::make(Int(32), name),
                   mutexes = Variable::make(Handle(), op->mutex_name);
        auto call = [&](RuntimeFunction function) {
            return Evaluate::make(call_runtime(function, {mutexes, number}));
        };
        const Stmt body = Block::make({call(RuntimeFunction::mutex_array_lock), op->body,
                                       call(RuntimeFunction::mutex_array_unlock)});
        const Expr index = find.index;
        return LetStmt::make(name, cast(Int(32), index % make_const(index.type(), atomic_mutexes)),
                             body);
    }

    LowerContext &ctx_;
    Scope<int> allocated_at_;
    int depth_ = 0;  ///< of parallel loops
};

}  // namespace

Stmt lower_atomics(const Stmt &s, LowerContext &ctx) {
    const Stmt result = LowerAtomics(ctx).mutate(s);
    return result.same_as(s) ? s : simplify(result);
}

}  // namespace calotype::internal
