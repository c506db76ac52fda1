// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which loops LLVM is left to make variables wider in.
#include <gtest/gtest.h>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/LoopDeletion.h>

#include <string>
#include <vector>

#include "codegen/llvm/passes/chained_loops.h"
#include "codegen/llvm/transformed.h"

namespace calotype::internal {

namespace {

/// So many loops in each other, of which the innermost `linked` ones end where the one around them says.
std::string nest(int loops, int linked) {
    const auto at = [](const char *base, int i) {
        return base + std::to_string(i);
    };
    std::string text = "define void @f(i32 %n) {\nloop-1:\n%e0 = add i32 %n, 1\nbr label %loop0\n";
    for (int i = 0; i < loops; i++) {
        const bool ends_inner = i + 1 < loops && loops - (i + 1) <= linked;
        text += at("loop", i) + ":\n" + at("%v", i) + " = phi i32 [0, " + at("%loop", i - 1) +
                "], [" + at("%next", i) + ", " + at("%end", i) + "]\n" + at("%e", i + 1) +
                " = add i32 " + (ends_inner ? at("%v", i) : "%n") + ", 1\nbr label " +
                (i + 1 < loops ? at("%loop", i + 1) : at("%end", i)) + "\n";
    }
    for (int i = loops - 1; i >= 0; i--) {
        text += at("end", i) + ":\n" + at("%next", i) + " = add i32 " + at("%v", i) + ", 1\n" +
                at("%c", i) + " = icmp ne i32 " + at("%next", i) + ", " +
                (loops - i <= linked ? at("%e", i) : "%n") + "\nbr i1 " + at("%c", i) + ", label " +
                at("%loop", i) + ", label " + at("%end", i - 1) + "\n";
    }
    return text + "end-1:\nret void\n}\n";
}

/// For each loop, outermost first.
template<typename Pass>
std::vector<bool> runs_in(const std::string &text) {
    llvm::LLVMContext context;
    const auto module = transformed(text, context, [](llvm::Module &) {});
    const llvm::DominatorTree dominators(*module->getFunction("f"));
    const llvm::LoopInfo loops(dominators);
    llvm::PassInstrumentationCallbacks callbacks;
    leave_chains_of_loops(callbacks);
    std::vector<bool> result;
    for (const llvm::Loop *loop : loops.getLoopsInPreorder()) {
        result.push_back(
            llvm::PassInstrumentation(&callbacks).runBeforePass<llvm::Loop>(Pass(), *loop));
    }
    return result;
}

using All = std::vector<bool>;

TEST(ChainedLoops, FewAreLeftToLlvm) {
    EXPECT_EQ(runs_in<llvm::IndVarSimplifyPass>(nest(6, 4)), All(6, true));
    EXPECT_EQ(runs_in<llvm::IndVarSimplifyPass>(nest(12, 0)), All(12, true));
}

TEST(ChainedLoops, ManyAreNot) {
    EXPECT_EQ(runs_in<llvm::IndVarSimplifyPass>(nest(6, 5)), All(6, false));
    EXPECT_EQ(runs_in<llvm::LoopDeletionPass>(nest(6, 5)), All(6, true));
}

}  // namespace

}  // namespace calotype::internal
