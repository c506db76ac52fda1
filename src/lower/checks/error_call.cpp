// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/checks/error_call.h"

#include "ir/conventions/names.h"
#include "ir/conventions/runtime_calls.h"
#include "ir/printer.h"
#include "support/error.h"

namespace calotype::internal {

Expr user_context() {
    return Variable::make(Handle(), names::user_context);
}

Expr error_call(const std::string &what, std::vector<Expr> args) {
    args.insert(args.begin(), user_context());
    const RuntimeFunctionInfo *function = find_runtime_function("calotype_error_" + what);
    internal_assert(function) << "the runtime has no error " << what;
    return call_runtime(function->function, std::move(args));
}

bool is_error_call(const Call *call, const std::string &what) {
    return call->name == "calotype_error_" + what;
}

Expr to_text(const Expr &e) {
    return to_string(e);
}

Stmt check(const Expr &condition, const std::string &what, std::vector<Expr> args) {
    return AssertStmt::make(condition, error_call(what, std::move(args)));
}

}  // namespace calotype::internal
