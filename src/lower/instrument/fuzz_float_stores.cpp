// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/instrument/fuzz_float_stores.h"

#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/with.h"

namespace calotype::internal {

namespace {

class FuzzFloatStores : public StmtMutator {
    using Mutator::visit;

    Stmt visit(const Atomic *op) override {
        return Stmt(op);
    }

    Stmt visit(const Store *op) override {
        const Type t = op->value.type();
        if (!t.is_float()) {
            return Stmt(op);
        }
        const Expr bits = reinterpret(t.with_code(Type::UInt), op->value);
        return with(op, &Store::value, reinterpret(t, bits & ~make_one(bits.type())));
    }
};

}  // namespace

Stmt fuzz_float_stores(const Stmt &s, LowerContext &) {
    return FuzzFloatStores().mutate(s);
}

}  // namespace calotype::internal
