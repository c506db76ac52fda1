// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/expand_lets.h"

#include <map>

#include "arith/cse.h"
#include "ir/queries.h"

namespace calotype::internal {

Expr expand_lets(Expr e, const Scope<Expr> &values, int small) {
    constexpr int max_depth = 16;
    for (int depth = 0; depth < max_depth; depth++) {
        std::map<std::string, Expr> replacements;
        for (const std::string &name : free_variables(e)) {
            if (const Expr *value = values.find(name)) {
                replacements[name] = *value;
            }
        }
        if (replacements.empty()) {
            break;
        }
        Expr next = substitute(replacements, e);
        if (is_repetitive(next, small)) {
            break;
        }
        e = std::move(next);
    }
    return e;
}

}  // namespace calotype::internal
