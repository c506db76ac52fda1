// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linkables on their way through a compilation: where calls stay, what each module links, keys.
#include <gtest/gtest.h>

#include <atomic>

#include "driver/compile_job.h"
#include "driver/jit_handlers.h"
#include "driver/module.h"
#include "harness/expect_error.h"
#include "harness/linkable_files.h"
#include "ir/visitor.h"
#include "lang/language.h"
#include "support/text.h"

namespace calotype {

using namespace internal;
namespace {

using namespace test;

Var x("x"), y("y"), xi("xi"), yi("yi");
using Names = std::vector<std::string>;

Linkable code(const std::string &name) {
    return Linkable::from_bytes(CALOTYPE_PTX, ptx("sm_80", name), name);
}

LoweredModule lowered(Pipeline p, const std::string &target = "x86-64-linux-cuda") {
    return p.compile_to_module(p.infer_arguments(), "p", Target(target)).lowered();
}

Names names_of(const LinkedCode &linked) {
    Names names;
    for (const LinkableData &l : linked.linkables) {
        names.push_back(l.name);
    }
    return names;
}

/// How often a function is called in the code.
int calls_of(const std::string &name, const Stmt &s) {
    class Counter : public Visitor {
    public:
        explicit Counter(const std::string &name) : name_(name) {
        }
        int count = 0;

    private:
        using Visitor::visit;
        void visit(const Call *op) override {
            count += op->name == name_;
            Visitor::visit(op);
        }
        const std::string &name_;
    };
    Counter counter(name);
    counter(s);
    return counter.count;
}

int calls_on_host(const std::string &name, const LoweredModule &m) {
    return calls_of(name, m.functions.at(0).body);
}

int calls_in_kernels(const std::string &name, const LoweredModule &m) {
    int count = 0;
    for (const DeviceModule &device : m.device_modules) {
        for (const DeviceKernel &k : device.kernels) {
            count += calls_of(name, k.body);
        }
    }
    return count;
}

/// The warnings of what f does.
template<typename F>
Names warnings_of(F f) {
    struct Reporter : CompileTimeErrorReporter {
        Names warnings;
        void warning(const char *message) override {
            warnings.emplace_back(message);
        }
        void error(const char *) override {
        }
    } reporter;
    set_custom_compile_time_error_reporter(&reporter);
    f();
    set_custom_compile_time_error_reporter(nullptr);
    return reporter.warnings;
}

// ---- what each module links ----

TEST(LinkCode, KernelsAndHostEachTheirOwn) {
    Func f("f"), g("g");
    g(x) = extern_device_call(code("a"), "on_device", Int(32), {x, {Expr(1.0f), Expr(2.0f)}});
    f(x) = g(x) + extern_device_call(code("b"), "on_host", Int(32), {x});
    g.compute_root().gpu_tile(x, xi, 8);
    const LoweredModule m = lowered(f);
    ASSERT_EQ(m.device_modules.size(), 1u);
    EXPECT_EQ(names_of(m.device_modules[0].linked), Names{"a"});
    EXPECT_EQ(names_of(m.linked), Names{"b"});
    const LinkedFunction &signature = m.device_modules[0].linked.functions.at("on_device");
    EXPECT_EQ(signature.result, Int(32));
    EXPECT_EQ(signature.parameters, (std::vector<Type>{Int(32), Float(32, 2)}));
    EXPECT_EQ(m.linked.functions.count("on_host"), 1u);
    EXPECT_EQ(m.linked.functions.count("on_device"), 0u);
}

TEST(LinkCode, DeclaredPinnedAndDropped) {
    Func f("f");
    f(x) = extern_device_call(code("used"), "f1", Int(32), {x});
    f.gpu_tile(x, xi, 8);
    Pipeline p(f);
    p.add_linkable(code("late").pinned().after("used"));
    p.add_linkable(code("dropped"));
    p.add_linkable(Linkable::host_only("callbacks").setup("s"));
    LoweredModule m;
    EXPECT_EQ(warnings_of([&] { m = lowered(p); }),
              Names{"pipeline p: linkable 'dropped' is not linked: nothing calls it, and it is "
                    "not pinned"});
    EXPECT_EQ(names_of(m.device_modules.at(0).linked), (Names{"used", "late", "callbacks"}));
}

TEST(LinkCode, PinnedWithoutKernels) {
    Func f("f");
    f(x) = x;
    Pipeline p(f);
    p.add_linkable(code("a").pinned());
    EXPECT_EQ(warnings_of([&] { lowered(p); }),
              Names{"pipeline p: linkable 'a' is not linked: there are no kernels"});
    EXPECT_EQ(warnings_of([&] { lowered(p, "x86-64-linux"); }), Names{});
}

TEST(LinkCode, SymbolsAndVectors) {
    const Linkable a = code("a");
    Func f("f");
    const Tuple v = pure_extern_device_call_vector(a, "look_up", Float(32, 3),
                                                   {x, extern_device_symbol(a, "table")});
    f(x) = v[0] + v[1] + v[2];
    f.gpu_tile(x, xi, 8).never_partition_all();
    const LoweredModule m = lowered(f);
    EXPECT_EQ(names_of(m.device_modules.at(0).linked), Names{"a"});
    EXPECT_EQ(calls_in_kernels("look_up", m), 3);
    EXPECT_GE(calls_in_kernels("linked_symbol", m), 1);
    const LinkedFunction &signature = m.device_modules[0].linked.functions.at("look_up");
    EXPECT_EQ(signature.result, Float(32, 3));
    EXPECT_EQ(signature.parameters, (std::vector<Type>{Int(32), Handle()}));
}

// ---- calls stay where they are ----

TEST(LinkedCalls, DoNotLeaveKernels) {
    Param<int> p("p");
    RDom r(0, 10);
    Func f("f"), sum("sum");
    const Expr call = pure_extern_device_call(code("a"), "scale", Int(32), {p});
    f(x, y) = x * call;
    f(x, y) += r * call;
    f.compute_root().gpu_tile(x, y, xi, yi, 8, 4);
    f.update().gpu_tile(x, y, xi, yi, 8, 4);
    const LoweredModule m = lowered(f);
    EXPECT_EQ(calls_on_host("scale", m), 0);
    EXPECT_GE(calls_in_kernels("scale", m), 2);
    EXPECT_EQ(names_of(m.linked), Names{});
}

// The loop over r runs on the host and launches a kernel each time.
TEST(LinkedCalls, DoNotLeaveKernelsInLoopsOfTheHost) {
    Param<int> p("p");
    RDom r(0, 10);
    Func f("f"), g("g");
    const Expr call = pure_extern_device_call(code("a"), "scale", Int(32), {p});
    f(x) = 0;
    f(x) += select(likely(r < call), call + x, r);
    f.compute_root();
    f.update().reorder(x, r).gpu_tile(x, xi, 8);
    const LoweredModule m = lowered(f);
    EXPECT_EQ(calls_on_host("scale", m), 0);
    EXPECT_GE(calls_in_kernels("scale", m), 1);
}

TEST(LinkedCalls, LeaveLoopsOfTheHost) {
    Param<int> p("p");
    Func f("f");
    f(x, y) = x * pure_extern_device_call(code("a"), "scale", Int(32), {p});
    const LoweredModule m = lowered(f, "x86-64-linux");
    EXPECT_EQ(calls_on_host("scale", m), 1);
    EXPECT_EQ(names_of(m.linked), Names{"a"});
}

TEST(LinkedCalls, BoundsAreThoseOfTheType) {
    Param<int> p("p");
    Func f("f"), g("g");
    g(x) = x * 3;
    g.compute_root();
    const Expr place = pure_extern_device_call(code("a"), "place", Int(32), {p});
    f(x) = g(clamp(place, 0, 9)) +
           g(cast<int>(pure_extern_device_call(code("a"), "near", UInt(8), {p})));
    f.gpu_tile(x, xi, 8);
    const LoweredModule m = lowered(f);
    EXPECT_EQ(calls_on_host("place", m) + calls_on_host("near", m), 0);
    EXPECT_GE(calls_in_kernels("place", m), 1);
}

// An update that another thread comes before is tried again; what has an effect is done once.
TEST(LinkedCalls, EffectsAreBeforeAtomicUpdates) {
    class Finder : public Visitor {
    public:
        int inside = 0;

    private:
        using Visitor::visit;
        void visit(const Atomic *op) override {
            inside += calls_of("next", op->body);
        }
    };
    RDom r(0, 64);
    RVar ro("ro"), ri("ri");
    Func f("f");
    f(x) = 0;
    f(r % 4) = f(r % 4) * 3 + extern_device_call(code("a"), "next", Int(32), {r});
    f.compute_root();
    f.update().atomic(true).split(r, ro, ri, 8).gpu_blocks(ro).gpu_threads(ri);
    const LoweredModule m = lowered(f);
    Finder finder;
    finder(m.device_modules.at(0).kernels.at(0).body);
    EXPECT_EQ(finder.inside, 0);
    EXPECT_EQ(calls_in_kernels("next", m), 1);
}

TEST(LinkedCalls, EffectsAreNotMerged) {
    Func f("f");
    const Linkable a = code("a");
    f(x, y) = extern_device_call(a, "next", Int(32), {7}) * 2 +
              extern_device_call(a, "next", Int(32), {7});
    f.gpu_tile(x, y, xi, yi, 8, 4).never_partition_all();
    EXPECT_EQ(calls_in_kernels("next", lowered(f)), 2);
    Func g("g");
    const Expr same = pure_extern_device_call(a, "value", Int(32), {x});
    g(x, y) = same * 2 + pure_extern_device_call(a, "value", Int(32), {x}) * y;
    g.gpu_tile(x, y, xi, yi, 8, 4).never_partition_all();
    EXPECT_EQ(calls_in_kernels("value", lowered(g)), 1);
}

// ---- on the host ----

std::atomic<int> counter;
int count_calls(int v) {
    counter++;
    return v * 2;
}

Buffer<int> run_counted(Func f, int size) {
    counter = 0;
    Pipeline p(f);
    p.set_jit_externs({{"count_calls", JITExtern(count_calls)}});
    return p.realize({size});
}

TEST(LinkedCalls, RunOnTheHostAsCFunctions) {
    Func f("f");
    f(x) = extern_device_call(code("a"), "count_calls", Int(32), {x}) + 1;
    const Buffer<int> out = run_counted(f, 10);
    EXPECT_EQ(out(4), 9);
    EXPECT_EQ(counter, 10);
}

TEST(LinkedCalls, OneCallALane) {
    Func f("f");
    f(x) = extern_device_call(code("a"), "count_calls", Int(32), {x});
    f.vectorize(x, 8, TailStrategy::GuardWithIf);
    const Buffer<int> out = run_counted(f, 13);
    for (int i = 0; i < 13; i++) {
        EXPECT_EQ(out(i), i * 2);
    }
    EXPECT_EQ(counter, 13);
    // Also where the arguments are the same in all lanes.
    Func g("g");
    g(x) = extern_device_call(code("a"), "count_calls", Int(32), {21});
    g.vectorize(x, 8, TailStrategy::Predicate);
    EXPECT_EQ(run_counted(g, 13)(12), 42);
    EXPECT_EQ(counter, 13);
}

TEST(LinkedCalls, UnderConditions) {
    RDom r(0, 16);
    r.where(r % 3 == 0);
    Func f("f");
    f(x) = 0;
    f(r) = extern_device_call(code("a"), "count_calls", Int(32), {r});
    f.update().allow_race_conditions().vectorize(r, 8);
    const Buffer<int> out = run_counted(f, 16);
    for (int i = 0; i < 16; i++) {
        EXPECT_EQ(out(i), i % 3 == 0 ? i * 2 : 0);
    }
    EXPECT_EQ(counter, 6);
}

// ---- on a device: whatever OpenCL there is ----

class LinkedOnDevice : public testing::Test {
protected:
    void SetUp() override {
        if (!host_supports_target_device(target)) {
            GTEST_SKIP() << "no OpenCL device";
        }
    }
    static Linkable source(const std::string &text) {
        return Linkable::from_bytes(CALOTYPE_OPENCL_C, text, "source");
    }
    Target target = get_host_target().with_feature(Target::OpenCL);
};

TEST_F(LinkedOnDevice, EveryType) {
    struct Row {
        Type type;
        const char *name;
    };
    const Row rows[] = {{Int(8), "char"},   {Int(16), "short"},  {Int(32), "int"},
                        {Int(64), "long"},  {UInt(8), "uchar"},  {UInt(16), "ushort"},
                        {UInt(32), "uint"}, {UInt(64), "ulong"}, {Float(32), "float"}};
    for (const Row &row : rows) {
        const std::string t = row.name;
        const Linkable l =
            source(t + " next_of_" + t + "(" + t + " a, int b) { return a + (" + t + ")b; }");
        Func f("f");
        f(x) = cast<int>(extern_device_call(l, "next_of_" + t, row.type, {cast(row.type, x), 3}));
        f.gpu_tile(x, xi, 8, TailStrategy::GuardWithIf);
        Buffer<int> out(13);
        out.set_min(-5);
        f.realize(out, target);
        out.copy_to_host();
        for (int i = -5; i < 8; i++) {
            // Through the type and back.
            int expected = i + 3;
            expected = row.type == UInt(8)    ? uint8_t(expected)
                       : row.type == UInt(16) ? uint16_t(expected)
                                              : expected;
            ASSERT_EQ(out(i), expected) << t << " " << i;
        }
    }
}

TEST_F(LinkedOnDevice, Vectors) {
    const Linkable l = source(R"(
        float3 arranged(int a, float2 b) { return (float3)(a, b.x, b.y); }
        float dot_of(float4 a, float4 b) { return dot(a, b); })");
    const Expr e = cast<float>(x);
    const Tuple v =
        pure_extern_device_call_vector(l, "arranged", Float(32, 3), {x, {e + 0.5f, 9.0f}});
    Func f("f");
    f(x) = v[0] + v[1] * 10 + v[2] * 100 +
           extern_device_call(l, "dot_of", Float(32), {{e, e, e, 1.0f}, {1.0f, 2.0f, 3.0f, 4.0f}});
    f.gpu_tile(x, xi, 8).vectorize(xi, 2);
    Buffer<float> out = f.realize({16}, target);
    out.copy_to_host();
    for (int i = 0; i < 16; i++) {
        const float k = float(i);
        ASSERT_EQ(out(i), k + (k + 0.5f) * 10 + 900 + k * 6 + 4);
    }
}

TEST_F(LinkedOnDevice, AtomicUpdates) {
    RDom r(0, 64);
    RVar ro("ro"), ri("ri");
    Func f("f");
    f(x) = 1;
    f(r % 4) +=
        extern_device_call(source("int next(int i) { return i * 2; }"), "next", Int(32), {r});
    f.compute_root();
    f.update().atomic().split(r, ro, ri, 8).gpu_blocks(ro).gpu_threads(ri);
    Buffer<int> out = f.realize({4}, target);
    out.copy_to_host();
    for (int i = 0; i < 4; i++) {
        EXPECT_EQ(out(i), 1 + 2 * (16 * i + 4 * 120));
    }
}

TEST_F(LinkedOnDevice, EmptyAndOneByThreeRoutes) {
    const Linkable l = source("int thrice(int a) { return a * 3; }");
    Func f("f"), g("g"), h("h");
    g(x) = pure_extern_device_call(l, "thrice", Int(32), {x});
    h(x) = extern_device_call(source("int thrice(int a) { return a * 3; }").name("again"), "thrice",
                              Int(32), {x + 1});
    f(x) = g(x) + h(x);
    for (Func s : {f, g, h}) {
        s.compute_root().gpu_tile(x, xi, 8, TailStrategy::GuardWithIf);
    }
    Pipeline p(f);
    p.add_linkable(l.name("declared"));
    Buffer<int> out = p.realize({9}, target);
    out.copy_to_host();
    EXPECT_EQ(out(8), 51);
    Buffer<int> none(0);
    p.realize(none, target);
}

// ---- keys ----

TEST(LinkableKeys, EveryFieldCounts) {
    LinkableFolder dir;
    const Linkable plain = Linkable::from_path(dir.add("a.ptx", ptx("sm_80", "a")));
    auto key = [](const Linkable &l, bool is_declared) {
        internal::UniqueNameScope names;
        Func f("f");
        f(x) = is_declared ? Expr(x) : extern_device_call(l, "f", Int(32), {x});
        Pipeline p(f);
        if (is_declared) {
            p.add_linkable(l);
        }
        CompileJob job;
        job.source = p.source("p", {});
        job.target = Target("x86-64-linux-cuda");
        return portable_key(job).value();
    };
    const std::vector<Linkable> all = {
        plain,
        Linkable::from_bytes(CALOTYPE_PTX, ptx("sm_80", "A"), "a"),
        Linkable::from_bytes(CALOTYPE_CU, "int a;", "a"),
        plain.add_image(CALOTYPE_BITCODE, bitcode()),
        plain.name("b"),
        plain.setup("s"),
        plain.teardown("s"),
        plain.user("s"),
        plain.after("s"),
        plain.nrt(),
        plain.lto(LtoMode::Never),
        plain.lto(LtoMode::Require),
        plain.optional(),
        plain.threadsafe(),
        plain.session(),
        plain.no_teardown_after_loss(),
        plain.pinned(),
        plain.embed(false),
        Linkable::from_path(dir.add("b.ptx", ptx("sm_80", "a"))).name("a").embed(false),
    };
    for (const bool is_declared : {false, true}) {
        std::set<std::string> keys;
        for (const Linkable &l : all) {
            keys.insert(key(l, is_declared));
        }
        EXPECT_EQ(keys.size(), all.size());
        EXPECT_EQ(key(plain, is_declared), key(code("a"), is_declared));
    }
}

}  // namespace
}  // namespace calotype
