// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every node of the IR goes through simplify(): nothing throws, types stay, a second time changes
// nothing.
#include <gtest/gtest.h>

#include "arith/simplify.h"
#include "harness/random_ir.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/printer.h"

namespace calotype {

using namespace internal;
namespace {

/// Gives names a type for good: random IR uses one name for several types.
class TypedNames final : public Mutator {
protected:
    using Mutator::visit;
    static std::string typed(const std::string &name, Type t) {
        return name + "_" + to_string(t);
    }
    Expr visit(const Variable *op) override {
        return Variable::make(op->type, typed(op->name, op->type));
    }
    Expr visit(const Let *op) override {
        return Let::make(typed(op->name, op->value.type()), mutate(op->value), mutate(op->body));
    }
    Stmt visit(const LetStmt *op) override {
        return LetStmt::make(typed(op->name, op->value.type()), mutate(op->value),
                             mutate(op->body));
    }
    Stmt visit(const For *op) override {
        return For::make(typed(op->name, Int(32)), mutate(op->min), mutate(op->extent),
                         op->for_type, op->partition, op->device_api, mutate(op->body));
    }
};

TEST(SimplifyLanguage, ExpressionsOfAllKinds) {
    test::RandomIr random(11);
    for (int i = 0; i < 4000; i++) {
        const Expr before = TypedNames()(random.expr(random.type(), 1 + i % 6));
        Expr after;
        ASSERT_NO_THROW(after = simplify(before)) << before;
        ASSERT_EQ(before.type(), after.type()) << before << "\nbecame\n" << after;
        ASSERT_TRUE(equal(after, simplify(after))) << before << "\nbecame\n"
                                                   << after << "\nand then\n"
                                                   << simplify(after);
    }
}

TEST(SimplifyLanguage, StatementsOfAllKinds) {
    test::RandomIr random(12);
    for (int i = 0; i < 1500; i++) {
        const Stmt before = TypedNames()(random.stmt(1 + i % 5));
        Stmt after;
        ASSERT_NO_THROW(after = simplify(before)) << before;
        if (after.defined()) {
            ASSERT_NO_THROW(simplify(after)) << before << "became\n" << after;
        }
    }
}

}  // namespace
}  // namespace calotype
