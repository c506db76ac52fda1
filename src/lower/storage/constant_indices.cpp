// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/storage/constant_indices.h"

#include "arith/sample_value.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/queries.h"
#include "ir/with.h"
#include "lower/known_here.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

class ConstantIndices : public Mutator {
private:
    using Mutator::visit;

    Stmt visit(const Allocate *op) override {
        const bool may_be_in_registers =
            op->memory_type == MemoryType::Stack || op->memory_type == MemoryType::Register;
        const ScopedBinding<> bind(may_be_in_registers && op->constant_size() > 0, storage_,
                                   op->name);
        return Mutator::visit(op);
    }
    Stmt visit(const LetStmt *op) override {
        return inside<Stmt>(op);
    }
    Expr visit(const Let *op) override {
        return inside<Expr>(op);
    }
    template<typename Handle, typename T>
    Handle inside(const T *let) {
        const KnownHere::Inside inside(known_, let);
        Handle result;
        samples_.with(let->name, let->value, [&] {
            other_samples_.with(let->name, let->value, [&] { result = Mutator::visit(let); });
        });
        return result;
    }
    Stmt visit(const For *op) override {
        const KnownHere::Inside inside(known_, op);
        return Mutator::visit(op);
    }
    Expr visit(const Load *op) override {
        const Expr e = Mutator::visit(op);
        return with_constant_index(e.as<Load>(), e);
    }
    Stmt visit(const Store *op) override {
        const Stmt s = Mutator::visit(op);
        return with_constant_index(s.as<Store>(), s);
    }

    template<typename Access, typename Handle>
    Handle with_constant_index(const Access *op, const Handle &same) const {
        const Expr index = storage_.contains(op->name) ? constant(op->index) : op->index;
        return index.same_as(op->index) ? same : with(op, &Access::index, index);
    }

    /// A constant, or lanes that begin at one; the index itself if it is none.
    Expr constant(const Expr &index) const {
        const Ramp *ramp = index.as<Ramp>();
        const Expr &first = ramp ? ramp->base : index;
        if (is_const(first) || !first.type().is_scalar() || depends_on_something(first)) {
            return index;
        }
        const Expr known = simplify(remove_likelies(known_.lets().expand_while_small(first)));
        return !is_const(known) ? index
               : ramp           ? Ramp::make(known, ramp->stride, ramp->lanes)
                                : known;
    }

    /// A test that is cheap, as most indices do. Others may, too.
    bool depends_on_something(const Expr &e) const {
        const std::optional<int64_t> a = samples_.of(e), b = other_samples_.of(e);
        return a && b && *a != *b;
    }

    KnownHere known_;
    SampleValues samples_{0}, other_samples_{1};
    Scope<> storage_;  ///< of constant size, around
};

}  // namespace

Stmt make_indices_constant(const Stmt &s) {
    return ConstantIndices().mutate(s);
}

}  // namespace calotype::internal
