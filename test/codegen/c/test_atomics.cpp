// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomic updates in C++ source, compiled by the system's compiler.
#include <thread>

#include "codegen/c/compiled.h"

namespace calotype::internal {
namespace {

LoweredModule updates() {
    return module_of("a", "b", parse_stmt(R"(
        for (i, 0, 10000) {
            atomic a { a[i % 3] = a[i % 3] + 1 }
            atomic b { b[ramp(0, 1, 2)] = b[ramp(0, 1, 2)]:float32 + broadcast(0.5f, 2) }
        }
    )"));
}

TEST(CppAtomics, LoseNoUpdate) {
    int32_t a[3] = {};
    float b[2] = {};
    with_compiled(updates(), "", [&](auto *f) {
        std::thread other([&] { f(a, b); });
        EXPECT_EQ(f(a, b), 0);
        other.join();
    });
    EXPECT_EQ(a[0], 6668);
    EXPECT_EQ(a[1], 6666);
    EXPECT_EQ(a[2], 6666);
    EXPECT_EQ(b[0], 10000.0f);
    EXPECT_EQ(b[1], 10000.0f);
}

}  // namespace
}  // namespace calotype::internal
