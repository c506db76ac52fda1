// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The project keeps its shape; and the checker would notice if it did not.
#include <gtest/gtest.h>

#include "layering/rules.h"
#include "layering/source_text.h"

namespace layering {
namespace {

const std::string spdx = "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n";

/// The violations of a file that holds `text` below the licence line; lines count from the file's
/// first.
std::string check(const std::string &path, const std::string &text, const Caps &caps = {}) {
    std::string all;
    for (const Violation &violation : check_file(path, spdx + text, caps)) {
        all += to_string(violation) + "\n";
    }
    return all;
}

std::string repeat(const std::string &text, int times) {
    std::string all;
    for (int i = 0; i < times; i++) {
        all += text;
    }
    return all;
}

TEST(TheTree, KeepsItsShape) {
    std::string all;
    for (const Violation &violation : check_tree(CALOTYPE_SOURCE_DIR)) {
        all += to_string(violation) + "\n";
    }
    EXPECT_EQ(all, "");
}

TEST(Includes, TheTableIsHeld) {
    EXPECT_EQ(check("src/ir/expr.cpp", "#include \"ir/expr.h\"\n#include \"support/error.h\"\n"),
              "");
    EXPECT_EQ(check("src/ir/expr.cpp", "\n#include \"lang/func.h\"\n"),
              "src/ir/expr.cpp:3: ir may not include lang (lang/func.h)\n");
    EXPECT_EQ(check("src/lower/nest/a.cpp", "#include \"codegen/llvm/b.h\"\n"),
              "src/lower/nest/a.cpp:2: lower may not include codegen (codegen/llvm/b.h)\n");
    EXPECT_EQ(check("src/codegen/c/a.cpp", "#include \"pipeline/function.h\"\n"),
              "src/codegen/c/a.cpp:2: codegen may not include pipeline (pipeline/function.h)\n");
    EXPECT_EQ(check("src/target/a.cpp", "#include <ir/type.h>\n"),
              "src/target/a.cpp:2: target may not include ir (ir/type.h)\n");
}

TEST(Includes, LlvmIsCodegensAlone) {
    EXPECT_EQ(check("src/codegen/llvm/a.cpp", "#include <llvm/IR/Module.h>\n"), "");
    EXPECT_EQ(check("src/driver/a.cpp", "#include <llvm/IR/Module.h>\n"),
              "src/driver/a.cpp:2: driver may not include LLVM (llvm/IR/Module.h)\n");
}

TEST(Includes, RuntimeAndCompilerMeetInTheAbi) {
    EXPECT_EQ(check("src/ir/type.cpp", "#include \"runtime/abi/buffer.h\"\n"), "");
    EXPECT_EQ(check("src/lang/param.cpp", "#include \"runtime/cpp/buffer.h\"\n"), "");
    EXPECT_EQ(check("src/ir/type.cpp", "#include \"runtime/cpp/buffer.h\"\n"),
              "src/ir/type.cpp:2: ir may not include runtime/cpp (runtime/cpp/buffer.h)\n");
    EXPECT_EQ(check("runtime/host/a.cpp", "#include \"support/error.h\"\n"),
              "runtime/host/a.cpp:2: runtime/host may not include support (support/error.h)\n");
    EXPECT_EQ(
        check("runtime/host/a.cpp", "#include \"runtime/cuda/b.h\"\n"),
        "runtime/host/a.cpp:2: runtime/host may not include runtime/cuda (runtime/cuda/b.h)\n");
    EXPECT_EQ(check("runtime/abi/a.h", "#pragma once\n#include \"type.h\"\n"), "");
    EXPECT_EQ(check("runtime/cpp/a.h", "#pragma once\n#include \"../abi/type.h\"\n"), "");
    EXPECT_EQ(check("runtime/abi/a.c", "#include \"../cpp/buffer.h\"\n"),
              "runtime/abi/a.c:2: runtime/abi may not include runtime/cpp "
              "(runtime/cpp/buffer.h)\n");
    EXPECT_EQ(check("runtime/abi/a.c", "#include <stdint.h>\n#include <pthread.h>\n"),
              "runtime/abi/a.c:3: runtime/abi may include C standard headers only, "
              "not <pthread.h>\n");
}

TEST(Includes, DownstreamSeesPublicHeadersOnly) {
    EXPECT_EQ(check("apps/blur/main.cpp", "#include <calotype/calotype.h>\n#include \"blur.h\"\n"),
              "");
    EXPECT_EQ(check("test/pipelines/a.cpp",
                    "#include \"calotype.h\"\n#include \"harness/check.h\"\n"
                    "#include \"pipelines/common.h\"\n"),
              "");
    EXPECT_EQ(check("test/pipelines/a.cpp", "#include \"ir/expr.h\"\n"),
              "test/pipelines/a.cpp:2: test/pipelines may not include ir (ir/expr.h)\n");
    EXPECT_EQ(check("generators/a.cpp", "#include \"lower/lower.h\"\n"),
              "generators/a.cpp:2: generators may not include lower (lower/lower.h)\n");
}

TEST(Includes, PathsInTheCompilerBeginWithALayer) {
    EXPECT_EQ(check("src/ir/expr.cpp", "#include \"expr.h\"\n"),
              "src/ir/expr.cpp:2: include \"expr.h\" does not begin with a layer\n");
    EXPECT_EQ(check("src/ir/expr.cpp", "#include \"../lang/func.h\"\n"),
              "src/ir/expr.cpp:2: include \"../lang/func.h\" does not begin with a layer\n");
    EXPECT_EQ(check("src/misc/a.cpp", ""), "src/misc/a.cpp:1: no layer is named misc\n");
}

TEST(Caps, FilesAndFolders) {
    const Caps caps{4, 6, 100, 40};
    EXPECT_EQ(check("src/ir/a.h", "#pragma once\n\n\n", caps), "");
    EXPECT_EQ(check("src/ir/a.h", "#pragma once\n\n\n\n", caps),
              "src/ir/a.h:5: header has 5 lines, at most 4\n");
    EXPECT_EQ(check("src/ir/a.cpp", repeat("\n", 5), caps), "");
    EXPECT_EQ(check("src/ir/a.cpp", repeat("\n", 6), caps),
              "src/ir/a.cpp:7: source has 7 lines, at most 6\n");
    EXPECT_EQ(check("src/ir/a.def", repeat("ROW\n", 5000)), "");
    EXPECT_TRUE(check_folder("src/ir", 40).empty());
    EXPECT_EQ(check_folder("src/ir", 41),
              (std::vector<Violation>{{"src/ir", 0, "folder has 41 files, at most 40"}}));
}

TEST(Caps, Readmes) {
    EXPECT_TRUE(check_readme("src/ir", 5).empty());
    EXPECT_TRUE(check_readme("src/ir", 15).empty());
    EXPECT_EQ(check_readme("src/ir", 16),
              (std::vector<Violation>{{"src/ir/README.md", 0,
                                       "the README of a folder has 16 lines, must have 5 to 15"}}));
    EXPECT_EQ(check_readme("src/ir/text", 0),
              (std::vector<Violation>{{"src/ir/text/README.md", 0,
                                       "the README of a folder has 0 lines, must have 5 to 15"}}));
}

TEST(Caps, Functions) {
    Caps caps;
    caps.function_lines = 3;
    EXPECT_EQ(check("test/a.cpp", "int f() {\n    return 1;\n}\n", caps), "");
    EXPECT_EQ(check("test/a.cpp", "int f(int x,\n      int y) {\n    return 1;\n}\n", caps),
              "test/a.cpp:2: function has 4 lines, at most 3: int f(int x, int y) \n");
    EXPECT_EQ(check("test/a.cpp", "struct A {\n    int a;\n    void f() const {\n\n\n\n    }\n};\n",
                    caps),
              "test/a.cpp:4: function has 5 lines, at most 3: void f() const \n");
    EXPECT_EQ(check("test/a.cpp", "namespace a {\n\n\n\n\n}\nint x[] = {\n1,\n2,\n3,\n};\n", caps),
              "");
}

TEST(Names, AreMadeInOnePlace) {
    const std::string own = "std::string n = f + \".min\";\n",
                      fresh = "std::string n = ctx.names.unique(f + \".min\");\n";
    EXPECT_EQ(check("src/lower/nest/a.cpp", own),
              "src/lower/nest/a.cpp:2: names are made by lower/names.h\n");
    EXPECT_EQ(check("src/lower/nest/a.cpp", fresh), "");
    EXPECT_EQ(check("src/lower/names.cpp", own), "");
    EXPECT_EQ(check("src/driver/a.cpp", own), "");
}

TEST(Preamble, LicenceAndGuard) {
    EXPECT_EQ(check_file("src/ir/a.cpp", "int x;\n"),
              (std::vector<Violation>{
                  {"src/ir/a.cpp", 1, "the first line must be the SPDX licence line"}}));
    EXPECT_EQ(check("src/ir/a.h", "int f();\n"), "src/ir/a.h:1: header without #pragma once\n");
}

TEST(Links, FollowTheSameTable) {
    EXPECT_TRUE(
        check_links("src/ir/CMakeLists.txt", "calotype_layer(ir LINK calotype_support)").empty());
    EXPECT_EQ(check_links("src/ir/CMakeLists.txt", "calotype_layer(ir\n  LINK calotype_lang)"),
              (std::vector<Violation>{{"src/ir/CMakeLists.txt", 2, "ir may not link lang"}}));
    EXPECT_EQ(
        check_links("src/driver/CMakeLists.txt", "LINK calotype_llvm"),
        (std::vector<Violation>{{"src/driver/CMakeLists.txt", 1, "driver may not link llvm"}}));
}

TEST(SourceText, BlanksKeepTheLines) {
    EXPECT_EQ(blank_out("a // {\nb /* {\n{ */ c"), "a     \nb     \n     c");
    EXPECT_EQ(blank_out("x = \"{\\\"{\" + '{';"), "x =        +    ;");
    EXPECT_EQ(blank_out("R\"q({)\" {)q\" }"), "             }");
    EXPECT_EQ(blank_out("#define A { \\\n   {\nb"), "             \n    \nb");
    EXPECT_EQ(blank_out("1'000'000 {"), "1'000'000 {");
}

TEST(SourceText, IncludesInCommentsDoNotCountButDisabledOnesDo) {
    const auto found = find_includes("// #include \"a.h\"\n#if 0\n# include <b/c.h>\n#endif\n");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].line, 3);
    EXPECT_EQ(found[0].path, "b/c.h");
    EXPECT_TRUE(found[0].angled);
}

TEST(SourceText, FindsFunctionsOfEveryKind) {
    const auto found = find_functions("template<typename T>\nstruct S {\n"
                                      "    S() : a{1}, b(2) {}\n"
                                      "    bool operator<(const S &) const { return 0; }\n"
                                      "};\n"
                                      "static struct calotype_x f(void) {\n}\n"
                                      "auto x = [] { return 1; };\n"
                                      "TEST(A, B) {\n    if (1) {\n    }\n}\n"
                                      "extern \"C\" {\nvoid g() {\n}\n}\n");
    std::string heads;
    for (const FunctionExtent &f : found) {
        heads += std::to_string(f.line) + "+" + std::to_string(f.lines) + " ";
    }
    // A constructor with a braced member is seen in two parts.
    EXPECT_EQ(heads, "3+1 3+1 4+1 6+2 9+4 14+2 ");
}

}  // namespace
}  // namespace layering
