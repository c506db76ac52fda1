// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masked loads and stores of narrow lanes, of which some first ones are alive.
#include <gtest/gtest.h>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <string>
#include <vector>

#include "codegen/llvm/transformed.h"
#include "codegen/x86/leading_lanes.h"

namespace calotype::internal {

namespace {

/// The types of the masked loads and stores that are left.
std::vector<std::string> masked(const std::string &mask, const std::string &target = "avx2") {
    llvm::LLVMContext context;
    const std::string text =
        "declare <16 x i8> @llvm.masked.load.v16i8.p0(ptr, i32, <16 x i1>, <16 x i8>)\n"
        "declare void @llvm.masked.store.v16i8.p0(<16 x i8>, ptr, i32, <16 x i1>)\n"
        "define void @f(ptr %p, ptr %q, i32 %x, i32 %end, <16 x i32> %any) {\n"
        "%a = insertelement <16 x i32> poison, i32 %x, i64 0\n"
        "%xs = shufflevector <16 x i32> %a, <16 x i32> poison, <16 x i32> zeroinitializer\n"
        "%b = insertelement <16 x i32> poison, i32 %end, i64 0\n"
        "%ends = shufflevector <16 x i32> %b, <16 x i32> poison, <16 x i32> zeroinitializer\n" +
        mask +
        "%v = call <16 x i8> @llvm.masked.load.v16i8.p0(ptr %p, i32 1, <16 x i1> %m, <16 x i8> "
        "poison)\n"
        "call void @llvm.masked.store.v16i8.p0(<16 x i8> %v, ptr %q, i32 1, <16 x i1> %m)\n"
        "ret void\n}\n";
    const auto module = transformed(text, context, [&](llvm::Module &m) {
        access_leading_lanes_by_words(m, Target("x86-64-linux-" + target));
    });
    std::vector<std::string> types;
    for (const llvm::Instruction &i : llvm::instructions(*module->getFunction("f"))) {
        const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
        const bool loads = call && call->getIntrinsicID() == llvm::Intrinsic::masked_load;
        if (loads || (call && call->getIntrinsicID() == llvm::Intrinsic::masked_store)) {
            const llvm::Type *type = loads ? call->getType() : call->getArgOperand(0)->getType();
            types.push_back(std::to_string(type->getScalarSizeInBits()));
        }
    }
    return types;
}

std::string numbers() {
    std::string all = "<";
    for (int i = 0; i < 16; i++) {
        all += (i ? ", i32 " : "i32 ") + std::to_string(i);
    }
    return all + ">\n";
}

using Types = std::vector<std::string>;

TEST(LeadingLanes, AreWordsAndARest) {
    for (const char *sum : {"add nsw", "or disjoint"}) {
        const std::string ramp = "%r = " + std::string(sum) + " <16 x i32> %xs, " + numbers();
        EXPECT_EQ(masked(ramp + "%m = icmp slt <16 x i32> %r, %ends\n"), (Types{"32", "32"}));
        EXPECT_EQ(masked(ramp + "%m = icmp sgt <16 x i32> %ends, %r\n"), (Types{"32", "32"}));
    }
    EXPECT_EQ(masked("%m = icmp ugt <16 x i32> %ends, " + numbers()), (Types{"32", "32"}));
}

TEST(LeadingLanes, GoUpToAnEndThatIsTakenToo) {
    const std::string ramp = "%r = add nsw <16 x i32> %xs, " + numbers();
    EXPECT_EQ(masked(ramp + "%m = icmp sle <16 x i32> %r, %ends\n"), (Types{"32", "32"}));
    EXPECT_EQ(masked(ramp + "%m = icmp sge <16 x i32> %ends, %r\n"), (Types{"32", "32"}));
    EXPECT_EQ(masked("%m = icmp uge <16 x i32> %ends, " + numbers()), (Types{"32", "32"}));
}

/// LLVM keeps numbers together in one vector that are computed alike.
TEST(LeadingLanes, GoUpToAnEndThatIsALaneOfAVector) {
    const std::string ramp = "%r = add nsw <16 x i32> %xs, " + numbers();
    for (const char *lane : {"i32 0", "i32 3"}) {
        std::string all = "%all = shufflevector <16 x i32> %any, <16 x i32> poison, <16 x i32> <";
        for (int i = 0; i < 16; i++) {
            all += (i ? ", " : "") + std::string(lane);
        }
        EXPECT_EQ(masked(all + ">\n" + ramp + "%m = icmp slt <16 x i32> %r, %all\n"),
                  (Types{"32", "32"}));
    }
}

TEST(LeadingLanes, NeedNoMasks) {
    const std::string mask = "%m = icmp sgt <16 x i32> %ends, " + numbers();
    EXPECT_EQ(masked(mask, "sse41"), Types());
    EXPECT_EQ(masked("%m = icmp slt <16 x i32> %any, %ends\n", "sse41"), (Types{"8", "8"}));
}

/// A load of what was stored in pieces waits until all of them are in memory.
TEST(LeadingLanes, AreLoadedWithoutTheFrame) {
    llvm::LLVMContext context;
    const auto module = transformed(
        "declare <16 x i8> @llvm.masked.load.v16i8.p0(ptr, i32, <16 x i1>, <16 x i8>)\n"
        "define <16 x i8> @f(ptr %p, i32 %end) {\n"
        "%b = insertelement <16 x i32> poison, i32 %end, i64 0\n"
        "%ends = shufflevector <16 x i32> %b, <16 x i32> poison, <16 x i32> zeroinitializer\n"
        "%m = icmp sgt <16 x i32> %ends, " +
            numbers() +
            "%v = call <16 x i8> @llvm.masked.load.v16i8.p0(ptr %p, i32 1, <16 x i1> %m, <16 x i8> "
            "poison)\nret <16 x i8> %v\n}\n",
        context, [](llvm::Module &m) { access_leading_lanes_by_words(m, Target("x86-64-linux")); });
    for (const llvm::Instruction &i : llvm::instructions(*module->getFunction("f"))) {
        EXPECT_FALSE(llvm::isa<llvm::AllocaInst>(i) || i.mayWriteToMemory());
    }
}

TEST(LeadingLanes, NotOfOtherMasks) {
    const Types both{"8", "8"};
    EXPECT_EQ(masked("%m = icmp slt <16 x i32> %any, %ends\n"), both);
    EXPECT_EQ(masked("%m = icmp slt <16 x i32> %ends, " + numbers()), both);
    EXPECT_EQ(masked("%m = icmp eq <16 x i32> %ends, " + numbers()), both);
    EXPECT_EQ(masked("%m = icmp sle <16 x i32> %xs, %ends\n"), both);
    const std::string wraps = "%r = add <16 x i32> %xs, " + numbers();
    EXPECT_EQ(masked(wraps + "%m = icmp slt <16 x i32> %r, %ends\n"), both);
}

TEST(LeadingLanes, NotWhereMachinesHaveOtherMasks) {
    const std::string mask = "%m = icmp sgt <16 x i32> %ends, " + numbers();
    EXPECT_EQ(masked(mask, "avx512_skylake"), (Types{"8", "8"}));
    EXPECT_EQ(masked(mask, "avx"), (Types{"32", "32"}));
}

}  // namespace

}  // namespace calotype::internal
