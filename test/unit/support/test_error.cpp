// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "support/error.h"

namespace calotype {
namespace {

template<typename E, typename F>
std::string text_of(F f) {
    try {
        f();
    } catch (const E &e) {
        return e.what();
    }
    return "nothing was thrown";
}

TEST(Error, UserAssertThrowsItsWholeMessage) {
    const int factor = 0;
    EXPECT_EQ(text_of<CompileError>([&] {
                  user_assert(factor > 0) << "factor is " << factor << ", must be at least 1";
              }),
              "factor is 0, must be at least 1");
}

TEST(Error, AssertionThatHoldsDoesNotEvaluateItsMessage) {
    bool evaluated = false;
    auto message = [&] {
        evaluated = true;
        return "x";
    };
    user_assert(true) << message();
    internal_assert(true) << message();
    EXPECT_FALSE(evaluated);
}

TEST(Error, WorksAsTheBodyOfAnIfWithElse) {
    auto f = [](int i) {
        if (i == 0)
            user_assert(i != 0) << "zero";
        else
            user_error << "one";
    };
    EXPECT_EQ(text_of<CompileError>([&] { f(0); }), "zero");
    EXPECT_EQ(text_of<CompileError>([&] { f(1); }), "one");
}

TEST(Error, InternalErrorNamesPlaceAndCondition) {
    const int line = __LINE__ + 1;
    const std::string text = text_of<InternalError>([] { internal_assert(1 > 2) << "really"; });
    EXPECT_EQ(text, "internal error at test/unit/support/test_error.cpp:" + std::to_string(line) +
                        ": condition failed: 1 > 2 really");
}

class Recorder : public CompileTimeErrorReporter {
public:
    void warning(const char *message) override {
        heard += std::string("warning ") + message + ";";
    }
    void error(const char *message) override {
        heard += std::string("error ") + message + ";";
    }
    std::string heard;
};

TEST(Error, ReporterHearsWarningsAndErrors) {
    Recorder recorder;
    set_custom_compile_time_error_reporter(&recorder);
    user_warning << "odd " << 1;
    EXPECT_EQ(text_of<CompileError>([] { user_error << "bad " << 2; }), "bad 2");
    set_custom_compile_time_error_reporter(nullptr);
    EXPECT_EQ(text_of<CompileError>([] { user_error << "unheard"; }), "unheard");
    EXPECT_EQ(recorder.heard, "warning odd 1;error bad 2;");
}

TEST(Error, EveryKindIsAnErrorAndNoOtherKind) {
    EXPECT_THROW(throw CompileError("x"), Error);
    EXPECT_THROW(throw RuntimeError("x"), std::exception);
    EXPECT_EQ(text_of<RuntimeError>([] { runtime_error_if(true) << "code " << -3; }), "code -3");
}

}  // namespace
}  // namespace calotype
