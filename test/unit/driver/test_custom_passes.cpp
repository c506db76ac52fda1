// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What passes of the user see of a pipeline.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ir/mutator.h"
#include "lang/language.h"

namespace calotype {

using namespace internal;

namespace {

/// Counts nodes and leaves them as they are.
class Counter : public Mutator {
public:
    int divisions = 0, products = 0, atomics = 0, vectors = 0;
    std::vector<std::string> mutexes;

private:
    using Mutator::visit;
    Expr visit(const Div *op) override {
        divisions += op->type.is_float();
        return Mutator::visit(op);
    }
    Expr visit(const Mul *op) override {
        products += op->type.is_float();
        return Mutator::visit(op);
    }
    Stmt visit(const Store *op) override {
        vectors += op->value.type().is_vector();
        return Mutator::visit(op);
    }
    Stmt visit(const Atomic *op) override {
        atomics++;
        if (!op->mutex_name.empty()) {
            mutexes.push_back(op->producer_name + " " + op->mutex_name);
        }
        return Mutator::visit(op);
    }
};

const Var x("x"), y("y");

Counter seen_in(Func f, const Target &target = get_jit_target_from_environment()) {
    Counter counter;
    f.add_custom_lowering_pass(&counter, nullptr);
    f.compile_jit(target);
    return counter;
}

/// Sums, or what each component becomes from the other one.
Func updated(bool is_crossed) {
    Func f("pair");
    f(x, y) = Tuple(x, y);
    f(x, y) = Tuple(f(x, y)[is_crossed] + x, f(x, y)[!is_crossed] + y);
    f.compute_root().update().atomic().parallel(y);
    Func g("sum_of_pair");
    g(x, y) = f(x, y)[0] + f(x, y)[1];
    return g;
}

TEST(CustomPasses, see_updates_under_a_mutex_as_atomic) {
    const Counter counter = seen_in(updated(true));
    EXPECT_EQ(counter.mutexes, std::vector<std::string>{"pair pair.mutex"});
    EXPECT_EQ(counter.atomics, 1);
    Buffer<int> result = updated(true).realize({40, 30});
    result.for_each_element([&](int i, int j) { ASSERT_EQ(result(i, j), 2 * (i + j)); });
}

TEST(CustomPasses, see_no_vectors_that_the_schedule_does_not_have) {
    Func f("sines");
    f(x) = sin(x * 0.5f);
    EXPECT_EQ(seen_in(f).vectors, 0);
    f.vectorize(x, 4);
    EXPECT_GT(seen_in(f).vectors, 0);
}

TEST(CustomPasses, see_each_store_of_others) {
    const Counter counter = seen_in(updated(false));
    EXPECT_TRUE(counter.mutexes.empty());
    EXPECT_EQ(counter.atomics, 2);
}

TEST(CustomPasses, see_products_with_reciprocals) {
    Func f("quotients");
    const Expr value = cast<float>(x);
    f(x) = value / 3.0f + value * 0.7f;
    EXPECT_EQ(seen_in(f).products, 2);
    EXPECT_EQ(seen_in(f).divisions, 0);
    const Target strict = get_jit_target_from_environment().with_feature(Target::StrictFloat);
    EXPECT_EQ(seen_in(f, strict).divisions, 1);
}

}  // namespace

}  // namespace calotype
