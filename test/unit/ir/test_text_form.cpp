// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The printer and the parser: what each node looks like, that nothing is lost, and what errors say.
#include "harness/expect_error.h"
#include "harness/random_ir.h"
#include "ir/equality.h"
#include "ir/parser.h"
#include "ir/printer.h"

namespace calotype {

using namespace internal;
namespace {

/// The text again after parsing it; it must be canonical already.
void expect_canonical(const std::string &text) {
    EXPECT_EQ(to_string(parse_expr(text)), text);
}

void expect_canonical_stmt(const std::string &text) {
    EXPECT_EQ(to_string(parse_stmt(text)), text);
}

TEST(TextForm, Constants) {
    for (const char *text :
         {"3", "-3", "(int8)-128", "(uint64)18446744073709551615", "(int64)-9223372036854775808",
          "true", "false", "1.5f", "-0.0f", "(float32)inf", "(float32)-inf", "(float64)nan",
          "(float64)0.1", "(float16)65504.0", "(bfloat16)1.0", "\"a \\\"b\\\" \\n\\x01\"", "1e+30f",
          "broadcast((uint8)7, 16)"}) {
        expect_canonical(text);
    }
}

TEST(TextForm, Operators) {
    for (const char *text :
         {"a + b * c", "(a + b) * c", "a - (b - c)", "a - b - c", "a + -3", "a % b / c * d",
          "min(a, max(b, c))", "a < b && b <= c || !(c == d)", "(a < b) == (c < d)", "!p:bool",
          "select(a < b, c, d)", "let a = b + 1 in a * 2", "(let a = b in a) + 1",
          "let a = (let b = c in b) in a"}) {
        expect_canonical(text);
    }
}

TEST(TextForm, NodesWithTypes) {
    for (const char *text : {"x:uint8",
                             "uint8(x)",
                             "reinterpret<float32>(x)",
                             "float32x4(x:int32x4)",
                             "f[x]",
                             "f[x + 1]:uint8",
                             "f[ramp(x, 1, 4) if x:boolx4 align(8, 3)]:float32",
                             "f(x, y)",
                             "f(x, y).1:float32",
                             "f():uint8",
                             "g()",
                             "image p(x):uint8",
                             "extern puts(\"x\"):int32",
                             "pure_extern sin_f32(1.0f)",
                             "extern_cpp `n::f`(1)",
                             "abs(x):uint32",
                             "likely(x < 3)",
                             "`abs`(x)",
                             "interleave(a:int32x2, b:int32x2)",
                             "concat(a, b:int32x3)",
                             "slice(a:int32x8, 1, 2, 4)",
                             "shuffle([a:int32x4, b], [0, 4, 0])",
                             "vector_reduce(add, a:int32x8, 2)",
                             "`an odd \\`name`",
                             "handle((uint64)0)"}) {
        expect_canonical(text);
    }
}

TEST(TextForm, Statements) {
    expect_canonical_stmt("let x = 3\n"
                          "f[x] = 1\n"
                          "g(x, 2 if x < 3) = {1, 2}\n");
    expect_canonical_stmt("{\n"
                          "  let x = 3\n"
                          "  f[x] = 1\n"
                          "}\n"
                          "free f\n");
    expect_canonical_stmt("realize f([0, 10], [y, 2]):{int32, float32} in heap when(c:bool) {\n"
                          "  produce f {\n"
                          "    parallel (x, 0, 10) partition(never) {\n"
                          "    }\n"
                          "  }\n"
                          "  consume f {\n"
                          "    gpu_block<cuda> (x, 0, 10) {\n"
                          "      evaluate 0\n"
                          "    }\n"
                          "  }\n"
                          "}\n");
    expect_canonical_stmt(
        "allocate f[float32, 10, y] in stack memory(p:handle) deleter(\"d\") padding(3)\n"
        "if (a < b) {\n"
        "  free f\n"
        "} else if (b < a) {\n"
        "} else {\n"
        "  assert(a == b, extern g())\n"
        "}\n"
        "fork {\n"
        "  acquire (s:handle, 1) {\n"
        "  }\n"
        "} {\n"
        "  hoist f {\n"
        "    atomic f mutex m {\n"
        "      prefetch f([0, 1]) at x from y offset 2 bound clamp {\n"
        "      }\n"
        "    }\n"
        "  }\n"
        "}\n");
}

TEST(TextForm, LayoutAndCommentsDoNotCount) {
    EXPECT_EQ(to_string(parse_stmt("// a comment\nfor(x,0,(10)){f[x]=x // here\n}")),
              "for (x, 0, 10) {\n  f[x] = x\n}\n");
    EXPECT_FALSE(parse_stmt(" ").defined());
}

TEST(TextForm, RandomExpressionsSurvive) {
    test::RandomIr random(1);
    for (int i = 0; i < 3000; i++) {
        const Expr e = random.expr(random.type(), 5);
        const std::string text = to_string(e);
        const Expr back = parse_expr(text);
        ASSERT_TRUE(equal(e, back)) << text << "\nbecame\n" << back;
        ASSERT_EQ(to_string(back), text);
    }
}

TEST(TextForm, RandomStatementsSurvive) {
    test::RandomIr random(2);
    for (int i = 0; i < 1000; i++) {
        const Stmt s = random.stmt(4);
        const std::string text = to_string(s);
        const Stmt back = parse_stmt(text);
        ASSERT_EQ(to_string(back), text);
        ASSERT_TRUE(equal(s, back)) << text;
    }
}

TEST(TextForm, LongChainsNeedNoStack) {
    std::string text;
    for (int i = 0; i < 100000; i++) {
        text += "f[0] = 1\n";
    }
    EXPECT_EQ(to_string(parse_stmt(text)), text);
}

TEST(ParseErrors, NameThePlace) {
    EXPECT_COMPILE_ERROR(parse_expr("a +"),
                         "line 1, column 4: expected an expression, found end of text");
    EXPECT_COMPILE_ERROR(parse_expr("a b"), "line 1, column 3: expected end of text, found 'b'");
    EXPECT_COMPILE_ERROR(parse_expr("min(a)"), "line 1, column 1: 'min' takes 2 arguments, not 1");
    EXPECT_COMPILE_ERROR(parse_expr("abs(a, b)"),
                         "line 1, column 1: 'abs' takes 1 arguments, not 2");
    EXPECT_COMPILE_ERROR(parse_expr("(a"), "line 1, column 3: expected ')', found end of text");
    EXPECT_COMPILE_ERROR(parse_expr("a < b < c"),
                         "line 1, column 7: expected an end of the comparison, found '<'");
    EXPECT_COMPILE_ERROR(parse_expr("f[0]:foo"), "line 1, column 6: expected a type, found 'foo'");
    EXPECT_COMPILE_ERROR(parse_expr("#"), "line 1, column 1: unexpected character '#'");
    EXPECT_COMPILE_ERROR(parse_expr("\"abc"), "line 1, column 1: the string has no closing \"");
    EXPECT_COMPILE_ERROR(parse_stmt("for (x, 0, 3) {\n  f[x] 1\n}"),
                         "line 2, column 8: expected '=', found '1'");
    EXPECT_COMPILE_ERROR(parse_stmt("produce f { free f"),
                         "line 1, column 19: expected '}', found end of text");
    EXPECT_COMPILE_ERROR(parse_stmt("3"), "line 1, column 1: expected a statement, found '3'");
    EXPECT_COMPILE_ERROR(parse_stmt("f = 3"), "line 1, column 3: expected '[' or '(', found '='");
    EXPECT_COMPILE_ERROR(parse_stmt("for<gpu> (x, 0, 1) { }"),
                         "line 1, column 5: expected a device, found 'gpu'");
}

TEST(ParseErrors, Constants) {
    EXPECT_COMPILE_ERROR(parse_expr("3000000000"),
                         "line 1, column 1: '3000000000' does not fit int32");
    EXPECT_COMPILE_ERROR(parse_expr("(uint8)-1"), "line 1, column 9: '-1' does not fit uint8");
    EXPECT_COMPILE_ERROR(parse_expr("1.5"),
                         "line 1, column 1: '1.5' has no type, write 1.5f or (float64)1.5");
    EXPECT_COMPILE_ERROR(parse_expr("(int32x4)1"),
                         "line 1, column 1: a constant of type int32x4, must be a scalar number");
}

TEST(ParseErrors, Types) {
    EXPECT_COMPILE_ERROR(parse_expr("a + b:uint8"),
                         "line 1, column 3: the operands of '+' have types int32 and uint8");
    EXPECT_COMPILE_ERROR(parse_expr("a && b"), "line 1, column 3: ill-typed: And of int32");
    EXPECT_COMPILE_ERROR(parse_expr("select(a, b, c)"),
                         "line 1, column 1: ill-typed: Select of int32 by int32");
    EXPECT_COMPILE_ERROR(parse_stmt("if (a) { }"),
                         "line 1, column 1: ill-typed: IfThenElse with a condition of type int32");
}

TEST(ParseErrors, DeepNesting) {
    EXPECT_COMPILE_ERROR(parse_expr(std::string(5000, '(') + "1" + std::string(5000, ')')),
                         "line 1, column 1001: expressions are nested more than 1000 deep");
    std::string loops;
    for (int i = 0; i < 600; i++) {
        loops += "for (x, 0, 1) {\n";
    }
    EXPECT_COMPILE_ERROR(parse_stmt(loops),
                         "line 501, column 15: statements are nested more than 500 deep");
}

TEST(TextForm, what_is_huge_as_a_tree_is_cut_short) {
    Expr e = Variable::make(Int(32), "x");
    for (int i = 0; i < 11; i++) {
        e = Mul::make(e, e);
    }
    // 2^12 nodes are too many for 12; the text ends nevertheless, and is the same each time.
    const std::string text = to_string(e);
    EXPECT_LT(text.size(), 10000u);
    EXPECT_NE(text.find("* #"), std::string::npos) << text;
    EXPECT_EQ(text, to_string(e));
    for (int i = 0; i < 100; i++) {
        e = Mul::make(e, e);
    }
    EXPECT_LT(to_string(e).size(), 20000u);
    EXPECT_LT(to_string(Evaluate::make(e)).size(), 20000u);
}

TEST(TextForm, NumbersThatAreNoEnumeratorHaveAWordToo) {
    EXPECT_STREQ(calotype::to_string(DeviceAPI(-1)), "unknown");
    EXPECT_STREQ(calotype::to_string(MemoryType(100)), "unknown");
    EXPECT_STREQ(calotype::to_string(TailStrategy(9)), "unknown");
    EXPECT_STREQ(calotype::to_string(TailStrategy::Auto), "auto");
}

}  // namespace
}  // namespace calotype
