// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes that tests can run by name.
#pragma once

#include <string>
#include <vector>

#include "lower/context.h"

namespace calotype::test {

using Pass = internal::Stmt (*)(const internal::Stmt &, internal::LowerContext &);

/// Null if there is none of that name.
Pass find_pass(const std::string &name);

/// All, in order.
std::vector<std::string> all_passes();

/// What comes to the pass: what those before it make of nothing.
internal::Stmt run_passes_before(const std::string &name, internal::LowerContext &ctx);

}  // namespace calotype::test
