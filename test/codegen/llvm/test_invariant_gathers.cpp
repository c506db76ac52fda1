// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gathers that leave a loop.
#include <gtest/gtest.h>

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/BasicAliasAnalysis.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/TypeBasedAliasAnalysis.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PassInstrumentation.h>

#include <string>

#include "codegen/llvm/passes/invariant_gathers.h"
#include "codegen/llvm/transformed.h"

namespace calotype::internal {

namespace {

void run(llvm::Module &module) {
    llvm::FunctionAnalysisManager functions;
    functions.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
    functions.registerPass([] { return llvm::AssumptionAnalysis(); });
    functions.registerPass([] { return llvm::TargetLibraryAnalysis(); });
    functions.registerPass([] { return llvm::TargetIRAnalysis(); });
    functions.registerPass([] { return llvm::DominatorTreeAnalysis(); });
    functions.registerPass([] { return llvm::LoopAnalysis(); });
    functions.registerPass([] { return llvm::BasicAA(); });
    functions.registerPass([] { return llvm::TypeBasedAA(); });
    functions.registerPass([] {
        llvm::AAManager aliases;
        aliases.registerFunctionAnalysis<llvm::BasicAA>();
        aliases.registerFunctionAnalysis<llvm::TypeBasedAA>();
        return aliases;
    });
    HoistGathers().run(*module.getFunction("f"), functions);
}

/// The block that a gather is in after the pass, where the loop first does `before`.
std::string block_of_gather(const std::string &before, const std::string &from = "%from",
                            const std::string &mask = "splat (i1 true)") {
    llvm::LLVMContext context;
    const std::string text =
        "declare <4 x i16> @llvm.masked.gather.v4i16.v4p0(<4 x ptr>, i32, <4 x i1>, <4 x i16>)\n"
        "declare void @other()\n"
        "define void @f(ptr %table, ptr %out, <4 x i64> %index, <4 x i1> %some, i1 %c, i64 %n) {\n"
        "entry:\n"
        "%storage = alloca [64 x i16]\n"
        "%from = getelementptr i16, ptr %table, <4 x i64> %index\n"
        "br label %loop\n"
        "loop:\n"
        "%i = phi i64 [ 0, %entry ], [ %next, %rest ]\n"
        "%index_of_own = insertelement <4 x i64> %index, i64 %i, i64 0\n"
        "%own = getelementptr i16, ptr %table, <4 x i64> %index_of_own\n"
        "%to = getelementptr <4 x i16>, ptr %out, i64 %i\n" +
        before + "%v = call <4 x i16> @llvm.masked.gather.v4i16.v4p0(<4 x ptr> " + from +
        ", i32 2, <4 x i1> " + mask +
        ", <4 x i16> poison), !tbaa !3\n"
        "store <4 x i16> %v, ptr %to, !tbaa !4\n"
        "br label %rest\n"
        "rest:\n"
        "%next = add i64 %i, 1\n"
        "%more = icmp ult i64 %next, %n\n"
        "br i1 %more, label %loop, label %end\n"
        "end:\n"
        "ret void\n}\n"
        "!0 = !{!\"buffers\"}\n!1 = !{!\"table\", !0}\n!2 = !{!\"out\", !0}\n"
        "!3 = !{!1, !1, i64 0}\n!4 = !{!2, !2, i64 0}\n";
    const auto module = transformed(text, context, run);
    for (const llvm::Instruction &i : llvm::instructions(*module->getFunction("f"))) {
        if (llvm::isa<llvm::IntrinsicInst>(i)) {
            return i.getParent()->getName().str();
        }
    }
    return "";
}

TEST(InvariantGathers, LeaveALoopThatWritesOtherMemory) {
    EXPECT_EQ(block_of_gather(""), "entry");
    EXPECT_EQ(block_of_gather("store i16 0, ptr %storage, !tbaa !4\n"), "entry");
}

TEST(InvariantGathers, StayWhereTheLoopWritesWhatTheyRead) {
    EXPECT_EQ(block_of_gather("store i16 0, ptr %to, !tbaa !3\n"), "loop");
    EXPECT_EQ(block_of_gather("store i16 0, ptr %to\n"), "loop");
    EXPECT_EQ(block_of_gather("call void @other()\n"), "loop");
}

TEST(InvariantGathers, StayWhereTheLoopChangesTheirIndices) {
    EXPECT_EQ(block_of_gather("", "%own"), "loop");
}

TEST(InvariantGathers, StayWhereTheyMayNotRun) {
    EXPECT_EQ(block_of_gather("br i1 %c, label %then, label %rest\nthen:\n"), "then");
    EXPECT_EQ(block_of_gather("", "%from", "%some"), "loop");
}

}  // namespace

}  // namespace calotype::internal
