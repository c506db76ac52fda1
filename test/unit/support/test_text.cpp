// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <malloc.h>

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "support/text.h"

namespace calotype::internal {
namespace {

TEST(Text, StartsAndEnds) {
    EXPECT_TRUE(starts_with("x86-64", "x86"));
    EXPECT_TRUE(starts_with("x", ""));
    EXPECT_FALSE(starts_with("x8", "x86"));
    EXPECT_TRUE(ends_with("a.o", ".o"));
    EXPECT_FALSE(ends_with("o", ".o"));
}

TEST(Text, SplitAndJoin) {
    EXPECT_EQ(split("a,b,,c", ","), (std::vector<std::string>{"a", "b", "", "c"}));
    EXPECT_EQ(split("", ","), std::vector<std::string>{""});
    EXPECT_EQ(split("ns::inner::f", "::"), (std::vector<std::string>{"ns", "inner", "f"}));
    EXPECT_EQ(join({"a", "b", "c"}, ", "), "a, b, c");
    EXPECT_EQ(join({}, ", "), "");
}

TEST(Text, ReplaceAllDoesNotLookAtWhatItWrote) {
    EXPECT_EQ(replace_all("aaa", "a", "aa"), "aaaaaa");
    EXPECT_EQ(replace_all("x.y.z", ".", ""), "xyz");
}

TEST(Text, Trim) {
    EXPECT_EQ(trim(" \t a b\n"), "a b");
    EXPECT_EQ(trim(" \n"), "");
}

TEST(Text, EditDistance) {
    EXPECT_EQ(edit_distance("", "abc"), 3);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
    EXPECT_EQ(edit_distance("same", "same"), 0);
}

TEST(Text, DidYouMean) {
    const std::vector<std::string> names = {"vectorize", "unroll", "x"};
    EXPECT_EQ(did_you_mean("vectorise", names), ", did you mean 'vectorize'?");
    EXPECT_EQ(did_you_mean("banana", names), "");
    EXPECT_EQ(did_you_mean("y", names), "");  // a letter for a letter is no likeness
}

TEST(UniqueNames, PrefixThenNumbers) {
    UniqueNames names;
    EXPECT_EQ(names.unique("f"), "f");
    EXPECT_EQ(names.unique("f"), "f$1");
    EXPECT_EQ(names.unique("g"), "g");
    EXPECT_EQ(names.unique("f$1"), "f_1");
}

TEST(UniqueNames, NumberedNamesStayClearOfTheOthers) {
    UniqueNames names;
    EXPECT_EQ(names.unique("t0"), "t0");
    EXPECT_EQ(names.numbered("t"), "t1");
    EXPECT_EQ(names.numbered("t"), "t2");
    EXPECT_EQ(names.unique("t2"), "t2$1");
}

TEST(UniqueNames, NumberedNamesLeaveThePrefixFree) {
    UniqueNames names;
    EXPECT_EQ(names.numbered("f"), "f0");
    EXPECT_EQ(names.unique("f"), "f");
    EXPECT_EQ(names.numbered("f"), "f1");
    EXPECT_EQ(names.unique("f"), "f$1");
}

TEST(UniqueNames, NumberedNamesOfPrefixesThatEndInNumbersDiffer) {
    UniqueNames names;
    for (int i = 0; i < 12; i++) {
        names.numbered("b");
    }
    EXPECT_EQ(names.numbered("b1"), "b12");
    EXPECT_EQ(names.numbered("b"), "b13");
    EXPECT_EQ(names.unique("b11"), "b11$1");
    EXPECT_EQ(names.unique("b011"), "b011");
    EXPECT_EQ(names.unique("b14"), "b14");
    EXPECT_EQ(names.numbered("b1"), "b15");
}

TEST(UniqueNames, NumberedNamesAreNotKept) {
    UniqueNames names;
    const size_t before = mallinfo2().uordblks;
    for (int i = 0; i < 20000; i++) {
        names.numbered("p");
        unique_name('p');
    }
    EXPECT_LT(mallinfo2().uordblks, before + 100000);
}

TEST(UniqueNames, DifferOnManyThreads) {
    constexpr int threads = 4, each = 500;
    std::vector<std::vector<std::string>> made(threads);
    std::vector<std::thread> running;
    for (int t = 0; t < threads; t++) {
        running.emplace_back([&made, t] {
            for (int i = 0; i < each; i++) {
                made[t].push_back(i % 2 ? unique_name("v") : unique_name('v'));
            }
        });
    }
    std::set<std::string> all;
    for (int t = 0; t < threads; t++) {
        running[t].join();
        all.insert(made[t].begin(), made[t].end());
    }
    EXPECT_EQ(all.size(), size_t(threads * each));
}

}  // namespace
}  // namespace calotype::internal
