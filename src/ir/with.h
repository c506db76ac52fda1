// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// with(): a node of which some fields are others. wrap_in_lets(): a statement with lets around it.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// A node with these fields, which are taken out, checked as by make(); what is not a field stays.
#define EXPR(Name) Expr remade(Name &&node);
#define STMT(Name) Stmt remade(Name &&node);
#include "ir/nodes.def"

/// op, but for the fields that are named, each with its new value.
///
///     with(op, &For::extent, extent, &For::body, body)
template<typename T, typename... Changes>
auto with(const T *op, Changes &&...changes) {
    T node(*op);
    const auto set = [&](auto &self, auto member, auto &&value, auto &&...rest) -> void {
        node.*member = std::forward<decltype(value)>(value);
        if constexpr (sizeof...(rest) > 0) {
            self(self, std::forward<decltype(rest)>(rest)...);
        }
    };
    set(set, std::forward<Changes>(changes)...);
    return remade(std::move(node));
}

/// The lets, outermost first, around a statement.
inline Stmt wrap_in_lets(const std::vector<std::pair<std::string, Expr>> &lets, Stmt body) {
    for (size_t i = lets.size(); i-- > 0;) {
        body = LetStmt::make(lets[i].first, lets[i].second, body);
    }
    return body;
}

}  // namespace calotype::internal
