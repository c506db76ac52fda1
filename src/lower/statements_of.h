// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sequence of statements as a list. For passes that look at neighbours in it.
#pragma once

#include <vector>

#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// The statements of a Block, in order; Blocks lean to the right, so none is in the first part of another.
inline std::vector<Stmt> statements_of(const Block *op) {
    std::vector<Stmt> result = {op->first};
    Stmt rest = op->rest;
    while (const Block *block = rest.as<Block>()) {
        result.push_back(block->first);
        rest = block->rest;
    }
    result.push_back(rest);
    return result;
}

}  // namespace calotype::internal
