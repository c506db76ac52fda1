// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An application that defines functions of the runtime itself: its definitions are used, by the
// runtime as well, and nothing is defined twice.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "runtime/runtime.h"

namespace {
std::string last_error;
int mallocs = 0, tasks = 0;
}  // namespace

extern "C" void calotype_error(void *, const char *message) {
    last_error = message;
}

extern "C" void *calotype_malloc(void *, size_t size) {
    mallocs++;
    return std::aligned_alloc(128, (size + 127) / 128 * 128);
}

extern "C" void calotype_free(void *, void *ptr) {
    std::free(ptr);
}

extern "C" int calotype_do_task(void *user_context, calotype_task_t task, int i, uint8_t *closure) {
    __atomic_add_fetch(&tasks, 1, __ATOMIC_RELAXED);
    return calotype_default_do_task(user_context, task, i, closure);
}

extern "C" int calotype_error_out_of_memory(void *user_context) {
    calotype_error(user_context, "no more");
    return -11;
}

namespace {

TEST(Override, ErrorsGoToTheApplication) {
    EXPECT_EQ(-38, calotype_copy_to_host(nullptr, nullptr));
    EXPECT_EQ("buffer given to calotype_copy_to_host is null", last_error);
    EXPECT_EQ(-11, calotype_error_out_of_memory(nullptr));
    EXPECT_EQ("no more", last_error);
}

TEST(Override, MemoryComesFromTheApplication) {
    calotype_dimension_t dim(0, 10, 1);
    calotype_buffer_t buf = {};
    buf.type = calotype_type_of<int>();
    buf.dimensions = 1;
    buf.dim = &dim;
    calotype_buffer_t *buffers[] = {&buf};
    const uint8_t key[] = {1};
    EXPECT_EQ(1, calotype_memoization_cache_lookup(nullptr, key, 1, &buf, 1, buffers));
    EXPECT_EQ(1, mallocs);
    calotype_memoization_cache_release(nullptr, buf.host);
}

TEST(Override, IterationsPassThroughTheApplication) {
    auto nothing = [](void *, int, uint8_t *) {
        return 0;
    };
    EXPECT_EQ(0, calotype_do_par_for(nullptr, nothing, 0, 50, nullptr));
    EXPECT_EQ(50, tasks);
}

}  // namespace
