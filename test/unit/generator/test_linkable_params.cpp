// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linkables as parameters of generators: on the command line, in C++, in stubs.
#include <gtest/gtest.h>

#include <sstream>

#include "calotype.h"
#include "generator/cli/run.h"
#include "generator/cpp_stub.h"
#include "generator/registry.h"
#include "harness/expect_error.h"
#include "harness/linkable_files.h"

namespace calotype {

using namespace internal;

namespace {

using namespace test;
using internal::create_generator;

Linkable code(const std::string &name) {
    return Linkable::from_bytes(CALOTYPE_PTX, ptx("sm_80", name), name);
}

struct Result {
    int code;
    std::string out, err;
};

Result run(const std::vector<std::string> &args) {
    std::ostringstream out, err;
    const int code = internal::generator_main(args, out, err);
    return {code, out.str(), err.str()};
}

/// The error of a run of generator `linked`.
std::string error_with(std::vector<std::string> params) {
    internal::TemporaryDirectory dir;
    params.insert(params.end(), {"-g", "linked", "-o", dir.path(), "-e", "stmt", "target=host"});
    return run(params).err;
}

std::vector<std::string> declared(const std::string &name,
                                  const std::map<std::string, std::string> &params) {
    const auto g = create_generator(name, GeneratorContext(Target("x86-64-linux")));
    g->set_params(params);
    std::vector<std::string> names;
    for (const Linkable &l : g->build_source("f").linkables) {
        names.push_back(l.name());
    }
    return names;
}

using Names = std::vector<std::string>;

TEST(LinkableParams, AreDeclaredInOrder) {
    LinkableFolder dir;
    const std::string a = dir.add("a.ptx", ptx()), b = dir.add("b.cubin", cubin());
    EXPECT_EQ(declared("linked", {{"rng", a}}), (Names{"a", "tone"}));
    EXPECT_EQ(declared("linked", {{"rng", a + ";name=r"},
                                  {"tone", b},
                                  {"extra", a},
                                  {"more", b + ";name=m," + b + ";name=n"}}),
              (Names{"r", "b", "a", "m", "n"}));
    EXPECT_EQ(declared("linked", {{"rng", a}, {"extra", ""}, {"more", ""}}), (Names{"a", "tone"}));
}

TEST(LinkableParams, OnTheCommandLine) {
    LinkableFolder dir;
    const std::string path = dir.add("r=1.ptx", ptx());
    internal::TemporaryDirectory out;
    const Result r = run({"-g", "linked", "-o", out.path(), "-e", "stmt", "target=x86-64-linux",
                          "rng=" + path + ";setup=rng_setup;teardown=rng_teardown;nrt;lto=require",
                          "tone=;setup=t;pin=1"});
    EXPECT_EQ(r.err, "");
    EXPECT_EQ(r.code, 0);
    EXPECT_NE(internal::read_file(out.path() + "/linked.stmt").find("extern abs("),
              std::string::npos);
}

TEST(LinkableParams, Errors) {
    LinkableFolder dir;
    const std::string a = dir.add("a.ptx", ptx()), wrong = dir.add("b.cubin", ptx());
    const std::string b = dir.add("b.ptx", ptx("sm_90"));
    EXPECT_EQ(error_with({}), "error: generator parameter 'rng': it is not set, and has no "
                              "default: it takes a linkable\n");
    EXPECT_EQ(error_with({"rng="}), "error: generator parameter 'rng': '' gives 0 linkables, it "
                                    "takes one\n");
    EXPECT_EQ(error_with({"rng=" + a + "," + a}), "error: generator parameter 'rng': '" + a + "," +
                                                      a + "' gives 2 linkables, it takes one\n");
    EXPECT_EQ(error_with({"rng=" + dir.path("none.ptx")}),
              "error: generator parameter 'rng': linkable file '" + dir.path("none.ptx") +
                  "' does not exist\n");
    EXPECT_EQ(error_with({"rng=" + wrong}),
              "error: generator parameter 'rng': linkable file '" + wrong +
                  "' holds PTX, must hold a cubin because of its extension '.cubin'\n");
    EXPECT_EQ(error_with({"rng=" + a + ";stup=f"}),
              "error: generator parameter 'rng': linkable 'a': key 'stup' is not known, did you "
              "mean 'setup'?\n");
    EXPECT_EQ(error_with({"mores=" + a}),
              "error: generator 'linked' has no parameter 'mores', did you "
              "mean 'more'?\n");
    EXPECT_EQ(error_with({"rng=" + a + ";after=tone", "tone=;setup=s;name=tone;after=a"}),
              "error: linkables come after each other in a cycle: 'a' (parameter rng, " + a +
                  ") after 'tone' (parameter tone) after 'a' (parameter rng, " + a + ")\n");
    EXPECT_EQ(error_with({"rng=" + a + ";after=ton"}),
              "error: linkable 'a' (parameter rng, " + a +
                  ") comes after 'ton', which is not a linkable of the pipeline, did you mean "
                  "'tone'?\n");
    EXPECT_EQ(error_with({"rng=" + a, "more=" + b + ";name=a"}),
              "error: two linkables of the pipeline are named 'a': 'a' (parameter rng, " + a +
                  ") and 'a' (parameter more, " + b + "); name= gives one another\n");
}

TEST(LinkableParams, Help) {
    const std::string help = run({"--help", "-g", "linked"}).out;
    for (const char *line :
         {"  rng                   linkable   FILE[;KEY=VALUE...], docs/linkables.md says more\n",
          "  tone                  linkable   default ;name=tone;setup=tone_setup\n",
          "  more                  linkables  FILE[;KEY=VALUE...], docs/linkables.md says "
          "more\n"}) {
        EXPECT_NE(help.find(line), std::string::npos) << help;
    }
}

TEST(LinkableParams, InCpp) {
    const Target target = get_jit_target_from_environment();
    const auto g = create_generator("linked", GeneratorContext(target));
    g->set_param("rng", code("r"));
    g->set_param("extra", code("e"));
    g->set_param("more", std::vector<Linkable>());
    Pipeline p = g->build_pipeline();
    int (*const extra)(int) = [](int x) {
        return x + 1000;
    };
    p.set_jit_externs({{"extra_value", JITExtern(extra)}});
    Buffer<int32_t> out = p.realize({8});
    EXPECT_EQ(out(1), 2 + 1001);
    EXPECT_COMPILE_ERROR(g->set_param("rng", code("s")),
                         "generator parameter 'rng': it is set too late, the generator has read "
                         "it");
    const auto other = create_generator("linked", GeneratorContext(target));
    EXPECT_COMPILE_ERROR(other->set_param("mores", std::vector<Linkable>()),
                         "generator 'linked' has no list of Linkables parameter 'mores', did you "
                         "mean 'more'?");
    EXPECT_COMPILE_ERROR(other->set_param("more", code("a")),
                         "generator 'linked' has no Linkable parameter 'more', did you mean "
                         "'more'?");
    EXPECT_COMPILE_ERROR(other->set_param("more", std::vector<Linkable>(1)),
                         "generator parameter 'more': it is set to an undefined linkable");
    other->set_param("rng", Linkable());
    EXPECT_COMPILE_ERROR(other->build_pipeline(), "generator parameter 'rng': it is not set, and "
                                                  "has no default: it takes a linkable");
}

TEST(LinkableParams, InCallables) {
    LinkableFolder dir;
    const std::string path = dir.add("a.ptx", ptx());
    const Callable c = create_callable_from_generator(get_jit_target_from_environment(), "linked",
                                                      {{"rng", path}});
    Buffer<int32_t, 1> out(4);
    EXPECT_EQ(c(out), 0);
    EXPECT_EQ(out(0), 3);
}

class LateDefault : public Generator<LateDefault> {
public:
    LinkableParam missing{"missing", "no/such.bc"};
    LinkableListParam list{"list", {code("a"), code("b")}};
    Output<Buffer<int32_t, 1>> output{"output"};
    void generate() {
        Var x("x");
        output(x) = x;
    }
};

TEST(LinkableParams, Defaults) {
    const GeneratorContext context{Target("x86-64-linux")};
    const auto g = context.create<LateDefault>();
    EXPECT_EQ(g->missing.to_string(), "no/such.bc");
    EXPECT_EQ(g->list.to_string(), "a,b");
    EXPECT_EQ(g->list.size(), 2u);
    EXPECT_EQ(g->list[1].name(), "b");
    EXPECT_COMPILE_ERROR(g->list[2],
                         "generator parameter 'list' has 2 linkables, number 2 is asked "
                         "for");
    EXPECT_COMPILE_ERROR(g->missing.value(), "generator parameter 'missing': linkable file "
                                             "'no/such.bc' does not exist");
    g->missing = code("there");
    g->list = std::vector<Linkable>{};
    EXPECT_TRUE(g->list.empty());
    EXPECT_EQ(Linkable(g->missing).name(), "there");
    EXPECT_EQ(g->build_source("f").linkables.size(), 1u);
}

TEST(LinkableParams, Stub) {
    const std::string stub = internal::cpp_stub_text("linked");
    for (const char *part : {"        calotype::Linkable rng{};\n",
                             "        std::vector<calotype::Linkable> more{};\n",
                             "        if (params.rng.defined()) {\n"
                             "            generator->set_param(\"rng\", params.rng);\n",
                             "        if (!params.more.empty()) {\n"}) {
        EXPECT_NE(stub.find(part), std::string::npos) << stub;
    }
}

/// CUDA's integer abs as a function.
std::string abs_ptx(const std::string &comment) {
    return "// " + comment + R"(
.version 7.0
.target sm_50
.address_size 64
.visible .func (.param .b32 r) abs(.param .b32 a) {
    .reg .b32 %v;
    ld.param.b32 %v, [a];
    abs.s32 %v, %v;
    st.param.b32 [r], %v;
    ret;
}
)";
}

// The file's name and all else are the same: a cache that keyed on them would give the old object.
TEST(LinkableParams, ChangedBytesGiveAnotherObject) {
    LinkableFolder dir;
    internal::TemporaryDirectory cache;
    setenv("CT_CACHE_DIR", cache.path().c_str(), 1);
    auto object = [&](const std::string &bytes, const std::string &keys) {
        const std::string path = dir.add("rng.ptx", bytes);
        internal::TemporaryDirectory out;
        const Result r = run({"-g", "linked", "-o", out.path(), "-e", "object",
                              "target=x86-64-linux-cuda-cuda_capability_80", "rng=" + path + keys});
        EXPECT_EQ(r.code, 0) << r.err;
        return internal::read_file(out.path() + "/linked.o");
    };
    const std::string first = object(abs_ptx("1"), ""), second = object(abs_ptx("2"), "");
    EXPECT_NE(first, second);
    EXPECT_EQ(first, object(abs_ptx("1"), ""));
    const std::string with_setup = object(abs_ptx("1"), ";setup=rng_setup");
    EXPECT_NE(first, with_setup);
    EXPECT_NE(with_setup.find("rng_setup"), std::string::npos);
    unsetenv("CT_CACHE_DIR");
}

}  // namespace
}  // namespace calotype
