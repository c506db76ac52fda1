// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/let_scope.h"

#include <algorithm>
#include <set>

#include "arith/cse.h"
#include "ir/expr_nodes.h"
#include "ir/queries.h"

namespace calotype::internal {

void LetScope::push(const std::string &name, const Expr &value) {
    lets_.push_back({name, value, std::nullopt});
}

void LetScope::pop() {
    lets_.pop_back();
}

bool LetScope::binds(const std::string &name) const {
    return std::any_of(lets_.begin(), lets_.end(),
                       [&](const Definition &let) { return let.name == name; });
}

Expr LetScope::expand(const Expr &e, const Limits &limits, bool *is_whole) const {
    *is_whole = true;
    const size_t end = std::min(limits.end, lets_.size());
    if (end == 0) {
        return e;
    }
    const std::vector<std::string> used = free_variables(e);
    std::set<std::string> free(used.begin(), used.end());
    Expr result = e;
    // From the inside out: a value uses names of lets around its own.
    for (size_t i = end; i-- > 0;) {
        const Definition &let = lets_[i];
        if (!free.erase(let.name) || !let.value.defined() ||
            (limits.keeps_calls && let.value.as<Call>())) {
            continue;
        }
        const Expr next = substitute(let.name, let.value, result);
        if (is_repetitive(next, limits.small)) {
            *is_whole = false;
            return result;
        }
        result = next;
        if (!let.uses) {
            let.uses = free_variables(let.value);
        }
        free.insert(let.uses->begin(), let.uses->end());
    }
    return result;
}

Expr LetScope::expand(const Expr &e) const {
    bool is_whole = false;
    const Expr result = expand(e, Limits(), &is_whole);
    return is_whole ? result : Expr();
}

Expr LetScope::expand_while_small(const Expr &e, const Limits &limits) const {
    bool is_whole = false;
    return expand(e, limits, &is_whole);
}

}  // namespace calotype::internal
