// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/let_scope.h"

#include <set>

#include "arith/cse.h"
#include "ir/queries.h"

namespace calotype::internal {

void LetScope::push(const std::string &name, const Expr &value) {
    lets_.push_back(
        {name, value, value.defined() ? free_variables(value) : std::vector<std::string>()});
}

void LetScope::pop() {
    lets_.pop_back();
}

Expr LetScope::expand(const Expr &e) const {
    if (lets_.empty()) {
        return e;
    }
    const std::vector<std::string> used = free_variables(e);
    std::set<std::string> free(used.begin(), used.end());
    Expr result = e;
    // From the inside out: a value uses names of lets around its own.
    for (size_t i = lets_.size(); i-- > 0;) {
        const Definition &let = lets_[i];
        if (free.erase(let.name) && let.value.defined()) {
            result = substitute(let.name, let.value, result);
            if (is_repetitive(result)) {
                return Expr();
            }
            free.insert(let.uses.begin(), let.uses.end());
        }
    }
    return result;
}

}  // namespace calotype::internal
