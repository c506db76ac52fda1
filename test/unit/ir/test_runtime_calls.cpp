// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "harness/expect_error.h"
#include "ir/constants.h"
#include "ir/conventions/names.h"
#include "ir/conventions/runtime_calls.h"
#include "ir/stmt_nodes.h"
#include "support/file.h"

namespace calotype::internal {
namespace {

TEST(RuntimeCalls, WhatTheyMeanForDevices) {
    EXPECT_EQ(device_order_of("calotype_device_malloc"), DeviceOrder::Keeps);
    EXPECT_EQ(device_order_of("calotype_error_out_of_memory"), DeviceOrder::Keeps);
    EXPECT_EQ(device_order_of("calotype_copy_to_host"), DeviceOrder::Changes);
    EXPECT_EQ(device_order_of("calotype_semaphore_release"), DeviceOrder::Releases);
    EXPECT_EQ(device_order_of("somebody_elses"), DeviceOrder::Changes);
}

TEST(RuntimeCalls, TypesAreThoseOfTheDeclarations) {
    const RuntimeFunctionInfo &store = runtime_function(RuntimeFunction::memoization_cache_store);
    EXPECT_EQ(store.name, "calotype_memoization_cache_store");
    EXPECT_EQ(store.result, Int(32));
    EXPECT_EQ(store.parameters, (std::vector<Type>{Handle(), Handle(), Int(32), Handle(), Int(32),
                                                   Handle(), Bool(), UInt(64)}));
    EXPECT_TRUE(runtime_function(RuntimeFunction::free).is_void);
    EXPECT_EQ(runtime_function(RuntimeFunction::malloc).result, Handle());
}

TEST(RuntimeCalls, HaveTheArgumentsThatTheFunctionTakes) {
    const Expr context = Variable::make(Handle(), names::user_context);
    const Expr size = make_const(UInt(64), uint64_t(8));
    EXPECT_TRUE(
        is_call(call_runtime(RuntimeFunction::malloc, {context, size}), RuntimeFunction::malloc));
    EXPECT_FALSE(runtime_function(RuntimeFunction::malloc).accepts({context, Expr(8)}));
    EXPECT_FALSE(runtime_function(RuntimeFunction::malloc).accepts({context}));
}

// No second list: who makes a call of the runtime takes it from the table.
TEST(RuntimeCalls, NobodySpellsTheirNames) {
    const std::regex literal("\"(calotype_[a-z0-9_]+)\"");
    for (const char *layer : {"lower", "legalize", "codegen/llvm", "codegen/nvptx", "driver"}) {
        const std::string folder = std::string(CALOTYPE_SOURCE_DIR "/src/") + layer;
        for (const auto &file : std::filesystem::recursive_directory_iterator(folder)) {
            const std::string text =
                file.path().extension() == ".cpp" ? read_file(file.path()) : "";
            for (std::sregex_iterator it(text.begin(), text.end(), literal), end; it != end; ++it) {
                EXPECT_FALSE(find_runtime_function((*it)[1])) << file.path() << ": " << (*it)[1];
            }
        }
    }
}

}  // namespace
}  // namespace calotype::internal
