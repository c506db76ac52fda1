// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The three kinds of error and the macros that raise them with a streamed message:
//
//     user_assert(factor > 0) << "factor is " << factor << ", must be at least 1";
//     internal_assert(op != nullptr) << "no node";
//     user_error << "...";     internal_error << "...";     user_warning << "...";
//
// user_* is for mistakes in the user's program (CompileError), internal_* for our own bugs
// (InternalError). Messages are lower case, name the thing, the value and the bound, and have no
// final newline. Except for warnings, the macros throw at the end of the full expression.
#pragma once

#include <exception>
#include <sstream>
#include <string>

namespace calotype {

/// Base of everything that the compiler throws.
class Error : public std::exception {
public:
    explicit Error(std::string message) : message_(std::move(message)) {
    }
    const char *what() const noexcept override {
        return message_.c_str();
    }

private:
    std::string message_;
};

/// The user's algorithm, schedule, generator or command line is wrong.
class CompileError : public Error {
public:
    using Error::Error;
};

/// A generated pipeline or the runtime reported an error while running under the JIT.
class RuntimeError : public Error {
public:
    using Error::Error;
};

/// A bug in the compiler. The text begins with the place in the source.
class InternalError : public Error {
public:
    using Error::Error;
};

/// True: errors are always thrown, never aborts.
inline bool exceptions_enabled() {
    return true;
}

/// Receives the text of every compile error and warning of the process. error() is told before the
/// error is thrown; when it returns, the error is thrown all the same.
class CompileTimeErrorReporter {
public:
    virtual ~CompileTimeErrorReporter() = default;
    virtual void warning(const char *message) = 0;
    virtual void error(const char *message) = 0;
};

/// Sets the reporter for the whole process; null brings back the default (warnings on stderr,
/// errors in the exception alone). Not owned: it must live until it is replaced. May be called on
/// any thread.
void set_custom_compile_time_error_reporter(CompileTimeErrorReporter *reporter);

namespace internal {

/// Collects a streamed message.
class Message {
public:
    Message() = default;
    /// Begins with "internal error at FILE:LINE: " and, when given, "condition failed: CONDITION ".
    Message(const char *file, int line, const char *condition);

    template<typename T>
    Message &operator<<(const T &part) {
        stream_ << part;
        return *this;
    }
    std::string str() const {
        return stream_.str();
    }

private:
    std::ostringstream stream_;
};

[[noreturn]] void throw_compile_error(const std::string &message);
[[noreturn]] void throw_runtime_error(const std::string &message);
[[noreturn]] void throw_internal_error(const std::string &message);
void report_warning(const std::string &message);

// `Raise() & Message() << a << b`: & binds more loosely than <<, so the message is complete by
// then.
struct RaiseCompileError {
    [[noreturn]] void operator&(const Message &m) const {
        throw_compile_error(m.str());
    }
};
struct RaiseRuntimeError {
    [[noreturn]] void operator&(const Message &m) const {
        throw_runtime_error(m.str());
    }
};
struct RaiseInternalError {
    [[noreturn]] void operator&(const Message &m) const {
        throw_internal_error(m.str());
    }
};
struct RaiseWarning {
    void operator&(const Message &m) const {
        report_warning(m.str());
    }
};

}  // namespace internal
}  // namespace calotype

// NOLINTBEGIN: macros, because an assertion must not evaluate its message while it holds.
#define user_error ::calotype::internal::RaiseCompileError() & ::calotype::internal::Message()
#define user_assert(condition) (condition) ? (void)0 : user_error
#define runtime_error_if(condition)                                                                \
    !(condition) ? (void)0                                                                         \
                 : ::calotype::internal::RaiseRuntimeError() & ::calotype::internal::Message()
#define internal_error                                                                             \
    ::calotype::internal::RaiseInternalError() &                                                   \
        ::calotype::internal::Message(__FILE__, __LINE__, nullptr)
#define internal_assert(condition)                                                                 \
    (condition) ? (void)0                                                                          \
                : ::calotype::internal::RaiseInternalError() &                                     \
                      ::calotype::internal::Message(__FILE__, __LINE__, #condition)
#define user_warning ::calotype::internal::RaiseWarning() & ::calotype::internal::Message()
// NOLINTEND
