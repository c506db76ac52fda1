// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choices between single floats whose condition is asked for more than once.
#include <gtest/gtest.h>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <string>

#include "codegen/llvm/transformed.h"
#include "codegen/x86/float_choices.h"

namespace calotype::internal {

namespace {

/// How many choices of vectors a function of floats a and b has after the pass.
int choices_by_lanes(const std::string &body) {
    llvm::LLVMContext context;
    const auto module =
        transformed("define float @f(float %a, float %b, double %d, i32 %i) {\n" + body + "}\n",
                    context, [](llvm::Module &m) { choose_floats_by_lanes(m); });
    int found = 0;
    for (const llvm::Instruction &i : llvm::instructions(*module->getFunction("f"))) {
        found += llvm::isa<llvm::SelectInst>(i) && i.getType()->isVectorTy();
    }
    return found;
}

const std::string two_choices = "%x = select i1 %c, float %a, float 1.0\n"
                                "%y = select i1 %c, float %x, float %b\n"
                                "%z = fadd float %x, %y\n"
                                "ret float %z\n";

TEST(FloatChoices, OfOneConditionAreThoseOfVectors) {
    EXPECT_EQ(choices_by_lanes("%c = fcmp olt float %a, %b\n" + two_choices), 2);
    EXPECT_EQ(choices_by_lanes("%d1 = fcmp olt float %a, 2.0\n%d2 = fcmp uno float %a, %b\n"
                               "%d3 = or i1 %d1, %d2\n%c = freeze i1 %d3\n" +
                               two_choices),
              2);
}

TEST(FloatChoices, BySignAreThoseOfVectors) {
    EXPECT_EQ(choices_by_lanes("%s = bitcast float %a to i32\n%c = icmp slt i32 %s, 0\n"
                               "%x = select i1 %c, float %a, float %b\nret float %x\n"),
              1);
}

TEST(FloatChoices, StayWhereTheyAreAloneOrByOtherNumbers) {
    EXPECT_EQ(choices_by_lanes("%c = fcmp olt float %a, %b\n"
                               "%x = select i1 %c, float %a, float %b\nret float %x\n"),
              0);
    EXPECT_EQ(choices_by_lanes("%c = icmp slt i32 %i, 5\n" + two_choices), 0);
    EXPECT_EQ(choices_by_lanes("%c = fcmp olt double %d, 2.0\n" + two_choices), 0);
}

}  // namespace

}  // namespace calotype::internal
