// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runtimes under other names: what code calls, and what the runtime's library defines.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>

#include "codegen/emit.h"
#include "driver/module.h"
#include "driver/output_plan.h"
#include "harness/expect_error.h"
#include "lang/language.h"
#include "support/file.h"

namespace calotype {

namespace {

using internal::TemporaryDirectory;

/// Allocates, as nobody knows how much its producer needs.
Pipeline pipeline(const std::string &name) {
    Var x("x");
    Func made("made_" + name), used(name);
    made(x) = 2 * x;
    used(x) = made(x) + made(x + 1);
    made.compute_root();
    return Pipeline(used);
}

std::string llvm_assembly(Pipeline p, const std::string &features) {
    const TemporaryDirectory folder;
    const std::string file = folder.path() + "/p.ll";
    p.compile_to_llvm_assembly(file, {}, "p", Target("x86-64-linux" + features));
    return internal::read_file(file);
}

bool has(const std::string &text, const std::string &word) {
    return text.find(word) != std::string::npos;
}

const Target host = get_host_target();

/// The names that the library's objects define for others (true), or only want (false), by nm.
std::map<std::string, bool> names_of(const std::string &library) {
    const TemporaryDirectory folder;
    const std::string file = folder.path() + "/library.a";
    internal::write_file_atomically(file, library);
    const std::string listing = folder.path() + "/names";
    EXPECT_EQ(std::system(("nm -g '" + file + "' > '" + listing + "'").c_str()), 0);
    std::map<std::string, bool> names;
    std::ifstream lines(listing);
    for (std::string line; std::getline(lines, line);) {
        const size_t space = line.rfind(' ');
        if (space != std::string::npos && space > 0) {
            names[line.substr(space + 1)] |=
                std::string("Uvw").find(line[space - 1]) == std::string::npos;
        }
    }
    return names;
}

TEST(RuntimePrefixes, CallsHaveThatOfImportsOrOfExports) {
    Pipeline p = pipeline("called");
    p.apply_runtime_prefixes(host, RuntimeNamespaceMap{{RuntimeLinkage::Import, "in_"},
                                                       {RuntimeLinkage::Export, "out_"}});
    const std::string without = llvm_assembly(p, "-no_runtime");
    EXPECT_TRUE(has(without, "@in_malloc(")) << without;
    const std::string with = llvm_assembly(p, "");
    EXPECT_TRUE(has(with, "@out_malloc("));
    for (const std::string &text : {without, with}) {
        EXPECT_FALSE(has(text, "@calotype_"));
    }
}

TEST(RuntimePrefixes, SourcesHaveThemAsMacros) {
    Pipeline p = pipeline("written");
    p.apply_runtime_prefixes(host, RuntimeNamespaceMap{{RuntimeLinkage::Import, "in_"}});
    const TemporaryDirectory folder;
    const std::string source = folder.path() + "/p.cpp", object = folder.path() + "/p.o";
    p.compile_to_c(source, {}, "p", host.with_feature(Target::NoRuntime));
    ASSERT_EQ(std::system(("c++ -std=c++17 -w -c '" + source + "' -o '" + object + "'").c_str()),
              0);
    const auto names =
        names_of(internal::make_static_library({{"p.o", internal::read_file(object)}}));
    EXPECT_TRUE(names.count("in_malloc"));
    EXPECT_TRUE(names.at("p"));
    for (const auto &entry : names) {
        EXPECT_FALSE(has(entry.first, "calotype_")) << entry.first;
    }
}

TEST(RuntimePrefixes, WhatHasNoneKeepsItsName) {
    Pipeline p = pipeline("kept");
    p.apply_runtime_prefixes(host, RuntimeNamespaceMap{{RuntimeLinkage::Internal, "own_"}});
    EXPECT_TRUE(has(llvm_assembly(p, "-no_runtime"), "@calotype_malloc("));
    p.apply_runtime_prefixes(host, RuntimeNamespaceMap{{RuntimeLinkage::Import, "in_"}});
    EXPECT_TRUE(has(llvm_assembly(p, ""), "@calotype_malloc("));
}

TEST(RuntimePrefixes, ThisProcessHasItsRuntime) {
    Pipeline p = pipeline("run");
    p.apply_runtime_prefixes(host, RuntimeNamespaceMap{{RuntimeLinkage::Import, "in_"},
                                                       {RuntimeLinkage::Export, "out_"}});
    Buffer<int> result = p.realize({1000});
    EXPECT_EQ(result(999), 2 * 999 + 2 * 1000);
}

TEST(RuntimePrefixes, AModuleHasThoseOfItsPipeline) {
    Pipeline p = pipeline("held");
    const RuntimeNamespaceMap prefixes = {{RuntimeLinkage::Import, "in_"}};
    p.apply_runtime_prefixes(host, prefixes);
    Module m = p.compile_to_module({}, "held", host.with_feature(Target::NoRuntime));
    EXPECT_EQ(m.get_runtime_prefixes_map(), prefixes);
    m.set_runtime_prefixes_map({{RuntimeLinkage::Import, "other_"}});
    const std::string object = m.compile_to_object_bytes();
    EXPECT_TRUE(has(object, "other_malloc"));
    EXPECT_FALSE(has(object, "calotype_malloc"));
    EXPECT_EQ(Module("m", host, {}, prefixes).get_runtime_prefixes_map(), prefixes);
}

TEST(RuntimePrefixes, ALibrarySharesNoNameWithAnother) {
    const std::string plain = internal::standalone_runtime(host);
    const std::string mine = internal::standalone_runtime(
        host, {{RuntimeLinkage::Export, "my_"}, {RuntimeLinkage::Internal, "my_"}});
    const auto before = names_of(plain), after = names_of(mine);
    EXPECT_EQ(before.size(), after.size());
    EXPECT_TRUE(after.at("my_malloc"));
    EXPECT_TRUE(after.at("my_cuda_device_interface"));
    for (const auto &[name, is_defined] : after) {
        const auto same = before.find(name);
        EXPECT_FALSE(is_defined && same != before.end() && has(name, "calotype")) << name;
        EXPECT_FALSE(name.rfind("calotype_", 0) == 0) << name;
    }
    const auto exported =
        names_of(internal::standalone_runtime(host, {{RuntimeLinkage::Export, "my_"}}));
    EXPECT_TRUE(exported.count("my_malloc"));
    EXPECT_TRUE(std::any_of(exported.begin(), exported.end(), [](const auto &entry) {
        return entry.second && entry.first.rfind("_ZN8calotype", 0) == 0;
    }));
}

TEST(RuntimePrefixes, AFileOfTheRuntime) {
    const TemporaryDirectory folder;
    const std::string file = folder.path() + "/rt.a";
    const RuntimeNamespaceMap prefixes = {{RuntimeLinkage::Export, "their_"}};
    compile_standalone_runtime(file, host, prefixes);
    EXPECT_TRUE(names_of(internal::read_file(file)).count("their_malloc"));
    const auto files = compile_standalone_runtime({{OutputFileType::static_library, file},
                                                   {OutputFileType::object, file + ".o"},
                                                   {OutputFileType::c_header, file + ".h"}},
                                                  host, prefixes);
    EXPECT_EQ(files.size(), 2U);
    EXPECT_TRUE(names_of(internal::read_file(file + ".o")).count("their_malloc"));
}

TEST(RuntimePrefixes, AsAnObjectAllOfItIsLinked) {
    const TemporaryDirectory folder;
    const std::string base = folder.path() + "/rt";
    compile_standalone_runtime(
        {{OutputFileType::static_library, base + ".a"}, {OutputFileType::object, base + ".o"}},
        host);
    // A sanitizer's functions are in the program alone.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    const std::string undefined;
#else
    const std::string undefined = " -Wl,-z,defs";
#endif
    const auto link = [&](const std::string &inputs) {
        return std::system(("cd " + folder.path() + " && c++ -shared " + inputs + undefined +
                            " -lpthread -ldl && nm -D --defined-only rt.so > names")
                               .c_str());
    };
    ASSERT_EQ(link("rt.o -o rt.so"), 0);
    EXPECT_TRUE(has(internal::read_file(folder.path() + "/names"), " calotype_do_par_for\n"));
    // Together with a library that has some of its parts each name is still there once.
    EXPECT_EQ(link("rt.o rt.a -o rt.so"), 0);
    EXPECT_EQ(link("-Wl,--undefined=calotype_malloc rt.a rt.o -o rt.so"), 0);
    compile_standalone_runtime(base + "2.a", host);
    EXPECT_EQ(internal::read_file(base + "2.a"), internal::read_file(base + ".o"));
}

TEST(RuntimePrefixes, WhatIsRefused) {
    Pipeline p = pipeline("refused");
    EXPECT_COMPILE_ERROR(p.apply_runtime_prefixes(host, RuntimePrefixParams()),
                         "apply_runtime_prefixes: there is no prefix");
    const RuntimeNamespaceMap in = {{RuntimeLinkage::Import, "in_"}};
    EXPECT_COMPILE_ERROR(
        p.apply_runtime_prefixes(Target("x86-64-linux-jit"), in),
        "apply_runtime_prefixes: code for target x86-64-linux-jit runs in this process, with its "
        "runtime");
    for (const char *wrong : {"", "1_", "a-b", "a b", "a.b"}) {
        p.apply_runtime_prefixes(host, RuntimeNamespaceMap{{RuntimeLinkage::Import, wrong}});
        EXPECT_COMPILE_ERROR(llvm_assembly(p, "-no_runtime"),
                             "runtime prefix '" + std::string(wrong) +
                                 "' (import) cannot begin a name in C");
    }
    EXPECT_COMPILE_ERROR(internal::standalone_runtime(host, {{RuntimeLinkage::Internal, "9"}}),
                         "runtime prefix '9' (internal) cannot begin a name in C");
}

}  // namespace

}  // namespace calotype
