// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How much code unrolling makes of a choice between many values.
#include <gtest/gtest.h>

#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/context.h"
#include "lower/loops/unroll_loops.h"

namespace calotype::internal {
namespace {

/// Nodes of the code, each as often as there are ways to it.
class CountNodes : public Visitor {
public:
    int count = 0;
    using Visitor::operator();
    void operator()(const Expr &e) override {
        count += e.defined();
        Visitor::operator()(e);
    }
};

int unrolled_nodes(int values) {
    const Expr x = Variable::make(Int(32), "x");
    std::vector<Expr> choices;
    for (int i = 0; i < values; i++) {
        choices.push_back(x * 3 + i);
    }
    const Stmt loop = For::make("x", 0, values, ForType::Unrolled, Partition::Auto, DeviceAPI::None,
                                Evaluate::make(mux(x, choices)));
    LowerContext ctx;
    CountNodes counter;
    counter(unroll_loops(loop, ctx));
    return counter.count;
}

TEST(UnrollLoops, a_choice_by_the_loop_is_made_once_in_each_copy) {
    const int few = unrolled_nodes(16), many = unrolled_nodes(160);
    EXPECT_GT(few, 16);
    EXPECT_LE(many, 10 * few);
}

}  // namespace
}  // namespace calotype::internal
