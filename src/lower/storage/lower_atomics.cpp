// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/storage/lower_atomics.h"

#include <algorithm>
#include <string>
#include <vector>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/conventions/runtime_calls.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/with.h"
#include "lower/let_scope.h"
#include "lower/storage/add_atomic_mutex.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

/// `atomic` around each store to one of the buffers, in place of what stands around more than that.
class AroundStores : public Mutator {
public:
    AroundStores(const Atomic &atomic, const std::vector<std::string> &buffers)
        : atomic_(atomic), buffers_(buffers) {
    }

private:
    using Mutator::visit;

    Stmt visit(const Store *op) override {
        const bool updates =
            std::find(buffers_.begin(), buffers_.end(), op->name) != buffers_.end();
        return updates ? Atomic::make(atomic_.producer_name, "", op) : Stmt(op);
    }

    const Atomic &atomic_;
    const std::vector<std::string> &buffers_;
};

/// Drops `atomic` around stores that no other thread can meet: outside of parallel loops, or to
/// storage made in an iteration. A fork is no parallel loop: one of its tasks alone stores to a
/// Func. The mutexes of the others become calls.
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

    Stmt visit(const Allocate *op) override {
        ScopedBinding<int> bind(allocated_at_, op->name, depth_);
        return Mutator::visit(op);
    }

    Stmt visit(const Atomic *op) override {
        const std::vector<std::string> buffers = buffers_of(*op);
        const int *allocated_at = allocated_at_.find(buffers.front());
        const Stmt body = mutate(op->body);
        if ((allocated_at ? *allocated_at : 0) == depth_) {
            return body;
        }
        return op->mutex_name.empty() ? AroundStores(*op, buffers).mutate(body)
                                      : lock_inside(body, *op, buffers);
    }

    std::vector<std::string> buffers_of(const Atomic &op) const {
        auto f = ctx_.env.find(op.producer_name);
        if (f == ctx_.env.end()) {
            return {op.producer_name};
        }
        std::vector<std::string> buffers;
        for (int i = 0; i < f->second.outputs(); i++) {
            buffers.push_back(f->second.buffer_name(i));
        }
        return buffers;
    }

    template<typename Node>
    static bool uses_any(const Node &node, const std::vector<std::string> &buffers) {
        return std::any_of(buffers.begin(), buffers.end(),
                           [&](const std::string &buffer) { return uses_buffer(node, buffer); });
    }

    /// The lock as far inside as the update allows: what is computed for it before, as where it stores, is computed
    /// without the lock, which has to know that place.
    Stmt lock_inside(const Stmt &s, const Atomic &atomic, const std::vector<std::string> &buffers) {
        if (const auto *op = s.as<Allocate>()) {
            return with(op, &Allocate::body, lock_inside(op->body, atomic, buffers));
        }
        if (const auto *op = s.as<ProducerConsumer>()) {
            return with(op, &ProducerConsumer::body, lock_inside(op->body, atomic, buffers));
        }
        if (const auto *op = s.as<IfThenElse>();
            op && !op->else_case.defined() && !uses_any(op->condition, buffers)) {
            return with(op, &IfThenElse::then_case, lock_inside(op->then_case, atomic, buffers));
        }
        if (const auto *op = s.as<LetStmt>(); op && !uses_any(op->value, buffers)) {
            return with(op, &LetStmt::body, lock_inside(op->body, atomic, buffers));
        }
        if (const auto *op = s.as<Block>(); op && !uses_any(op->first, buffers)) {
            return with(op, &Block::rest, lock_inside(op->rest, atomic, buffers));
        }
        return with_lock(s, atomic, buffers.front());
    }

    /// lock; body; unlock, of the mutex for the element that the body stores to.
    Stmt with_lock(const Stmt &update, const Atomic &atomic, const std::string &buffer) {
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
        find(update);
        internal_assert(find.index.defined() && find.index.type().is_scalar())
            << "atomic update of " << buffer << " without a store to one element";
        const std::string name = ctx_.names.unique(atomic.mutex_name + ".index");
        const Expr number = Variable::make(Int(32), name),
                   mutexes = Variable::make(Handle(), atomic.mutex_name);
        auto call = [&](RuntimeFunction function) {
            return Evaluate::make(call_runtime(function, {mutexes, number}));
        };
        const Stmt body = Block::make({call(RuntimeFunction::mutex_array_lock), update,
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
