// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/storage/handle_names.h"

#include "ir/walk/search.h"

namespace calotype::internal {

std::unordered_set<std::string> handle_names(const Stmt &s) {
    std::unordered_set<std::string> names;
    for_each<Variable>(s, [&](const Variable *op) {
        if (op->type.is_handle()) {
            names.insert(op->name);
        }
    });
    return names;
}

}  // namespace calotype::internal
