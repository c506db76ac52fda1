// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/checks/error_call.h"

#include "ir/printer.h"

namespace calotype {

using namespace internal;

Expr user_context() {
    return Variable::make(Handle(), "__user_context");
}

Expr error_call(const std::string &what, std::vector<Expr> args) {
    args.insert(args.begin(), user_context());
    return Call::make(Int(32), "calotype_error_" + what, std::move(args), CallKind::Extern);
}

Expr to_text(const Expr &e) {
    return to_string(e);
}

Stmt check(const Expr &condition, const std::string &what, std::vector<Expr> args) {
    return AssertStmt::make(condition, error_call(what, std::move(args)));
}

}  // namespace calotype
