// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/schedule/check_parameters.h"

#include "ir/constants.h"
#include "ir/printer.h"
#include "ir/walk/search.h"
#include "support/error.h"

namespace calotype::internal {

void check_int32_of_parameters(const Expr &e, const std::string &what) {
    const bool is_integer = e.type().is_int_or_uint() && e.type().is_scalar();
    user_assert(Int(32).can_represent(e.type()) || (is_integer && is_const(e)))
        << what << " has type " << e.type() << ", must fit in int32";
    internal::for_each<Variable>(e, [&](const Variable *op) {
        user_assert(op->symbol.defined() && op->symbol->kind == SymbolKind::Parameter)
            << what << " depends on variable " << op->name << ", only parameters are allowed";
    });
}

}  // namespace calotype::internal
