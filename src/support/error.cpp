// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/error.h"

#include <atomic>
#include <iostream>

#include "support/compiling.h"
#include "support/user_text.h"

namespace calotype {

namespace {

// The one piece of state of the process that the public interface asks for.
std::atomic<CompileTimeErrorReporter *> custom_reporter{nullptr};

void tell_reporter(const std::string &message) {
    if (CompileTimeErrorReporter *reporter = custom_reporter.load()) {
        const internal::UsersFunctionScope users;
        reporter->error(message.c_str());
    }
}

}  // namespace

void set_custom_compile_time_error_reporter(CompileTimeErrorReporter *reporter) {
    custom_reporter.store(reporter);
}

namespace internal {

Message::Message(const char *file, int line, const char *condition) {
    stream_ << "internal error at " << file << ":" << line << ": ";
    if (condition) {
        stream_ << "condition failed: " << condition << " ";
    }
}

void throw_compile_error(const std::string &message) {
    tell_reporter(message);
    throw CompileError(printable(message));
}

void throw_runtime_error(const std::string &message) {
    throw RuntimeError(printable(message));
}

void throw_internal_error(const std::string &message) {
    tell_reporter(message);
    throw InternalError(printable(message));
}

void report_warning(const std::string &message) {
    if (CompileTimeErrorReporter *reporter = custom_reporter.load()) {
        const internal::UsersFunctionScope users;
        reporter->warning(message.c_str());
    } else {
        // One insertion, so that lines of several threads do not mix.
        std::cerr << "warning: " + message + "\n";
    }
}

}  // namespace internal
}  // namespace calotype
