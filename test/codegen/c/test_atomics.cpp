// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomic updates in C++ source, compiled by the system's compiler.
#include <gtest/gtest.h>

#include <dlfcn.h>

#include <cstdlib>
#include <thread>

#include "codegen/emit.h"
#include "ir/parser.h"
#include "support/file.h"

namespace calotype::internal {
namespace {

LoweredModule updates() {
    LoweredModule module;
    module.name = "test";
    module.target = "test-target";
    LoweredFunction f;
    f.name = "f";
    f.linkage = LinkageType::External;
    f.name_mangling = NameMangling::C;
    for (const char *name : {"a", "b"}) {
        f.args.push_back(LoweredArgument(Argument(name, Argument::InputScalar, Handle(), 0, {})));
    }
    f.body = parse_stmt(R"(
        for (i, 0, 10000) {
            atomic a { a[i % 3] = a[i % 3] + 1 }
            atomic b { b[ramp(0, 1, 2)] = b[ramp(0, 1, 2)]:float32 + broadcast(0.5f, 2) }
        }
    )");
    module.functions.push_back(f);
    return module;
}

TEST(CppAtomics, LoseNoUpdate) {
    TemporaryDirectory folder;
    write_file_atomically(folder.path() + "/f.cpp",
                          c_source_text(updates(), Target("x86-64-linux")));
    std::string command =
        "cd " + folder.path() + " && c++ -std=c++17 -O1 -fPIC -shared f.cpp -o f.so 2> log";
    ASSERT_EQ(std::system(command.c_str()), 0) << read_file(folder.path() + "/log");
    void *library = dlopen((folder.path() + "/f.so").c_str(), RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    auto *f = reinterpret_cast<int (*)(void *, void *)>(dlsym(library, "f"));
    ASSERT_NE(f, nullptr);
    int32_t a[3] = {};
    float b[2] = {};
    std::thread other([&] { f(a, b); });
    EXPECT_EQ(f(a, b), 0);
    other.join();
    EXPECT_EQ(a[0], 6668);
    EXPECT_EQ(a[1], 6666);
    EXPECT_EQ(a[2], 6666);
    EXPECT_EQ(b[0], 10000.0f);
    EXPECT_EQ(b[1], 10000.0f);
    dlclose(library);
}

}  // namespace
}  // namespace calotype::internal
