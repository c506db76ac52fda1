// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// inline_cheap_funcs: Funcs that cost no more where they are used than where they would be stored.
#pragma once

#include <set>
#include <string>

#include "autoschedule/model.h"

namespace calotype::internal {

/// True: it has one pure definition, and nothing asks for its storage.
bool may_be_inlined(const FuncModel &func);

/// From producers to consumers, so that what a Func costs holds what has been inlined into it. Those
/// whose names are in `others` are inlined besides.
void inline_cheap_funcs(ModelBuilder &builder, const std::set<std::string> &others);

}  // namespace calotype::internal
