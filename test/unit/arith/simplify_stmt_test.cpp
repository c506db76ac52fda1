// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What simplify() makes of statements: scopes teach facts, and what does nothing goes.
#include <gtest/gtest.h>

#include "arith/finite_floats.h"
#include "arith/simplify.h"
#include "ir/parser.h"
#include "ir/printer.h"

namespace calotype {

using namespace internal;

namespace {

void expect_simplified(const std::string &before, const std::string &after) {
    const Stmt s = simplify(parse_stmt(before));
    EXPECT_EQ(s.defined() ? to_string(s) : "", after) << "of\n" << before;
}

TEST(SimplifyStmt, LetsOfSimpleValuesAreSubstituted) {
    expect_simplified("let a = 3 let b = x let c = x + 2 f[a + b + c] = 1", "f[x * 2 + 5] = 1\n");
    expect_simplified("let a = g[x] f[a] = a", "let a = g[x]\nf[a] = a\n");
}

TEST(SimplifyStmt, LetsWithoutUseGoAlsoInChains) {
    expect_simplified("let a = g[x] let b = a * a f[0] = 1", "f[0] = 1\n");
    expect_simplified("let a = extern g() f[0] = 1", "let a = extern g()\nf[0] = 1\n");
}

TEST(SimplifyStmt, SubstitutionIsNotCaptured) {
    expect_simplified("let a = x for (x, 0, n) { f[x] = a }",
                      "for (x$r1, 0, n) {\n  f[x$r1] = x\n}\n");
}

TEST(SimplifyStmt, ValuesOfLetsBoundWhatUsesThem) {
    expect_simplified("let a = g[0] % 4 f[0] = a / 4 f[1] = select(a < 4, 1, 2) f[2] = a",
                      "let a = g[0] % 4\nf[0] = 0\nf[1] = 1\nf[2] = a\n");
}

TEST(SimplifyStmt, DifferencesLookIntoLets) {
    // The two ends of a region that was shifted inwards are a constant apart.
    expect_simplified(
        "let a = min(x*8, m - 7) let b = min(x*8 + 7, m) f[a] = b - a + 1 f[b] = max(a, b)",
        "let a = min(x * 8, m + -7)\n"
        "let b = min(x * 8 + 7, m)\n"
        "f[a] = 8\n"
        "f[b] = b\n");
    // A name that means something else by now is not looked into.
    expect_simplified("let a = min(x, m) for (m, 0, 9) { f[m] = a - min(x, m) }",
                      "let a = min(m, x)\n"
                      "for (m, 0, 9) {\n"
                      "  f[m] = a - min(m, x)\n"
                      "}\n");
}

// A zero that equals another may have another sign, which counts where floats may be infinite.
TEST(SimplifyStmt, FloatsThatAreZero) {
    const std::string text =
        "if (g:float32 == 0.0f) {\n  f[0] = g:float32 * x:float32 + h:float32\n}\n";
    expect_simplified(text, text);
    EXPECT_EQ(to_string(simplify_finite(parse_stmt(text))),
              "if (g:float32 == 0.0f) {\n  f[0] = h:float32\n}\n");
}

TEST(SimplifyStmt, LoopsOfOneOrNoIteration) {
    expect_simplified("for (x, y, 1) { f[x] = x }", "f[y] = y\n");
    expect_simplified("for (x, y, 0) { f[x] = x }", "");
    expect_simplified("for (x, y, min(n, -1)) { f[x] = x }", "");
    expect_simplified("gpu_block<cuda> (x, 0, 1) { f[x] = x }",
                      "gpu_block<cuda> (x, 0, 1) {\n  f[0] = 0\n}\n");
}

TEST(SimplifyStmt, LoopsBoundTheirVariable) {
    expect_simplified("for (x, 0, 10) { f[x] = select(x < 10, min(x, 9), 3) }",
                      "for (x, 0, 10) {\n  f[x] = x\n}\n");
    expect_simplified("for (x, 0, n) { if (x < n) { f[x] = max(x, 0) } }",
                      "for (x, 0, n) {\n  f[x] = x\n}\n");
    expect_simplified("for (x, a, n) { if (x >= a) { f[x] = 1 } }",
                      "for (x, a, n) {\n  f[x] = 1\n}\n");
    // The body runs only where there is an iteration.
    expect_simplified("for (x, 0, n) { f[x] = max(n, 1) }", "for (x, 0, n) {\n  f[x] = n\n}\n");
}

TEST(SimplifyStmt, IfsTeachTheirBranches) {
    expect_simplified("if (x < y) { f[0] = min(x, y) } else { f[0] = min(x, y) }",
                      "if (x < y) {\n  f[0] = x\n} else {\n  f[0] = y\n}\n");
    expect_simplified("if (x == 3) { f[x] = 1 }", "if (x == 3) {\n  f[3] = 1\n}\n");
    expect_simplified(
        "if (g:float32 == 1.0f && h:float32 != 2.0f) { f[0] = g:float32 * h:float32 }",
        "if (g:float32 == 1.0f && h:float32 != 2.0f) {\n  f[0] = h:float32\n}\n");
    expect_simplified("if (x % 8 == 4) { f[x % 4] = 1 }", "if (x % 8 == 4) {\n  f[0] = 1\n}\n");
    expect_simplified("if (x < 5 && y < 5) { if (x < 5) { f[0] = 1 } }",
                      "if (x < 5 && y < 5) {\n  f[0] = 1\n}\n");
    expect_simplified("if (x < 3) { f[0] = 1 } if (x < 3) { f[1] = 1 }",
                      "if (x < 3) {\n  f[0] = 1\n  f[1] = 1\n}\n");
    expect_simplified("if (1 < 2) { f[0] = 1 } else { f[0] = 2 }", "f[0] = 1\n");
    expect_simplified("if (x < 3) { evaluate 0 } else { f[0] = 2 }",
                      "if (3 <= x) {\n  f[0] = 2\n}\n");
}

TEST(SimplifyStmt, WhatMemoryHoldsIsNotAFact) {
    const char *text = "if (f[0] < 3) {\n  f[0] = 7\n  g[0] = select(f[0] < 3, 1, 2)\n}\n";
    expect_simplified(text, text);
}

TEST(SimplifyStmt, AssertsTeachWhatFollows) {
    expect_simplified("assert(3 < 4, extern e()) f[0] = 1", "f[0] = 1\n");
    expect_simplified("assert(x < 4, extern e()) f[0] = min(x, 7)",
                      "assert(x < 4, extern e())\nf[0] = x\n");
}

TEST(SimplifyStmt, WhatIsKnownOfANameEndsWithItsScope) {
    expect_simplified("if (x < 5) { for (x, 0, n) { f[x] = select(x < 5, 1, 2) } }",
                      "if (x < 5) {\n  for (x, 0, n) {\n    f[x] = select(x < 5, 1, 2)\n  }\n}\n");
    expect_simplified("for (x, 0, 4) { f[x] = x / 4 } for (x, 0, n) { f[x] = x / 4 }",
                      "for (x, 0, 4) {\n  f[x] = 0\n}\nfor (x, 0, n) {\n  f[x] = x / 4\n}\n");
}

TEST(SimplifyStmt, WhatDoesNothingGoes) {
    expect_simplified("evaluate x + 1", "");
    expect_simplified("f[x] = f[x]", "");
    expect_simplified("produce f { evaluate 0 }", "");
    expect_simplified("allocate f[int32, 10] { g[0] = 1 free f }", "g[0] = 1\n");
}

TEST(SimplifyStmt, LongChainsNeedNoStack) {
    std::string text;
    for (int i = 0; i < 50000; i++) {
        text += "f[1 + 1] = 1\n";
    }
    const Stmt s = simplify(parse_stmt(text));
    EXPECT_EQ(to_string(s).substr(0, 9), "f[2] = 1\n");
}

}  // namespace
}  // namespace calotype
