// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How functions tell why they fail: scopes, and texts that find no memory.
#include <gtest/gtest.h>

#include <string>

#include "harness/failing_memory.h"
#include "runtime/device/failure.h"

using namespace calotype::runtime;

namespace {

TEST(FailureScope, TheFirstToTellIsTheCause) {
    const FailureScope scope;
    EXPECT_STREQ("", failure_text());
    EXPECT_EQ(0, failure_result());
    set_failure(Text() << "out of paper", 7);
    set_failure("nothing printed");
    EXPECT_STREQ("out of paper", failure_text());
    EXPECT_EQ(7, failure_result());
}

TEST(FailureScope, NothingIsLeftOfIt) {
    const FailureScope scope;
    set_failure(Text() << "outer", 1);
    {
        const FailureScope inner;
        EXPECT_STREQ("", failure_text());
        set_failure(Text() << "inner", 2);
        EXPECT_STREQ("inner", failure_text());
        EXPECT_EQ(2, failure_result());
    }
    EXPECT_STREQ("outer", failure_text());
    EXPECT_EQ(1, failure_result());
}

TEST(FailureScope, IsPassedOnIfNothingWasToldBefore) {
    const FailureScope scope;
    {
        FailureScope inner;
        set_failure(Text() << "inner", 2);
        inner.pass_on();
    }
    EXPECT_STREQ("inner", failure_text());
    EXPECT_EQ(2, failure_result());
    {
        FailureScope second;
        set_failure("second");
        second.pass_on();
    }
    EXPECT_STREQ("inner", failure_text());
}

TEST(FailureScope, WhatIsToldOutsideIsDropped) {
    set_failure("nobody asks");
    {
        FailureScope scope;
        EXPECT_STREQ("", failure_text());
        set_failure("nobody asks for this");
        scope.pass_on();
    }
    const FailureScope scope;
    EXPECT_STREQ("", failure_text());
}

TEST(FailureScope, IsToldInOtherWords) {
    const FailureScope scope;
    set_failure(Text() << "no symbol", 500);
    replace_failure(Text() << "kernel f: " << failure_text());
    EXPECT_STREQ("kernel f: no symbol", failure_text());
    EXPECT_EQ(500, failure_result());
    EXPECT_STREQ("kernel f: no symbol", take_failure().c_str());
    EXPECT_STREQ("", failure_text());
}

TEST(FailureScope, OneThatAnExceptionLeavesOutEndsWithTheNextAround) {
    {
        const FailureScope scope;
        set_failure("outer");
        alignas(FailureScope) unsigned char memory[sizeof(FailureScope)];
        new (memory) FailureScope();  // whose destructor does not run
        set_failure("inner");
    }
    const FailureScope scope;
    EXPECT_STREQ("", failure_text());
    set_failure("next");
    EXPECT_STREQ("next", failure_text());
}

TEST(Text, LongOnesAreWhole) {
    Text text;
    std::string expected;
    for (int i = 0; i < 500; i++) {
        text << i << ", ";
        expected += std::to_string(i) + ", ";
    }
    EXPECT_EQ(expected, text.c_str());
    const Text copy = text;
    EXPECT_EQ(expected, copy.c_str());
}

TEST(Text, WhatFindsNoMemoryIsCutOff) {
    const std::string long_one(1000, 'x');
    const calotype_test::FailingMemory memory(1);
    Text text;
    text << "it is " << long_one.c_str();
    EXPECT_TRUE(calotype_test::FailingMemory::has_failed());
    const std::string found = text.c_str();
    EXPECT_EQ("it is xxx", found.substr(0, 9));
    EXPECT_EQ("x...", found.substr(found.size() - 4));
    EXPECT_EQ(text.size(), found.size());
}

}  // namespace
