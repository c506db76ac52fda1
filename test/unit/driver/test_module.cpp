// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules, and the members of Func and Pipeline that write files.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "codegen/emit.h"
#include "driver/module.h"
#include "driver/output_plan.h"
#include "harness/expect_error.h"
#include "harness/names_in.h"
#include "harness/warnings.h"
#include "ir/constants.h"
#include "ir/printer.h"
#include "ir/stmt_nodes.h"
#include "ir/visitor.h"
#include "lang/language.h"
#include "lower/lower.h"
#include "support/file.h"
#include "support/text.h"

namespace calotype {

using namespace internal;

namespace {

using internal::read_file;
using internal::read_static_library;
using internal::TemporaryDirectory;
using test::names_in;

Var x("x"), y("y");
const Target host = get_host_target().with_feature(Target::NoRuntime);

using Names = std::vector<std::string>;

class Files : public ::testing::Test {
protected:
    Files() : f("f"), p("p") {
        f(x, y) = x + y * p;
    }
    std::string path(const std::string &name) const {
        return dir.path() + "/" + name;
    }
    TemporaryDirectory dir;
    Func f;
    Param<int> p;
};

TEST_F(Files, none_is_left_when_one_cannot_be_written) {
    const std::string nowhere = path("no/such/folder/a.o");
    const internal::FileContents files = {{path("a.h"), "text"}, {nowhere, "bytes"}};
    EXPECT_COMPILE_ERROR(internal::write_files_together(files),
                         "cannot write " + nowhere + ".partial: No such file or directory");
    EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST_F(Files, estimates_of_an_output_stay_in_their_dimensions) {
    f.set_estimate(y, 0, 48);
    const Module m = f.compile_to_module({p}, "f", host);
    const Region &region = m.functions()[0].args.back().argument_estimates.buffer_estimates;
    ASSERT_EQ(2u, region.size());
    EXPECT_FALSE(region[0].min.defined() || region[0].extent.defined());
    EXPECT_TRUE(is_const(region[1].min, 0) && is_const(region[1].extent, 48));
}

TEST_F(Files, OneOfEachKind) {
    const std::vector<Argument> args = {p};
    f.compile_to_object(path("f.o"), args, "f", host);
    f.compile_to_assembly(path("f.s"), args, "f", host);
    f.compile_to_bitcode(path("f.bc"), args, "f", host);
    f.compile_to_llvm_assembly(path("f.ll"), args, "f", host);
    f.compile_to_header(path("f.h"), args, "f", host);
    f.compile_to_c(path("f.cpp"), args, "f", host);
    f.compile_to_lowered_stmt(path("f.stmt"), args, Text, host);
    EXPECT_EQ(read_file(path("f.o")).substr(0, 4), "\177ELF");
    EXPECT_EQ(read_file(path("f.bc")).substr(0, 2), "BC");
    EXPECT_NE(read_file(path("f.s")).find("f:"), std::string::npos);
    EXPECT_NE(read_file(path("f.ll")).find("define"), std::string::npos);
    EXPECT_NE(read_file(path("f.h")).find("int f(int32_t _p, struct calotype_buffer_t *"),
              std::string::npos)
        << read_file(path("f.h"));
    EXPECT_NE(read_file(path("f.stmt")).find("produce"), std::string::npos);
    EXPECT_NE(read_file(path("f.cpp")).find("int f("), std::string::npos);
}

TEST_F(Files, TheConceptualStatementHasFuncsAndTheirValues) {
    const Var i("i");
    Func pairs("pairs"), sums("sums");
    pairs(i) = Tuple(i, p);
    pairs.compute_root();
    sums(i) = pairs(i)[0] + pairs(i + 1)[1];
    sums.compile_to_conceptual_stmt(path("f.txt"), {p}, Text, host);
    sums.compile_to_conceptual_stmt(path("f.html"), {p}, HTML, host);
    sums.compile_to_lowered_stmt(path("f.stmt"), {p}, Text, host);
    const std::string text = read_file(path("f.txt"));
    EXPECT_NE(text.find("realize pairs("), std::string::npos) << text;
    EXPECT_NE(text.find("pairs(pairs.s0.i) = {pairs.s0.i, " + p.name() + "}"), std::string::npos)
        << text;
    EXPECT_NE(text.find("sums(sums.s0.i) = pairs(sums.s0.i) + pairs(sums.s0.i + 1).1"),
              std::string::npos)
        << text;
    EXPECT_EQ(read_file(path("f.stmt")).find("<span class=\"k\">realize</span> pairs"),
              std::string::npos);
    EXPECT_NE(read_file(path("f.html")).find("<span class=\"k\">realize</span> pairs"),
              std::string::npos)
        << read_file(path("f.html"));
}

TEST_F(Files, APageForABrowser) {
    f.parallel(y);
    f.compile_to_lowered_stmt(path("f.html"), {p}, HTML, host);
    const std::string page = read_file(path("f.html"));
    const auto count = [&](const std::string &part) {
        int n = 0;
        for (size_t at = page.find(part); at != std::string::npos; at = page.find(part, at + 1)) {
            n++;
        }
        return n;
    };
    EXPECT_GE(count("<details"), 3);
    EXPECT_EQ(count("<details"), count("</details>"));
    EXPECT_EQ(count("<span"), count("</span>"));
    EXPECT_EQ(count("<span class=\"k\">parallel</span>"), 1);
    EXPECT_EQ(count(" < "), 0);
}

TEST_F(Files, FilesThatBelongTogether) {
    f.compile_to_file(path("a"), {p}, "a", host);
    EXPECT_EQ(names_in(dir.path()), (Names{"a.h", "a.o"}));
    f.compile_to_static_library(path("b"), {p}, "b", host);
    EXPECT_EQ(names_in(dir.path()), (Names{"a.h", "a.o", "b.a", "b.h"}));
}

TEST_F(Files, ALibraryHoldsTheRuntimeUnlessItIsTold) {
    f.compile_to_static_library(path("bare"), {p}, "f", host);
    f.compile_to_static_library(path("whole"), {p}, "f", get_host_target());
    EXPECT_EQ(read_static_library(read_file(path("bare.a"))).size(), 1u);
    const auto members = read_static_library(read_file(path("whole.a")));
    EXPECT_GT(members.size(), 10u);
    EXPECT_EQ(members[0].first, "f.o");
    bool has_pool = false;
    for (const auto &member : members) {
        has_pool = has_pool || internal::starts_with(member.first, "thread_pool");
        EXPECT_EQ(member.second.substr(0, 4), "\177ELF") << member.first;
    }
    EXPECT_TRUE(has_pool);
}

TEST_F(Files, LibrariesForOtherMachinesHaveNoRuntime) {
    Warnings warnings;
    f.compile_to_static_library(path("other"), {p}, "f", Target("arm-64-linux"));
    EXPECT_EQ(read_static_library(read_file(path("other.a"))).size(), 1u);
    ASSERT_EQ(warnings.texts.size(), 1u);
    EXPECT_EQ(warnings.texts[0],
              "the static library for target arm-64-linux has no runtime, as this build of the "
              "compiler carries none for it: the program must link one");
}

TEST_F(Files, NamesThatTheFuncGivesAreThoseOfC) {
    const Func first("same");
    Func second("same");
    second(x) = x + p;
    std::string name = second.name();
    ASSERT_NE(name.find('$'), std::string::npos);
    std::replace(name.begin(), name.end(), '$', '_');
    second.compile_to_static_library(path("one"), {p}, "", host);
    second.compile_to_multitarget_static_library(
        path("two"), {p},
        {Target("x86-64-linux-avx2-no_runtime"), Target("x86-64-linux-no_runtime")});
    for (const char *header : {"one.h", "two.h"}) {
        EXPECT_NE(read_file(path(header)).find("int " + name + "("), std::string::npos) << header;
    }
}

TEST_F(Files, SeveralTargets) {
    Func several("several");
    several(x) = x + p;
    const std::vector<Target> targets = {Target("x86-64-linux-avx2-no_runtime"),
                                         Target("x86-64-linux-no_runtime")};
    several.compile_to_multitarget_static_library(path("many"), {p}, targets);
    EXPECT_EQ(names_in(dir.path()), (Names{"many.a", "many.h"}));
    Names members;
    for (const auto &member : read_static_library(read_file(path("many.a")))) {
        members.push_back(member.first);
    }
    // The function has the Func's name, whatever the files are called.
    EXPECT_EQ(members, (Names{"several_x86___64___linux___avx2___no_runtime.o",
                              "several_x86___64___linux___no_runtime.o", "several_wrapper.o"}));
    several.compile_to_multitarget_object_files(path("m"), {p}, targets, {"new", "old"});
    EXPECT_EQ(names_in(dir.path()),
              (Names{"m-new.o", "m-old.o", "m.h", "m_wrapper.o", "many.a", "many.h"}));
    const std::string header = read_file(path("m.h"));
    for (const char *declared : {"int several(", "int several_new(", "int several_old("}) {
        EXPECT_NE(header.find(declared), std::string::npos) << declared;
    }
    EXPECT_EQ(header.find("several_new_argv"), std::string::npos);
    EXPECT_COMPILE_ERROR(
        several.compile_to_multitarget_object_files(path("m"), {p}, targets, {"new"}),
        "2 targets have 1 suffixes");
}

TEST_F(Files, SeveralTargetsWithTheRuntime) {
    Func several;
    several(x) = x + p;
    several.compile_to_multitarget_object_files(
        path("m"), {p}, {Target("host-no_asserts"), Target("host")}, {"bold", "careful"});
    EXPECT_EQ(names_in(dir.path()),
              (Names{"m-bold.o", "m-careful.o", "m.h", "m_runtime.o", "m_wrapper.o"}));
    EXPECT_TRUE(starts_with(read_file(path("m_runtime.o")), "\177ELF"));
}

TEST_F(Files, OneOfSeveralTargets) {
    Func several("the_only");
    several(x) = x + p;
    several.compile_to_multitarget_object_files(path("m"), {p}, {host}, {"only"});
    EXPECT_EQ(names_in(dir.path()), (Names{"m.h", "m.o"}));
    EXPECT_NE(read_file(path("m.h")).find("int the_only("), std::string::npos);
}

// An extern stage whose linkage is left open is called as the pipeline is.
TEST_F(Files, LinkageOfExternStages) {
    const auto assembly = [&](const Target &target, NameMangling mangling) {
        Func stage("stage"), g("g");
        stage.define_extern("outer::work", {f, Expr(2.0f)}, Int(32), {x, y}, mangling);
        f.compute_root();
        g(x, y) = stage(x, y);
        stage.compute_root();
        g.compile_to_llvm_assembly(path("g.ll"), {p}, "g", target);
        return read_file(path("g.ll"));
    };
    const std::string cpp = "@_ZN5outer4workEP17calotype_buffer_tfS1_(";
    const Target mangled = host.with_feature(Target::CPlusPlusMangling);
    EXPECT_NE(assembly(mangled, NameMangling::Default).find(cpp), std::string::npos);
    EXPECT_NE(assembly(host, NameMangling::CPlusPlus).find(cpp), std::string::npos);
    EXPECT_EQ(assembly(host, NameMangling::Default).find(cpp), std::string::npos);
    EXPECT_EQ(assembly(mangled, NameMangling::C).find(cpp), std::string::npos);
}

TEST_F(Files, WhatAnAutoschedulerSays) {
    const Module m = f.compile_to_module({p}, "f", host);
    EXPECT_EQ(m.get_auto_scheduler_results(), nullptr);
    const std::map<OutputFileType, std::string> outputs = {
        {OutputFileType::schedule, path("f.schedule.h")},
        {OutputFileType::featurization, path("f.featurization")}};
    m.compile(outputs);
    EXPECT_EQ(read_file(path("f.schedule.h")), "// No autoscheduler has written a schedule.\n");
    EXPECT_EQ(read_file(path("f.featurization")), "");

    AutoSchedulerResults results;
    results.schedule_source = "f.vectorize(x, 4);\n";
    results.featurization = {1, 0, 2};
    Module said = f.compile_to_module({p}, "f", host);
    said.set_auto_scheduler_results(results);
    EXPECT_EQ(said.get_auto_scheduler_results()->featurization.size(), 3u);
    said.compile(outputs);
    EXPECT_EQ(read_file(path("f.schedule.h")), "f.vectorize(x, 4);\n");
    EXPECT_EQ(read_file(path("f.featurization")), std::string("\1\0\2", 3));
    const auto module_of = [&](const std::string &, const Target &) {
        return said;
    };
    compile_multitarget("f", outputs, {host, host.with_feature(Target::NoAsserts)}, {"a", "b"},
                        module_of);
    EXPECT_EQ(read_file(path("f.schedule.h")), "f.vectorize(x, 4);\n");
    EXPECT_EQ(read_file(path("f-b.featurization")), std::string("\1\0\2", 3));
}

TEST_F(Files, Mistakes) {
    EXPECT_COMPILE_ERROR(f.compile_to_object(path("f.o"), {}, "f", host),
                         "pipeline f uses parameter p, which is not in its list of arguments");
    EXPECT_COMPILE_ERROR(f.compile_to({{OutputFileType::cpp_stub, path("f")}}, {p}, "f", host),
                         "emit type 'cpp_stub' cannot be made by this build of the compiler");
    EXPECT_EQ(names_in(dir.path()), Names());
}

TEST_F(Files, EmbeddedBuffersTravelInTheObject) {
    Buffer<int32_t, 1> table(64, "table");
    table.for_each_element([&](int i) { table(i) = 0x12340000 + i; });
    Func g("g");
    g(x) = table(x);
    g.compile_to_object(path("g.o"), {}, "g", host);
    EXPECT_NE(read_file(path("g.o")).find(std::string("\5\0\x34\x12\6\0\x34\x12", 8)),
              std::string::npos);
}

// ---- Module ----

TEST(Modules, Functions) {
    Func f("f");
    f(x) = x;
    const Module m = f.compile_to_module({}, "a::f", host);
    EXPECT_EQ(m.name(), "a::f");
    EXPECT_EQ(m.target(), host);
    EXPECT_EQ(m.get_function_by_name("a::f").args.size(), 1u);
    EXPECT_COMPILE_ERROR(m.get_function_by_name("a::g"),
                         "module a::f has no function a::g, did you mean 'a::f'?");
}

TEST(Modules, Linked) {
    Func f("f"), g("g");
    f(x) = x;
    g(x) = x * 2;
    const Module a = f.compile_to_module({}, "first", host),
                 b = g.compile_to_module({}, "second", host);
    const Module both = link_modules("both", {a, b});
    EXPECT_EQ(both.functions().size(), 2u);
    const std::string object = both.compile_to_object_bytes();
    EXPECT_NE(object.find("first"), std::string::npos);
    EXPECT_NE(object.find("second"), std::string::npos);
    const Module other = g.compile_to_module({}, "other", Target("x86-64-linux"));
    EXPECT_COMPILE_ERROR(link_modules("both", {a, other}),
                         "module other is for target x86-64-linux, module first for " +
                             host.to_string());
    EXPECT_COMPILE_ERROR(link_modules("none", {}), "no modules to link");
}

TEST(Modules, Submodules) {
    Func f("f");
    f(x) = x;
    Module outer("outer", host);
    outer.append(f.compile_to_module({}, "inner", host));
    EXPECT_EQ(outer.functions().size(), 0u);
    EXPECT_EQ(outer.submodules().size(), 1u);
    EXPECT_EQ(outer.resolve_submodules().functions().size(), 1u);
    EXPECT_COMPILE_ERROR(outer.append(outer),
                         "module outer is appended to outer, which is the same");
    Module inner = outer.submodules()[0];
    EXPECT_COMPILE_ERROR(inner.append(outer),
                         "module outer is appended to inner, which is a part of it");
}

// ---- print_loop_nest ----

TEST(LoopNest, ShowsTheSchedule) {
    Func f("f_nest"), g("g_nest");
    Var xi("xi"), yi("yi");
    g(x, y) = x + y;
    f(x, y) = g(x, y) + g(x, y + 1);
    f.tile(x, y, xi, yi, 8, 4).vectorize(xi).parallel(y);
    g.compute_at(f, x).store_in(MemoryType::Stack);
    const PipelineSource source = Pipeline(f).source("f", {});
    EXPECT_EQ(print_loop_nest(source, host), "produce f_nest:\n"
                                             "  parallel y:\n"
                                             "    for x:\n"
                                             "      store g_nest in stack:\n"
                                             "        produce g_nest:\n"
                                             "          for y:\n"
                                             "            for x:\n"
                                             "              g_nest(...) = ...\n"
                                             "        consume g_nest:\n"
                                             "          for yi in [0, 3]:\n"
                                             "            vectorized xi in [0, 7]:\n"
                                             "              f_nest(...) = ...\n");
}

TEST(LoopNest, ShowsWhereStorageIsAllocated) {
    Func f("f_hoist"), g("g_hoist");
    g(x, y) = x + y;
    f(x, y) = g(x, y) + g(x, y + 1);
    g.compute_at(f, x).hoist_storage(f, y);
    const PipelineSource source = Pipeline(f).source("f", {});
    EXPECT_EQ(print_loop_nest(source, host), "produce f_hoist:\n"
                                             "  for y:\n"
                                             "    allocate g_hoist:\n"
                                             "      for x:\n"
                                             "        produce g_hoist:\n"
                                             "          for y:\n"
                                             "            for x:\n"
                                             "              g_hoist(...) = ...\n"
                                             "        consume g_hoist:\n"
                                             "          f_hoist(...) = ...\n");
}

// ---- what a module holds ----

TEST(Modules, SayWhatTheirKernelsAre) {
    Func f("kernels");
    Var xi("xi");
    f(x) = x;
    f.gpu_tile(x, xi, 8);
    const Module cuda =
        f.compile_to_module({}, "kernels", Target("x86-64-linux-cuda-cuda_capability_80"));
    const Buffer<> ptx = cuda.get_cuda_ptx_assembly_buffer();
    ASSERT_TRUE(ptx.defined());
    const std::string text(static_cast<const char *>(ptx.data()), size_t(ptx.width()));
    EXPECT_NE(text.find(".visible .entry"), std::string::npos);
    EXPECT_TRUE(cuda.get_device_code_buffer().defined());

    const Module opencl = f.compile_to_module({}, "kernels", Target("x86-64-linux-opencl"));
    EXPECT_FALSE(opencl.get_cuda_ptx_assembly_buffer().defined());
    EXPECT_TRUE(opencl.get_device_code_buffer().defined());

    Func g("no_kernels");
    g(x) = x;
    const Module plain = g.compile_to_module({}, "no_kernels", host);
    EXPECT_FALSE(plain.get_cuda_ptx_assembly_buffer().defined());
    EXPECT_FALSE(plain.get_device_code_buffer().defined());
}

TEST(Modules, HaveAConceptualStatement) {
    Func f("conceptual");
    f(x) = x;
    Module m = f.compile_to_module({}, "conceptual", host);
    EXPECT_NE(to_string(m.get_conceptual_stmt()).find("conceptual(conceptual.s0.x) = "),
              std::string::npos)
        << to_string(m.get_conceptual_stmt());
    const Stmt nothing = internal::Evaluate::make(0);
    m.set_conceptual_code_stmt(nothing);
    EXPECT_TRUE(m.get_conceptual_stmt().same_as(nothing));
    Module empty("empty", host);
    EXPECT_FALSE(empty.get_conceptual_stmt().defined());
    EXPECT_COMPILE_ERROR(empty.set_conceptual_code_stmt(nothing), "module empty has no function");
}

// ---- archives ----

TEST(Archives, WhatIsNone) {
    EXPECT_COMPILE_ERROR(read_static_library("text"),
                         "not a static library: file too small to be an archive");
    EXPECT_COMPILE_ERROR(internal::standalone_runtime(Target("arm-64-linux")),
                         "this build of the compiler carries no runtime for arm-64-linux");
}

// With and without checks of what is given, code counts on what constraints say.
TEST(Constraints, HoldWithoutAssertsToo) {
    for (const char *features : {"", "-no_asserts", "-no_asserts-no_bounds_query"}) {
        ImageParam in(Float(32), 2, "in");
        Var x("x"), y("y");
        Func f("f");
        f(x, y) = in(x, y);
        f.vectorize(x, 8);
        in.dim(0).set_min(0);
        f.output_buffer().dim(0).set_min(0);
        const Module m =
            f.compile_to_module({in}, "f", Target(std::string("x86-64-linux") + features));
        struct Loads : GraphVisitor {
            using GraphVisitor::visit;
            void visit(const internal::Load *op) override {
                if (op->name == "in" && op->type.lanes() == 8) {
                    const auto *ramp = op->index.as<internal::Ramp>();
                    dense += ramp && is_const_one(ramp->stride);
                    loads++;
                }
                GraphVisitor::visit(op);
            }
            int loads = 0, dense = 0;
        } found;
        found(m.functions()[0].body);
        EXPECT_GT(found.loads, 0) << features;
        EXPECT_EQ(found.dense, found.loads) << features;
    }
}

}  // namespace
}  // namespace calotype
