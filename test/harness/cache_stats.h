// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The counters of the kernel cache.
#pragma once

#include <gtest/gtest.h>

#include "runtime/abi/kernel_cache.h"

namespace calotype_test {

/// Of one context; 0: of the process.
inline calotype_stats cache_stats(uint64_t context_uid = 0) {
    calotype_stats s = {};
    s.size = sizeof s;
    EXPECT_EQ(CALOTYPE_OK, calotype_get_stats(context_uid, &s));
    return s;
}

}  // namespace calotype_test
