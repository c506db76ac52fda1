// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests of the thread pool, each at several numbers of threads.
#pragma once

#include <gtest/gtest.h>

#include "runtime/runtime.h"

namespace calotype_test {

/// The parameter is the number of threads.
class WithThreads : public ::testing::TestWithParam<int> {
protected:
    void SetUp() override {
        calotype_set_num_threads(GetParam());
    }
    void TearDown() override {
        calotype_shutdown_thread_pool();
        calotype_set_num_threads(0);
    }
};

}  // namespace calotype_test
