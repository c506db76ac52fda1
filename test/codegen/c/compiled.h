// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of two addresses as C++ source, compiled by the system's compiler.
#pragma once

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <cstdlib>

#include "codegen/emit.h"
#include "ir/parser.h"
#include "support/file.h"

namespace calotype::internal {

/// A module of the function f, whose arguments are `first` and `second`.
inline LoweredModule module_of(const char *first, const char *second, const Stmt &body) {
    LoweredModule module;
    module.name = "test";
    module.target = "test-target";
    LoweredFunction f;
    f.name = "f";
    f.linkage = LinkageType::External;
    f.name_mangling = NameMangling::C;
    for (const char *name : {first, second}) {
        f.args.push_back(LoweredArgument(Argument(name, Argument::InputScalar, Handle(), 0, {})));
    }
    f.body = body;
    module.functions.push_back(f);
    return module;
}

/// Calls test(f) for that function as compiled, with what it needs defined after it.
template<typename Test>
void with_compiled(const LoweredModule &module, const std::string &options, Test test,
                   const std::string &definitions = "") {
    TemporaryDirectory folder;
    write_file_atomically(folder.path() + "/f.cpp",
                          c_source_text(module, Target("x86-64-linux")) + definitions);
    const std::string command = "cd " + folder.path() + " && c++ -std=c++17 -O1 " + options +
                                " -fPIC -shared f.cpp -o f.so 2> log";
    ASSERT_EQ(std::system(command.c_str()), 0) << read_file(folder.path() + "/log");
    void *library = dlopen((folder.path() + "/f.so").c_str(), RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    auto *f = reinterpret_cast<int (*)(void *, const void *)>(dlsym(library, "f"));
    ASSERT_NE(f, nullptr);
    test(f);
    dlclose(library);
}

}  // namespace calotype::internal
