// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "lower/runtime_calls.h"
#include "support/file.h"
#include "support/text.h"

namespace calotype::internal {
namespace {

TEST(RuntimeCalls, WhatTheyMeanForDevices) {
    EXPECT_EQ(device_order_of("calotype_device_malloc"), DeviceOrder::Keeps);
    EXPECT_EQ(device_order_of("calotype_error_out_of_memory"), DeviceOrder::Keeps);
    EXPECT_EQ(device_order_of("calotype_copy_to_host"), DeviceOrder::Changes);
    EXPECT_EQ(device_order_of("calotype_semaphore_release"), DeviceOrder::Releases);
    EXPECT_EQ(device_order_of("somebody_elses"), DeviceOrder::Changes);
}

// A pass that calls another function of the runtime has to say what that does.
TEST(RuntimeCalls, AllThatPassesNameAreInTheTable) {
    const std::regex literal("\"(calotype_[a-z0-9_]+)\"");
    int found = 0;
    for (const auto &file :
         std::filesystem::recursive_directory_iterator(CALOTYPE_SOURCE_DIR "/src/lower")) {
        if (file.path().extension() != ".cpp" || file.path().stem() == "runtime_calls") {
            continue;
        }
        const std::string text = read_file(file.path());
        for (std::sregex_iterator it(text.begin(), text.end(), literal), end; it != end; ++it) {
            const std::string name = (*it)[1];
            const bool is_prefix = name.back() == '_';
            EXPECT_TRUE(is_prefix || is_error_function(name) || is_runtime_function(name))
                << file.path() << ": " << name << " has no row in runtime_calls.def";
            found++;
        }
    }
    EXPECT_GT(found, 30);
}

}  // namespace
}  // namespace calotype::internal
