// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions become the NEON instructions that were made for them, and what there is no code for is
// refused by name. Nothing of it runs here; test/package has a program that does.
#include <gtest/gtest.h>

#include "codegen/module.h"
#include "ir/constants.h"
#include "ir/language/fixed_point.h"
#include "ir/language/math.h"
#include "support/error.h"
#include "unit/codegen/kernel.h"

namespace calotype::internal {
namespace {

constexpr const char *plain = "arm-64-linux";
constexpr const char *with_dot_products = "arm-64-linux-arm_dot_prod";

/// Sums of `factor` products each, in 32 bits.
Expr sums_of_products(const Type &a, const Type &b, int factor) {
    const int lanes = a.lanes();
    const Expr product = cast(Int(32, lanes), load(a, "a")) * cast(Int(32, lanes), load(b, "b"));
    return VectorReduce::make(VectorReduce::Add, product, lanes / factor);
}

Expr sums(const Type &narrow, const Type &wide) {
    const Expr value = cast(wide.with_lanes(narrow.lanes()), load(narrow, "a"));
    return VectorReduce::make(VectorReduce::Add, value, wide.lanes());
}

TEST(Arm, FourProductsOfBytesAreOneInstruction) {
    const std::pair<Type, const char *> types[] = {{UInt(8, 64), "udot"}, {Int(8, 64), "sdot"}};
    for (const auto &[type, name] : types) {
        const std::string text = assembly(with_dot_products, sums_of_products(type, type, 4));
        EXPECT_EQ(count(text, name), 4u) << text;
        EXPECT_EQ(count(text, "mul"), 0u) << text;
        EXPECT_EQ(count(assembly(plain, sums_of_products(type, type, 4)), name), 0u);
    }
    const std::string eight =
        assembly(with_dot_products, sums_of_products(Int(8, 64), Int(8, 64), 8));
    EXPECT_EQ(count(eight, "sdot"), 4u) << eight;
    const std::string mixed =
        assembly(with_dot_products, sums_of_products(UInt(8, 64), Int(8, 64), 4));
    EXPECT_EQ(count(mixed, "dot"), 0u) << mixed;
}

TEST(Arm, ProductsThatAreMadeWiderAgainAreProducts) {
    const Expr product =
        cast(Int(32, 16), widening_mul(load(Int(8, 16), "a"), load(Int(8, 16), "b")));
    const std::string text =
        assembly(with_dot_products, VectorReduce::make(VectorReduce::Add, product, 4));
    EXPECT_EQ(count(text, "sdot"), 1u) << text;
}

TEST(Arm, DotProductsTakeWhatTheyAreAddedTo) {
    const Expr c = load(Int(32, 4), "c"), products = sums_of_products(Int(8, 16), Int(8, 16), 4);
    for (const Expr &e : {c + products, products + c}) {
        const std::string text = assembly(with_dot_products, e);
        EXPECT_EQ(count(text, "sdot"), 1u) << text;
        EXPECT_EQ(count(text, "\tadd\tv"), 0u) << text;
    }
}

TEST(Arm, NeighboursAreAddedUpInMoreBits) {
    const std::string bytes = assembly(plain, sums(UInt(8, 16), Int(16, 8)));
    EXPECT_EQ(count(bytes, "uaddlp"), 1u) << bytes;
    const std::string words = assembly(plain, sums(Int(16, 8), Int(32, 4)));
    EXPECT_EQ(count(words, "saddlp"), 1u) << words;
    const std::string twice = assembly(plain, sums(UInt(8, 16), UInt(32, 4)));
    EXPECT_EQ(count(twice, "uaddlp"), 2u) << twice;
}

TEST(Arm, HighHalvesOfDoubledProducts) {
    const auto shifted = [](const Type &t, bool rounds, int by) {
        const Expr a = load(t, "a"), b = load(t, "b");
        return rounds ? rounding_mul_shift_right(a, b, by) : mul_shift_right(a, b, by);
    };
    EXPECT_EQ(count(assembly(plain, shifted(Int(16, 8), true, 15)), "sqrdmulh"), 1u);
    EXPECT_EQ(count(assembly(plain, shifted(Int(32, 8), true, 31)), "sqrdmulh"), 2u);
    EXPECT_EQ(count(assembly(plain, shifted(Int(16, 8), false, 15)), "sqdmulh"), 1u);
    EXPECT_EQ(count(assembly(plain, shifted(Int(16, 8), true, 14)), "sqrdmulh"), 0u);
    EXPECT_EQ(count(assembly(plain, shifted(UInt(16, 8), true, 15)), "mulh"), 0u);
}

TEST(Arm, BytesAtEvenAndOddPlacesAreAddedInPairs) {
    const auto lanes = [](const char *name, int from) {
        const Expr all = load(UInt(8, 32), name);
        std::vector<int> indices;
        for (int i = 0; i < 16; i++) {
            indices.push_back(2 * i + from);
        }
        return cast(UInt(16, 16), Shuffle::make({all}, indices));
    };
    const Expr sum = lanes("a", 0) + lanes("b", 0) + lanes("a", 1) + lanes("b", 1);
    const std::string text = assembly(plain, cast(UInt(8, 16), (sum + 2) >> 2));
    EXPECT_EQ(count(text, "uaddlp"), 2u) << text;
    EXPECT_EQ(count(text, "uadalp"), 2u) << text;
    EXPECT_EQ(count(text, "rshrn"), 2u) << text;
    EXPECT_EQ(count(text, "\tadd\t"), 0u) << text;
}

// LLVM would divide lane by lane what takes more than a register.
TEST(Arm, QuotientsByConstantsAreProducts) {
    const auto text = [](const Type &t, int by) {
        return assembly(plain, load(t, "a") / make_const(t, by));
    };
    EXPECT_EQ(count(text(UInt(16, 16), 255), "umull"), 4u);
    for (const std::string &quotients :
         {text(UInt(16, 16), 255), text(UInt(16, 20), 641), text(UInt(8, 48), 7)}) {
        EXPECT_EQ(count(quotients, "umov"), 0u) << quotients;
    }
    const std::string rests =
        assembly(plain, load(UInt(16, 32), "a") % make_const(UInt(16, 32), 10));
    EXPECT_EQ(count(rests, "umov"), 0u) << rests;
}

TEST(Arm, HalvesAreAddedWhereTheMachineDoesSo) {
    const Expr sum = load(Float(16, 8), "a") + load(Float(16, 8), "b");
    EXPECT_EQ(count(assembly("arm-64-linux-arm_fp16", sum), "fcvt"), 0u);
    EXPECT_GT(count(assembly(plain, sum), "fcvt"), 0u);
}

TEST(Arm, FunctionsOfTheMachine) {
    const Expr a = load(Float(32, 4), "a"), b = load(Float(32, 4), "b"),
               c = load(Float(32, 4), "c");
    EXPECT_EQ(count(assembly(plain, a * b + c), "fmla"), 1u);
    EXPECT_EQ(count(assembly(plain, sqrt(a)), "fsqrt"), 1u);
    EXPECT_EQ(count(assembly(plain, floor(a)), "frintm"), 1u);
}

TEST(Arm, ObjectsAreThatMachinesOwn) {
    for (const char *target : {"arm-64-linux", "arm-64-android", "arm-64-noos"}) {
        const LoweredModule module = one_function({pointer_argument("a")}, Evaluate::make(0));
        const std::string object = CompiledModule(module, Target(target)).object();
        ASSERT_GT(object.size(), 20u);
        EXPECT_EQ(object.substr(0, 4), "\x7f"
                                       "ELF");
        EXPECT_EQ(int(uint8_t(object[18])), 183) << target;  // EM_AARCH64
    }
}

TEST(Arm, WhatThereIsNoCodeForIsNamed) {
    const LoweredModule module = one_function({pointer_argument("a")}, Evaluate::make(0));
    for (const char *word : {"sve", "sve2", "no_neon", "armv7s"}) {
        const std::string target = std::string("arm-64-linux-") + word;
        EXPECT_EQ(Target(target).unsupported_part(), word);
        try {
            CompiledModule(module, Target(target)).object();
            FAIL() << "no error for " << target;
        } catch (const CompileError &e) {
            EXPECT_EQ(std::string(e.what()),
                      "target " + target + " has " + word + ", which this build makes no code for");
        }
    }
    EXPECT_TRUE(Target("arm-64-linux-armv84a-arm_dot_prod-arm_fp16-cuda").supported());
    EXPECT_EQ(Target("arm-64-osx").unsupported_part(), "osx");
    EXPECT_EQ(Target("arm-32-linux").unsupported_part(), "arm-32");
}

}  // namespace
}  // namespace calotype::internal
