// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "support/scope.h"

namespace calotype::internal {
namespace {

TEST(Scope, InnermostBindingWins) {
    Scope<int> scope;
    EXPECT_EQ(scope.find("x"), nullptr);
    scope.push("x", 1);
    scope.push("x", 2);
    EXPECT_EQ(scope.get("x"), 2);
    EXPECT_EQ(scope.count("x"), 2u);
    scope.pop("x");
    EXPECT_EQ(scope.get("x"), 1);
    scope.pop("x");
    EXPECT_TRUE(scope.empty());
}

TEST(Scope, MissingNamesAreOurBug) {
    Scope<int> scope;
    EXPECT_THROW(scope.get("x"), InternalError);
    EXPECT_THROW(scope.pop("x"), InternalError);
}

TEST(Scope, LooksOutward) {
    Scope<int> outer, inner;
    inner.set_containing_scope(&outer);
    outer.push("x", 1);
    EXPECT_EQ(inner.get("x"), 1);
    EXPECT_EQ(inner.count("x"), 0u);
    inner.push("x", 2);
    EXPECT_EQ(inner.get("x"), 2);
    EXPECT_EQ(outer.get("x"), 1);
}

TEST(Scope, BindingLastsForTheBlock) {
    Scope<int> scope;
    {
        ScopedBinding<int> bind(scope, "x", 1);
        ScopedBinding<int> not_bound(false, scope, "y", 2);
        EXPECT_TRUE(scope.contains("x"));
        EXPECT_FALSE(scope.contains("y"));
        ScopedBinding<int> moved(std::move(bind));
        EXPECT_EQ(scope.count("x"), 1u);
    }
    EXPECT_TRUE(scope.empty());
}

TEST(Scope, WithoutValuesIsASet) {
    Scope<> scope;
    ScopedBinding<> bind(scope, "x");
    EXPECT_TRUE(scope.contains("x"));
    EXPECT_FALSE(scope.contains("y"));
}

TEST(Scope, ForEachSeesEveryNameOnce) {
    Scope<int> scope;
    scope.push("x", 1);
    scope.push("x", 2);
    scope.push("y", 5);
    int sum = 0, names = 0;
    scope.for_each([&](const std::string &, int value) {
        sum += value;
        names++;
    });
    EXPECT_EQ(names, 2);
    EXPECT_EQ(sum, 7);
}

}  // namespace
}  // namespace calotype::internal
