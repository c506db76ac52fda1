// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Questions about all lanes of a vector, and updates that can be reduced over lanes.
#include <gtest/gtest.h>

#include "arith/simplify.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "lower/func_slice.h"
#include "lower/loops/atomic_update.h"
#include "lower/loops/lanes.h"

namespace calotype::internal {
namespace {

std::string all(const char *text) {
    return to_string(simplify(all_lanes(parse_expr(text))));
}

std::string any(const char *text) {
    return to_string(simplify(any_lane(parse_expr(text))));
}

TEST(Lanes, a_comparison_is_decided_by_one_lane) {
    EXPECT_EQ(all("ramp(x, 1, 8) < broadcast(n, 8)"), to_string(simplify(parse_expr("x + 7 < n"))));
    EXPECT_EQ(any("ramp(x, 1, 8) < broadcast(n, 8)"), "x < n");
    EXPECT_EQ(all("broadcast(n, 8) <= ramp(x, 2, 8)"), "n <= x");
    EXPECT_EQ(any("ramp(x, -1, 8) < broadcast(n, 8)"),
              to_string(simplify(parse_expr("x - 7 < n"))));
    EXPECT_EQ(all("likely(ramp(x, 1, 8) < broadcast(n, 8)):boolx8"),
              to_string(simplify(parse_expr("x + 7 < n"))));
}

TEST(Lanes, parts_of_a_condition_on_their_own) {
    EXPECT_EQ(any("ramp(x, 1, 4) < broadcast(n, 4) || broadcast(p < 3, 4)"), "x < n || p < 3");
    EXPECT_EQ(all("!(broadcast(n, 4) <= ramp(x, 1, 4))"),
              to_string(simplify(parse_expr("x + 3 < n"))));
}

TEST(Lanes, others_are_reduced) {
    EXPECT_EQ(all("f[ramp(x, 1, 4)] < broadcast(n, 4)"),
              "vector_reduce(and, f[ramp(x, 1, 4)] < broadcast(n, 4), 1)");
    // Neither end of a narrow ramp is known: it may wrap.
    EXPECT_EQ(all("ramp(x:int8, (int8)1, 4) < broadcast(n:int8, 4)").substr(0, 13),
              "vector_reduce");
}

TEST(Lanes, others_are_surely_so_between_bounds) {
    const auto surely = [](const char *text) {
        return to_string(simplify(surely_all_lanes(parse_expr(text))));
    };
    EXPECT_EQ(surely("ramp(x, 1, 8) / broadcast(2, 8) + ramp(x, 1, 8) % broadcast(2, 8) < "
                     "broadcast(n, 8)"),
              "(x + 1) / 2 < n + -4");
    EXPECT_EQ(surely("select(broadcast(c:bool, 4), ramp(x, 1, 4), broadcast(7, 4)) < "
                     "broadcast(n, 4)"),
              "max(x, 4) < n + -3");
}

TEST(Lanes, largest) {
    EXPECT_EQ(to_string(simplify(largest_lane(parse_expr("ramp(x, 3, 4)")))), "x + 9");
    EXPECT_EQ(to_string(largest_lane(parse_expr("x"))), "x");
}

TEST(Lanes, repeated) {
    EXPECT_EQ(to_string(repeat_lanes(parse_expr("x"), 3)), "broadcast(x, 3)");
    EXPECT_EQ(to_string(repeat_lanes(parse_expr("ramp(x, 1, 4)"), 2)),
              "ramp(broadcast(x, 2), broadcast(1, 2), 4)");
    EXPECT_EQ(to_string(repeat_lanes(parse_expr("f[ramp(x, 1, 2)]"), 2)),
              "shuffle([f[ramp(x, 1, 2)]], [0, 0, 1, 1])");
}

std::string update_of(const char *text) {
    const Stmt s = parse_stmt(text);
    const std::optional<AtomicUpdate> update = match_atomic_update(s.as<Store>());
    return update ? std::string(to_string(update->op)) + " " + to_string(update->operand) : "none";
}

TEST(AtomicUpdate, recognised) {
    EXPECT_EQ(update_of("f[i] = f[i] + g[j]"), "add g[j]");
    EXPECT_EQ(update_of("f[i] = g[j] + f[i]"), "add g[j]");
    EXPECT_EQ(update_of("f[i] = f[i] - g[j]"), "add g[j]");
    EXPECT_EQ(update_of("f[i] = max(g[j], f[i])"), "max g[j]");
    EXPECT_EQ(update_of("f[i] = uint8(bool(f[i]:uint8) || p:bool)"), "or p:bool");
}

TEST(AtomicUpdate, not_recognised) {
    EXPECT_EQ(update_of("f[i] = f[i + 1] + g[j]"), "none");
    EXPECT_EQ(update_of("f[i] = f[i] + f[j]"), "none");
    EXPECT_EQ(update_of("f[i] = g[j] - f[i]"), "none");
    EXPECT_EQ(update_of("f[i] = f[i] / 2"), "none");
}

TEST(Effects, loads_are_none) {
    EXPECT_FALSE(has_effects(parse_expr("f[x]:float32 + sqrt(g[x]:float32):float32")));
    EXPECT_TRUE(has_effects(parse_expr("1 + extern poke(x)")));
}

TEST(UsesOf, leaves_the_loops_around) {
    const Stmt s = parse_stmt(
        "for (x, 0, 10) {\n  let t = x + 1\n  g(t) = 1\n  h(t) = g(x)\n  k(t) = 2\n}\nk(0) = 1\n");
    EXPECT_EQ(to_string(slice_for_func("g", s)),
              "for (x, 0, 10) {\n  let t = x + 1\n  g(t) = 1\n  h(t) = g(x)\n}\n");
    EXPECT_FALSE(slice_for_func("unknown", s).defined());
}

}  // namespace
}  // namespace calotype::internal
