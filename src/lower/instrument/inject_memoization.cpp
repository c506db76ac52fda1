// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/instrument/inject_memoization.h"

#include "ir/mutator.h"
#include "lower/instrument/memoization.h"

namespace calotype {

using namespace internal;

namespace {

class InjectMemoization : public Mutator {
public:
    explicit InjectMemoization(const LowerContext &ctx)
        : ctx_(ctx) {
    }

protected:
    using Mutator::visit;

    Expr visit(const Call *op) override {
        return op->is_intrinsic(Intrinsic::memoize_expr) ? mutate(op->args[0]) : Mutator::visit(op);
    }

    Stmt visit(const ProducerConsumer *op) override {
        const Stmt s = Mutator::visit(op);
        auto f = ctx_.env.find(op->name);
        if (!op->is_producer || f == ctx_.env.end() || !f->second.schedule().memoized || ctx_.is_output(op->name)) {
            return s;
        }
        op = s.as<ProducerConsumer>();
        const Stmt compute = Block::make(op->body, store_memoized(f->second));
        return ProducerConsumer::make_produce(op->name,
                                              IfThenElse::make(memoized_is_missing(f->second), compute));
    }

private:
    const LowerContext &ctx_;
};

}  // namespace

Stmt inject_memoization(const Stmt &s, LowerContext &ctx) {
    return InjectMemoization(ctx).mutate(s);
}

}  // namespace calotype
