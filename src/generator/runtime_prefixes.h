// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameters runtime_prefixes.import, .export and .internal, which every generator has.
#pragma once

#include <string>

#include "lang/pipeline.h"

namespace calotype::internal {

/// Takes the parameter if it is one of these. A CompileError if it is given twice, or if no such prefix
/// is known.
bool take_runtime_prefix(const std::string &name, const std::string &value,
                         RuntimeNamespaceMap &prefixes);

}  // namespace calotype::internal
