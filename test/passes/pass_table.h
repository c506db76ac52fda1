// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes that tests can run by name.
#pragma once

#include <string>

#include "lower/context.h"

namespace calotype::test {

using Pass = Stmt (*)(const Stmt &, LowerContext &);

/// Null if there is none of that name.
Pass find_pass(const std::string &name);

}  // namespace calotype::test
