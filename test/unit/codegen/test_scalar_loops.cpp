// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops that a schedule leaves without vectors.
#include <gtest/gtest.h>

#include "ir/constants.h"
#include "ir/operators.h"
#include "ir/with.h"
#include "unit/codegen/kernel.h"

namespace calotype::internal {
namespace {

const Expr i = Variable::make(Int(32), "i");
const Expr one = const_true(1);

Expr element(const char *name, const Expr &index) {
    return Load::make(Float(32), name, index, one, Alignment());
}

std::string loop_of(const Stmt &body, const std::string &features,
                    Partition partition = Partition::Auto) {
    const Stmt loop = For::make("i", make_const(Int(32), 0), Variable::make(Int(32), "n"),
                                ForType::Serial, partition, DeviceAPI::None, body);
    return CompiledModule(one_function({pointer_argument("out"), pointer_argument("a"),
                                        pointer_argument("b"), scalar_argument("n", Int(32))},
                                       loop),
                          Target("x86-64-linux-avx2-avx-sse41" + features))
        .assembly();
}

Stmt sum_to_output() {
    const Expr zero = make_const(Int(32), 0);
    return Store::make("out", element("out", zero) + element("a", i), zero, one, Alignment());
}

TEST(ScalarLoops, OfElementsBecomeLoopsOfVectors) {
    const Stmt body = Store::make("out", element("a", i) + element("b", i), i, one, Alignment());
    EXPECT_GT(count(loop_of(body, ""), "vaddps"), 0u);
    EXPECT_EQ(count(loop_of(body, "-disable_llvm_loop_opt"), "vaddps"), 0u);
}

/// They are few, and would be more code.
TEST(ScalarLoops, OutsideOfASteadyStateStayLoopsOfElements) {
    const Stmt body = Store::make("out", element("a", i) + element("b", i), i, one, Alignment());
    EXPECT_EQ(count(loop_of(body, "", Partition::Never), "vaddps"), 0u);
}

/// The order of a sum is the program's where it says so.
TEST(ScalarLoops, OfSumsAddLanesButForStrictFloats) {
    EXPECT_GT(count(loop_of(sum_to_output(), ""), "vaddps"), 0u);
    EXPECT_EQ(count(loop_of(sum_to_output(), "-strict_float"), "vaddps"), 0u);
    EXPECT_EQ(count(loop_of(sum_to_output(), "-disable_llvm_loop_opt"), "vaddps"), 0u);
}

/// What an iteration stores and the next one loads is a chain.
TEST(ScalarLoops, OfScansStayLoopsOfElements) {
    const Stmt body =
        Store::make("out", element("out", i - 1) + element("a", i), i, one, Alignment());
    EXPECT_EQ(count(loop_of(body, ""), "vaddps"), 0u);
}

/// What is carried on from choice to choice depends on data. A branch on it would not be foreseen.
TEST(ScalarLoops, ChooseWithoutBranches) {
    const auto of = [](const char *name, const Expr &index) {
        return Load::make(Int(32), name, index, one, Alignment());
    };
    const Expr zero = make_const(Int(32), 0);
    const Expr chosen = Select::make(127 < of("last", zero) * of("a", i), make_const(Int(32), 255),
                                     make_const(Int(32), 7));
    const Stmt step = Block::make(Store::make("last", chosen, zero, one, Alignment()),
                                  Store::make("out", of("last", zero), i, one, Alignment()));
    const Stmt loop = For::make("i", zero, Variable::make(Int(32), "n"), ForType::Serial,
                                Partition::Auto, DeviceAPI::None, step);
    const Stmt all =
        Allocate::make("last", Int(32), MemoryType::Stack, {make_const(Int(32), 1)}, const_true(),
                       Block::make(Store::make("last", 1, zero, one, Alignment()), loop));
    const LoweredModule module = one_function(
        {pointer_argument("out"), pointer_argument("a"), scalar_argument("n", Int(32))}, all);
    const std::string text = CompiledModule(module, Target("x86-64-linux-avx2")).assembly();
    EXPECT_EQ(count(text, "cmov"), 1u) << text;
}

/// A value that is computed under a condition is not that of the iteration before where it is not.
TEST(ScalarLoops, WithStorageForOneElementUnderAConditionBecomeLoopsOfVectors) {
    const Expr zero = make_const(Int(32), 0);
    const Expr condition = element("a", i) < element("b", i);
    const Stmt computed =
        IfThenElse::make(condition, Store::make("f", element("b", i), zero, one, Alignment()));
    const Stmt used = Store::make("out", element("f", zero) + element("a", i), i, one, Alignment());
    const Stmt body = Allocate::make("f", Float(32), MemoryType::Stack, {make_const(Int(32), 1)},
                                     const_true(), Block::make(computed, used));
    EXPECT_GT(count(loop_of(body, ""), "ymm"), 0u);
}

/// Instructions that only intrinsics give would keep the loop as it is.
TEST(ScalarLoops, OfExponentialsBecomeVectorsOnEachMachine) {
    const Stmt body = Store::make("out", calotype::exp(element("a", i)), i, one, Alignment());
    EXPECT_GT(count(loop_of(body, "-fma"), "ymm"), 0u);
    EXPECT_GT(count(loop_of(body, "-fma-avx512_skylake"), "zmm"), 0u);
}

/// The place of the largest of sixteen: which it is cannot be foreseen.
TEST(ScalarLoops, OfChoicesHaveNoBranchesForThem) {
    std::vector<std::pair<std::string, Expr>> lets;
    const auto named = [&](const Expr &value) {
        lets.emplace_back("t" + std::to_string(lets.size()), value);
        return Variable::make(value.type(), lets.back().first);
    };
    Expr largest = named(element("a", i * 16)), place = 0;
    for (int c = 1; c < 16; c++) {
        const Expr value = named(element("a", i * 16 + c));
        const Expr is_larger = named(largest < value);
        place = named(select(is_larger, c, place));
        largest = named(select(is_larger, value, largest));
    }
    const Stmt body = wrap_in_lets(lets, Store::make("out", place, i, one, Alignment()));
    EXPECT_GE(count(loop_of(body, "-avx512_sapphirerapids-disable_llvm_loop_opt"), "cmov"), 14u);
}

/// LLVM would put together each byte of several iterations.
TEST(ScalarLoops, OverRowsOfBytesHaveVectorsWithinARow) {
    const auto byte = [](int at) {
        return Load::make(UInt(8), "a", i * 32 + at, one, Alignment());
    };
    Expr bits = make_const(UInt(32), 0);
    for (int at = 0; at < 32; at++) {
        bits = Call::make(
            UInt(32), Intrinsic::bitwise_or,
            {bits, Select::make(byte(at) == make_const(UInt(8), 44),
                                make_const(UInt(32), int64_t(1) << at), make_const(UInt(32), 0))});
    }
    const std::string text = loop_of(Store::make("out", bits, i, one, Alignment()), "");
    EXPECT_EQ(count(text, "vpinsrb"), 0u) << text;
    EXPECT_GT(count(text, "vpcmpeqb"), 0u) << text;
}

/// What one iteration adds to element by element, the next one would read two at a time.
TEST(ScalarLoops, OverWindowsThatOverlapAddToElements) {
    const Expr k = Variable::make(Int(32), "k");
    const auto added = [&](int distance) {
        const Expr index = i * distance + k;
        const Stmt add =
            Store::make("out", element("out", index) + element("a", i) * element("b", k), index,
                        one, Alignment());
        return loop_of(For::make("k", make_const(Int(32), 0), make_const(Int(32), 3),
                                 ForType::Serial, Partition::Auto, DeviceAPI::None, add),
                       "");
    };
    const std::string overlapping = added(2), apart = added(4);
    EXPECT_EQ(count(overlapping, "vfmadd"), 1u) << overlapping;
    EXPECT_EQ(count(overlapping, "vmovlps"), 0u) << overlapping;
    EXPECT_GT(count(apart, "vfmadd"), 1u) << apart;
}

}  // namespace
}  // namespace calotype::internal
