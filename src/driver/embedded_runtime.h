// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime's static library, which the compiler carries along.
#pragma once

#include <string_view>

namespace calotype::internal {

/// Its bytes, as the build made it.
std::string_view embedded_runtime();

}  // namespace calotype::internal
