// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moving what a buffer holds to another place of a larger one. Helper of passes on kernels.
#pragma once

#include <string>

#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// All loads and stores of `buffer` go to `new_name` at their index + offset (an int32, in elements
/// of the access).
Stmt shift_accesses(const std::string &buffer, const std::string &new_name, const Expr &offset,
                    const Stmt &s);

}  // namespace calotype::internal
