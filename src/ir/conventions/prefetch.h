// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the intrinsic `prefetch` of flat code fetches: the cache line of one element.
#pragma once

#include <algorithm>

#include "ir/type.h"

namespace calotype::internal {

/// Elements of that type in a cache line, as a rule; at least one.
inline int elements_fetched(Type t) {
    constexpr int cache_line_bytes = 64;
    return std::max(1, cache_line_bytes / t.bytes());
}

}  // namespace calotype::internal
