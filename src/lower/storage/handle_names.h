// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Storage that is used in a form other than coordinates.
#pragma once

#include <string>
#include <unordered_set>

#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// Names of the handle Variables that occur anywhere in s: storage whose buffer header, or address,
/// is passed on.
std::unordered_set<std::string> handle_names(const Stmt &s);

}  // namespace calotype::internal
