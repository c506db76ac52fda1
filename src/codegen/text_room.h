// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The room for a text that generated code puts together: what print and stringify make.
#pragma once

#include <algorithm>
#include <cstddef>

namespace calotype::internal {

/// Bytes for a text of at most that many characters. They are in the frame of the function, which
/// tasks have, too: what is longer than 8191 characters is cut there.
inline size_t text_room(size_t characters) {
    constexpr size_t most = 8192;
    return std::min(characters + 1, most);
}

}  // namespace calotype::internal
