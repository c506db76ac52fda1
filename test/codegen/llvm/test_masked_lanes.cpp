// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses under masks that the processor has no instruction for.
#include <gtest/gtest.h>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <map>
#include <string>

#include "codegen/llvm/passes/masked_lanes.h"
#include "codegen/llvm/target_machine.h"
#include "codegen/llvm/transformed.h"

namespace calotype::internal {

namespace {

/// How many instructions of each kind a function has after the pass, "masked" and "block".
std::map<std::string, int> counts_of(const std::string &body, const std::string &target) {
    llvm::LLVMContext context;
    const std::string text =
        "declare <4 x i16> @llvm.masked.gather.v4i16.v4p0(<4 x ptr>, i32, <4 x i1>, <4 x i16>)\n"
        "declare <8 x i32> @llvm.masked.gather.v8i32.v8p0(<8 x ptr>, i32, <8 x i1>, <8 x i32>)\n"
        "declare void @llvm.masked.scatter.v4i16.v4p0(<4 x i16>, <4 x ptr>, i32, <4 x i1>)\n"
        "declare <4 x i16> @llvm.masked.load.v4i16.p0(ptr, i32, <4 x i1>, <4 x i16>)\n"
        "declare void @llvm.masked.store.v4i16.p0(<4 x i16>, ptr, i32, <4 x i1>)\n"
        "define void @f(ptr %p, <4 x ptr> %ps, <8 x ptr> %qs, <4 x i16> %v, <8 x i32> %w,\n"
        "               <4 x i1> %m, <8 x i1> %n) {\n" +
        body + "ret void\n}\n";
    const auto module = transformed(text, context, [&](llvm::Module &m) {
        const auto machine = make_target_machine(Target(target));
        m.setDataLayout(machine->createDataLayout());
        for (llvm::Function &f : m) {
            add_target_attributes(f, Target(target));
        }
        access_lanes_without_branches(m, *machine);
    });
    const llvm::Function &f = *module->getFunction("f");
    std::map<std::string, int> counts = {{"block", int(f.size())}};
    for (const llvm::Instruction &i : llvm::instructions(f)) {
        const auto *call = llvm::dyn_cast<llvm::CallInst>(&i);
        const bool is_masked = call && call->getCalledFunction()->getName().contains("masked");
        counts[is_masked ? "masked" : i.getOpcodeName()]++;
    }
    return counts;
}

const char *const gather = "%r = call <4 x i16> @llvm.masked.gather.v4i16.v4p0(<4 x ptr> %ps, i32 "
                           "2, <4 x i1> %m, <4 x i16> poison)\n";
const char *const scatter_of_r =
    "call void @llvm.masked.scatter.v4i16.v4p0(<4 x i16> %r, <4 x ptr> "
    "%ps, i32 2, <4 x i1> %m)\n";

TEST(MaskedLanes, OfScatteredAccessesAreLoadsAndStoresWithOneBranch) {
    for (const char *target :
         {"x86-64-linux-avx2", "x86-64-linux-avx512_skylake", "arm-64-linux"}) {
        auto counts = counts_of(std::string(gather) + scatter_of_r, target);
        EXPECT_EQ(counts["masked"], 0) << target;
        EXPECT_EQ(counts["load"], 8) << target;
        EXPECT_EQ(counts["store"], 8) << target;
        EXPECT_EQ(counts["block"], 7) << target;
        EXPECT_EQ(counts["alloca"], 1) << target;
    }
}

TEST(MaskedLanes, OfDenseAccessesAreOneAccessIfNoneIsLeftOut) {
    auto counts = counts_of(
        "%r = call <4 x i16> @llvm.masked.load.v4i16.p0(ptr %p, i32 8, <4 x i1> %m, <4 x i16> %v)\n"
        "call void @llvm.masked.store.v4i16.p0(<4 x i16> %r, ptr %p, i32 8, <4 x i1> %m)\n",
        "x86-64-linux-avx2");
    EXPECT_EQ(counts["masked"], 0);
    EXPECT_EQ(counts["load"], 5);
    EXPECT_EQ(counts["store"], 5);
    EXPECT_EQ(counts["select"], 3);  // of places twice, and of what lanes that are left out have
}

TEST(MaskedLanes, StayWhereThereIsAnInstruction) {
    const char *wide = "%r = call <8 x i32> @llvm.masked.gather.v8i32.v8p0(<8 x ptr> %qs, i32 4, "
                       "<8 x i1> %n, <8 x i32> poison)\n";
    EXPECT_EQ(counts_of(wide, "x86-64-linux-avx512_skylake")["masked"], 1);
    EXPECT_EQ(counts_of(wide, "x86-64-linux-sse41")["masked"], 0);
}

/// The lanes up to an end, which may be one of a vector, and `accesses` of them.
std::string accesses_up_to_an_end(int accesses, bool is_of_vector = false) {
    std::string text =
        is_of_vector
            ? "%c = ptrtoint <4 x ptr> %ps to <4 x i64>\n"
            : "%b = ptrtoint ptr %p to i64\n%c = insertelement <4 x i64> poison, i64 %b, i64 0\n";
    text += "%d = shufflevector <4 x i64> %c, <4 x i64> poison, <4 x i32> zeroinitializer\n"
            "%end = icmp slt <4 x i64> <i64 0, i64 1, i64 2, i64 3>, %d\n";
    for (int i = 0; i < accesses; i++) {
        text += "call void @llvm.masked.scatter.v4i16.v4p0(<4 x i16> %v, <4 x ptr> %ps, i32 2, "
                "<4 x i1> %end)\n";
    }
    return text;
}

TEST(MaskedLanes, StayWhereTheMaskRepeatsIfTheyAreFew) {
    EXPECT_EQ(counts_of(accesses_up_to_an_end(10), "x86-64-linux-avx2")["masked"], 10);
    EXPECT_EQ(counts_of(accesses_up_to_an_end(10, true), "x86-64-linux-avx2")["masked"], 10);
    EXPECT_EQ(counts_of(accesses_up_to_an_end(1000), "x86-64-linux-avx2")["masked"], 0);
}

TEST(MaskedLanes, StayUnderConstantMasks) {
    EXPECT_EQ(counts_of("%r = call <4 x i16> @llvm.masked.gather.v4i16.v4p0(<4 x ptr> %ps, i32 2, "
                        "<4 x i1> <i1 1, i1 0, i1 1, i1 1>, <4 x i16> poison)\n",
                        "x86-64-linux-avx2")["masked"],
              1);
}

}  // namespace

}  // namespace calotype::internal
