// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What code for RISC-V must be like; test_emulated.cpp runs some.
#include <gtest/gtest.h>

#include "codegen/module.h"
#include "ir/constants.h"
#include "ir/language/math.h"
#include "support/error.h"
#include "unit/codegen/kernel.h"

namespace calotype::internal {
namespace {

constexpr const char *plain = "riscv-64-linux";
constexpr const char *with_vectors = "riscv-64-linux-rvv-vector_bits_128";

Expr sum_of_floats(int lanes) {
    return load(Float(32, lanes), "a") + load(Float(32, lanes), "b");
}

TEST(Riscv, VectorsTakeRegistersOfTheWidthNamed) {
    const std::string text = assembly(with_vectors, sum_of_floats(4));
    EXPECT_EQ(count(text, "vfadd.vv"), 1u) << text;
    EXPECT_NE(text.find("vsetivli\tzero, 4, e32, m1"), std::string::npos) << text;
    const std::string two = assembly(with_vectors, sum_of_floats(8));
    EXPECT_NE(two.find("e32, m2"), std::string::npos) << two;
    const std::string wide = assembly("riscv-64-linux-rvv-vector_bits_256", sum_of_floats(8));
    EXPECT_NE(wide.find("vsetivli\tzero, 8, e32, m1"), std::string::npos) << wide;
}

TEST(Riscv, WithoutThemLanesAreComputedOneByOne) {
    const std::string text = assembly(plain, sum_of_floats(4));
    EXPECT_EQ(count(text, "fadd.s"), 4u) << text;
    EXPECT_EQ(count(text, "vset"), 0u) << text;
}

// What cuts vectors by the width of registers must not count on there being one.
TEST(Riscv, WithoutThemVectorsAreCutAsWell) {
    const Expr pixels = Variable::make(UInt(8, 64), "pixels");
    std::vector<Expr> channels;
    std::vector<int> turns;
    for (const int channel : {2, 1, 0, 3}) {
        channels.push_back(Shuffle::make_slice(pixels, channel, 4, 16));
    }
    for (int i = 0; i < 64; i++) {
        turns.push_back(i % 4 * 16 + i / 4);
    }
    const Expr turned = Let::make("pixels", load(UInt(8, 64), "a"), Shuffle::make(channels, turns));
    const std::string text = assembly(plain, turned);
    EXPECT_EQ(count(text, "\tsb\t"), 64u) << text;
    const Expr numbers = Ramp::make(load(Int(32), "b"), 1, 16), lowest = load(Int(32), "c");
    EXPECT_NE(assembly(plain, cast(UInt(8, 16), numbers < Broadcast::make(lowest, 16))), "");
}

TEST(Riscv, FunctionsOfTheMachine) {
    const Expr a = load(Float(32), "a"), b = load(Float(32), "b"), c = load(Float(32), "c");
    EXPECT_EQ(count(assembly(plain, a * b + c), "fmadd.s"), 1u);
    EXPECT_EQ(count(assembly(plain, sqrt(a)), "fsqrt.s"), 1u);
    EXPECT_EQ(count(assembly(with_vectors, sqrt(load(Float(32, 4), "a"))), "vfsqrt.v"), 1u);
    EXPECT_NE(assembly(with_vectors, sin(load(Float(32, 4), "a"))), "")
        << "the rare case of a function of vectors has a call of its own";
}

// C on this machine takes the upper half of a register for copies of the sign of 32 bits, whatever the type.
TEST(Riscv, WordsArePassedWithTheirSign) {
    const Expr called = Call::make(UInt(32), "other", {load(UInt(32), "a")}, CallKind::Extern);
    const Stmt store = Store::make("a", called, 0, const_true(), Alignment());
    const LoweredModule module = one_function({pointer_argument("a")}, store);
    const std::string text = CompiledModule(module, Target(plain)).llvm_assembly();
    EXPECT_NE(text.find("signext i32 @f("), std::string::npos) << text;
    EXPECT_NE(text.find("signext i32 @other(i32 signext"), std::string::npos) << text;
    EXPECT_EQ(CompiledModule(module, Target("arm-64-linux")).llvm_assembly().find("signext"),
              std::string::npos);
}

TEST(Riscv, ObjectsAreThatMachinesOwn) {
    const LoweredModule module = one_function({pointer_argument("a")}, Evaluate::make(0));
    for (const char *target : {"riscv-64-linux", "riscv-64-android", "riscv-64-noos"}) {
        const std::string object = CompiledModule(module, Target(target)).object();
        ASSERT_GT(object.size(), 52u);
        EXPECT_EQ(object.substr(0, 4), "\x7f"
                                       "ELF");
        EXPECT_EQ(int(uint8_t(object[18])), 243) << target;  // EM_RISCV
        EXPECT_EQ(int(uint8_t(object[48])), 5) << target;    // compressed, doubles in registers
    }
}

TEST(Riscv, OtherWordsAreRefused) {
    EXPECT_TRUE(Target("riscv-64-linux-rvv-vector_bits_512").supported());
    EXPECT_EQ(Target("riscv-32-linux").unsupported_part(), "riscv-32");
    EXPECT_EQ(Target("riscv-64-linux-arm_fp16").unsupported_part(), "arm_fp16");
}

}  // namespace
}  // namespace calotype::internal
