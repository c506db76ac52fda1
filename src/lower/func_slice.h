// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of a statement that is about some Funcs.
#pragma once

#include <set>
#include <string>

#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// `s` without the statements that neither read nor set Func `name`; loops and conditions around
/// what is left stay, and the lets that it needs. Undefined if nothing is left. The boxes in which
/// the Func is touched are those of `s`, found at less cost.
Stmt slice_for_func(const std::string &name, const Stmt &s);
/// The same for several Funcs.
Stmt slice_for_funcs(const std::set<std::string> &names, const Stmt &s);

}  // namespace calotype::internal
