// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "harness/expect_error.h"
#include "support/user_text.h"

namespace calotype::internal {
namespace {

TEST(UserText, PrintableKeepsCharacters) {
    const std::string text = "f\n\x7f \xc3\xbc \xe2\x98\x83 \xf0\x9f\x98\x80";
    EXPECT_EQ(printable(text), text);
    EXPECT_EQ(printable(""), "");
}

TEST(UserText, PrintableShowsOtherBytes) {
    EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
    EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
    EXPECT_EQ(printable("\xc0\x80"), "\\xc0\\x80");                    // longer than needed
    EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
    EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above the last character
    EXPECT_EQ(printable("\xe2\x98x"), "\\xe2\\x98x");
}

TEST(UserText, ChecksNames) {
    check_name("Var", "\xe2\x98\x83 $");
    check_characters("function", "a.b");
    EXPECT_COMPILE_ERROR(check_name("Var", "a.b"),
                         "the name of Var a.b contains a dot, which is reserved");
    EXPECT_COMPILE_ERROR(check_name("Var", std::string("a\0b", 3)),
                         "the name of Var a\\x00b contains a zero byte");
    EXPECT_COMPILE_ERROR(check_name("Var", "a\xff"), "the name of Var a\\xff is not UTF-8");
}

}  // namespace
}  // namespace calotype::internal
