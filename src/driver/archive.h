// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Static libraries (ar), taken apart.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace calotype::internal {

/// The members of a static library as name and bytes, without its index. CompileError if it is
/// none.
std::vector<std::pair<std::string, std::string>> read_static_library(std::string_view archive);

/// The bytes of the runtime's static library, which the compiler carries along.
std::string_view embedded_runtime();

}  // namespace calotype::internal
