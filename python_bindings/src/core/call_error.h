// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A call of the language that is given what it cannot take:
//
//     call_assert(is_expr_like(h)) << describe(h) << " is no expression";
#pragma once

#include <calotype/support/error.h>

namespace calotype::python {

/// Becomes calotype.CallError, which is a TypeError and a ValueError, too.
class CallError : public CompileError {
public:
    using CompileError::CompileError;
};

/// f(), whose CompileErrors are about what the call is given.
template<typename F>
auto with_call_errors(const F &f) -> decltype(f()) {
    try {
        return f();
    } catch (const CompileError &e) {
        throw CallError(e.what());
    }
}

struct RaiseCallError {
    [[noreturn]] void operator&(const internal::Message &m) const {
        throw CallError(m.str());
    }
};

}  // namespace calotype::python

// NOLINTBEGIN: macros, because an assertion must not evaluate its message while it holds.
#define call_error ::calotype::python::RaiseCallError() & ::calotype::internal::Message()
#define call_assert(condition) (condition) ? (void)0 : call_error
// NOLINTEND
