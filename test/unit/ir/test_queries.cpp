// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "ir/equality.h"
#include "ir/operators.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "support/scope.h"

namespace calotype {

using namespace internal;
namespace {

std::string substituted(const std::string &name, const std::string &replacement,
                        const std::string &text) {
    return to_string(substitute(name, parse_expr(replacement), parse_expr(text)));
}

std::string substituted_stmt(const std::string &name, const std::string &replacement,
                             const std::string &text) {
    return to_string(substitute(name, parse_expr(replacement), parse_stmt(text)));
}

TEST(Queries, FreeVariables) {
    using Names = std::vector<std::string>;
    EXPECT_EQ(free_variables(parse_expr("b + a + b")), (Names{"a", "b"}));
    EXPECT_EQ(free_variables(parse_expr("let a = a + 1 in a + b")), (Names{"a", "b"}));
    EXPECT_EQ(free_variables(parse_expr("let a = 1 in a + b")), Names{"b"});
    EXPECT_EQ(free_variables(parse_stmt("let a = c\nfor (x, a, n) { f[x + y] = 1 }")),
              (Names{"c", "n", "y"}));
    EXPECT_EQ(free_variables(parse_expr("(let a = 1 in a) + a")), Names{"a"});
}

TEST(Queries, SharedNodesInAndOutOfALet) {
    const Expr x = Variable::make(Int(32), "x"), shared = x + 1;
    EXPECT_TRUE(uses_var(Let::make("x", 3, shared) + shared, "x"));
    EXPECT_TRUE(uses_var(shared + Let::make("x", 3, shared), "x"));
    EXPECT_FALSE(uses_var(Let::make("x", 3, shared) + 1, "x"));
    EXPECT_TRUE(uses_any_var(shared, {"y", "x"}));
    EXPECT_FALSE(uses_any_var(shared, {"y", "z"}));
}

TEST(Queries, AnyFreeVariable) {
    const Expr e = parse_expr("let a = b in a + c");
    const std::set<std::string> bound = {"a"}, free = {"a", "c"};
    EXPECT_FALSE(uses_any_var(e, bound));
    EXPECT_TRUE(uses_any_var(e, free));
    Scope<int> outer, inner;
    inner.set_containing_scope(&outer);
    EXPECT_FALSE(uses_any_var(e, inner));
    outer.push("b", 1);
    EXPECT_TRUE(uses_any_var(e, inner));
    EXPECT_TRUE(any_free_variable(e, [](const std::string &name) { return name > "b"; }));
    EXPECT_FALSE(any_free_variable(e, [](const std::string &name) { return name > "c"; }));
    EXPECT_FALSE(any_free_variable(Expr(), [](const std::string &) { return true; }));
}

TEST(Queries, Buffers) {
    EXPECT_TRUE(uses_buffer(parse_expr("f[0] + 1"), "f"));
    EXPECT_TRUE(uses_buffer(parse_expr("f(0)"), "f"));
    EXPECT_TRUE(uses_buffer(parse_expr("image f(0)"), "f"));
    EXPECT_FALSE(uses_buffer(parse_expr("f + 1 + extern f(0)"), "f"));
    EXPECT_TRUE(uses_buffer(parse_stmt("for (x, 0, 1) { f[0] = 1 }"), "f"));
    EXPECT_TRUE(uses_buffer(parse_stmt("f(0) = 1"), "f"));
    EXPECT_FALSE(uses_buffer(parse_stmt("free f"), "f"));
}

TEST(Queries, Kinds) {
    const Expr e = parse_expr("let a = f[0] in likely(a < 3)");
    EXPECT_TRUE(contains_kind(e, NodeKind::Load));
    EXPECT_FALSE(contains_kind(e, NodeKind::Mul));
    EXPECT_TRUE(contains_intrinsic(e, Intrinsic::likely));
    EXPECT_FALSE(contains_intrinsic(e, Intrinsic::abs));
    EXPECT_TRUE(contains_kind(parse_stmt("if (a < b) { free f }"), NodeKind::Free));
    EXPECT_TRUE(contains_intrinsic(parse_stmt("evaluate undef()"), Intrinsic::undef));
}

TEST(Queries, Purity) {
    EXPECT_TRUE(is_pure(parse_expr("f(x) + sin(y:float32):int32")));
    EXPECT_FALSE(is_pure(parse_expr("f[x]")));
    EXPECT_FALSE(is_pure(parse_expr("x + extern rand()")));
    EXPECT_FALSE(is_pure(parse_expr("print(x)")));
    EXPECT_TRUE(is_simple(parse_expr("likely(x * 2 < y)")));
    EXPECT_FALSE(is_simple(parse_expr("f[x]")));
    EXPECT_FALSE(is_simple(parse_expr("abs(x):uint32")));
    EXPECT_TRUE(is_trivial(parse_expr("broadcast(x, 4)")));
    EXPECT_FALSE(is_trivial(parse_expr("x + 1")));
}

TEST(Substitute, ReplacesFreeVariables) {
    EXPECT_EQ(substituted("x", "y + 1", "x * x"), "(y + 1) * (y + 1)");
    EXPECT_EQ(substituted("x", "7", "let x = x in x"), "let x = 7 in x");
    EXPECT_EQ(substituted_stmt("x", "7", "f[x] = x\nfor (x, x, 3) { f[x] = 1 }"),
              "f[7] = 7\nfor (x, 7, 3) {\n  f[x] = 1\n}\n");
}

TEST(Substitute, DoesNotCapture) {
    EXPECT_EQ(substituted("x", "y", "let y = 1 in x + y"), "let y$1 = 1 in y + y$1");
    EXPECT_EQ(substituted("x", "y", "let y = 1 in y"), "let y = 1 in y");
    EXPECT_EQ(substituted("x", "y + y$1", "let y = 1 in x + y"), "let y$2 = 1 in y + y$1 + y$2");
    EXPECT_EQ(substituted_stmt("n", "x", "for (x, 0, n) { f[x] = n }"),
              "for (x$1, 0, x) {\n  f[x$1] = x\n}\n");
}

TEST(Substitute, SeveralAtOnce) {
    const std::map<std::string, Expr> swap = {{"a", parse_expr("b")}, {"b", parse_expr("a")}};
    EXPECT_EQ(to_string(substitute(swap, parse_expr("a - b"))), "b - a");
}

TEST(Substitute, Structure) {
    EXPECT_EQ(to_string(substitute(parse_expr("x + 1"), parse_expr("z"),
                                   parse_expr("f[x + 1] + (x + 1) * 2"))),
              "f[z] + z * 2");
    EXPECT_EQ(to_string(substitute(parse_expr("x + 1"), parse_expr("z"),
                                   parse_expr("let x = x + 1 in x + 1"))),
              "let x = z in x + 1");
}

TEST(Substitute, AllLets) {
    EXPECT_EQ(to_string(substitute_in_all_lets(parse_expr("let a = b in let b = a + 1 in a * b"))),
              "b * (b + 1)");
    EXPECT_EQ(
        to_string(substitute_in_all_lets(parse_stmt("let a = x\nfor (x, 0, 3) { f[x] = a }"))),
        "for (x$1, 0, 3) {\n  f[x$1] = x\n}\n");
}

TEST(Substitute, SharedNodesStayShared) {
    Expr e = Variable::make(Int(32), "x");
    for (int i = 0; i < 60; i++) {
        e = Add::make(e, e);
    }
    const Expr result = substitute("x", Expr(1), e);
    ASSERT_NE(result.as<Add>(), nullptr);
    EXPECT_TRUE(result.as<Add>()->a.same_as(result.as<Add>()->b));
}

TEST(Queries, LikelyAndPromises) {
    EXPECT_EQ(to_string(remove_likelies(parse_expr("likely(x) + likely_if_innermost(y)"))),
              "x + y");
    EXPECT_EQ(to_string(lower_promises(
                  parse_expr("promise_clamped(x, 0, 9) + unsafe_promise_clamped(y, 0, 9)"))),
              "max(min(x, 9), 0) + y");
}

}  // namespace
}  // namespace calotype
