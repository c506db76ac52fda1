// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collects the warnings of the compiler, while it lives.
#pragma once

#include <string>
#include <vector>

#include "support/error.h"

namespace calotype {

class Warnings : public CompileTimeErrorReporter {
public:
    std::vector<std::string> texts;

    Warnings() {
        set_custom_compile_time_error_reporter(this);
    }
    ~Warnings() override {
        set_custom_compile_time_error_reporter(nullptr);
    }
    Warnings(const Warnings &) = delete;
    Warnings &operator=(const Warnings &) = delete;

    void warning(const char *text) override {
        texts.emplace_back(text);
    }
    void error(const char *text) override {
        throw CompileError(text);
    }
};

}  // namespace calotype
