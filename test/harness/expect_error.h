// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests of errors look at the whole text:
//
//     EXPECT_COMPILE_ERROR(f.split(x, xo, xi, 0), "...");
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <string>

#include "support/error.h"

namespace calotype::test {

/// What f() throws as an E; what came instead in brackets.
template<typename E, typename F>
std::string error_of(F f) {
    try {
        f();
    } catch (const E &e) {
        return e.what();
    } catch (const std::exception &e) {
        return std::string("[an error of another kind: ") + e.what() + "]";
    }
    return "[no error]";
}

}  // namespace calotype::test

#define EXPECT_COMPILE_ERROR(statement, message)                                                   \
    EXPECT_EQ(::calotype::test::error_of<::calotype::CompileError>([&] { statement; }), message)
#define EXPECT_RUNTIME_ERROR(statement, message)                                                   \
    EXPECT_EQ(::calotype::test::error_of<::calotype::RuntimeError>([&] { statement; }), message)
#define EXPECT_INTERNAL_ERROR_CONTAINING(statement, part)                                          \
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, part,                                              \
                        ::calotype::test::error_of<::calotype::InternalError>([&] { statement; }))
