// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/storage/add_atomic_mutex.h"

#include <set>

#include "ir/constants.h"
#include "ir/conventions/runtime_calls.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/walk/search.h"
#include "ir/with.h"
#include "lower/checks/error_call.h"
#include "lower/names.h"
#include "lower/storage/independent_values.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

/// Whether an update of its Func inside of an Atomic needs a lock; what is computed for it there needs none.
bool needs_mutex(const Atomic *atomic) {
    return contains<Provide>(atomic->body, [&](const Provide *op) {
        return op->name == atomic->producer_name && !has_independent_values(op);
    });
}

class AddMutexes : public StmtMutator {
public:
    explicit AddMutexes(const LowerContext &ctx) : ctx_(ctx) {
    }

private:
    using Mutator::visit;

    Stmt visit(const For *op) override {
        const bool parallel = is_unordered_parallel(op->for_type), kernel = is_gpu(op->for_type);
        parallel_ += parallel;
        in_kernel_ += kernel;
        const Stmt s = Mutator::visit(op);
        parallel_ -= parallel;
        in_kernel_ -= kernel;
        return s;
    }

    Stmt visit(const Atomic *op) override {
        check_coordinates(op);
        if (parallel_ == 0 || !needs_mutex(op)) {
            return op;
        }
        user_assert(in_kernel_ == 0) << "an atomic update of " << op->producer_name
                                     << " sets several values that depend on each other, or reads "
                                        "it elsewhere, which takes a mutex: kernels on a GPU "
                                     << "have none";
        wanted_.insert(op->producer_name);
        return Atomic::make(op->producer_name, names::mutex(op->producer_name), op->body);
    }

    /// Where to store must be known before the element is locked.
    static void check_coordinates(const Atomic *op) {
        for_each<Provide>(op->body, [&](const Provide *store) {
            for (const Expr &e : store->args) {
                user_assert(store->name != op->producer_name || !uses_buffer(e, store->name))
                    << "an update of " << store->name
                    << " cannot be atomic: where it stores depends on " << store->name << " itself";
            }
        });
    }

    Stmt with_mutex(const std::string &func, const Stmt &body) {
        const std::string name = names::mutex(func);
        const Expr locks = Variable::make(Handle(), name);
        const Expr create = call_runtime(RuntimeFunction::mutex_array_create,
                                         {make_const(UInt(64), atomic_mutexes)});
        const Stmt made =
            check(reinterpret(UInt(64), locks) != make_zero(UInt(64)), "out_of_memory", {});
        return Allocate::make(name, UInt(8), MemoryType::Heap, {1}, const_true(),
                              Block::make(made, body), create,
                              runtime_function(RuntimeFunction::mutex_array_destroy).name);
    }

    Stmt visit(const Realize *op) override {
        const Stmt body = mutate(op->body);
        const bool wanted = wanted_.erase(op->name) > 0;
        return with(op, &Realize::body, wanted ? with_mutex(op->name, body) : body);
    }

    Stmt visit(const ProducerConsumer *op) override {
        const Stmt s = Mutator::visit(op);
        const bool wanted =
            op->is_producer && ctx_.is_output(op->name) && wanted_.erase(op->name) > 0;
        return wanted ? with_mutex(op->name, s) : s;
    }

    const LowerContext &ctx_;
    std::set<std::string> wanted_;  ///< Funcs whose updates inside need locks
    int parallel_ = 0;
    int in_kernel_ = 0;
};

}  // namespace

Stmt add_atomic_mutex(const Stmt &s, LowerContext &ctx) {
    return AddMutexes(ctx).mutate(s);
}

}  // namespace calotype::internal
