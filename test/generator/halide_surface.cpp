// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Public names of Halide beyond those of the other programs here: machines that no code is made
// for, variables of the environment, autoschedulers, generators that are compiled in process.
#include <gtest/gtest.h>

#include <sstream>

#include "Halide.h"

#include "harness/expect_error.h"

using namespace Halide;

namespace {

TEST(HalideSurface, MachinesWithoutACodeGenerator) {
    const Target t("arm-64-ios-metal-hvx_128");
    EXPECT_TRUE(t.has_feature(Target::Metal));
    EXPECT_TRUE(t.has_feature(Target::HVX));
    EXPECT_EQ(t.to_string(), "arm-64-ios-hvx-metal");
    EXPECT_FALSE(t.supported());
    EXPECT_TRUE(t.has_gpu_feature());
    EXPECT_EQ(t.get_required_device_api(), DeviceAPI::Metal);
    EXPECT_EQ(Target("hexagon-32-qurt-hvx_v66").arch, Target::Hexagon);
    EXPECT_EQ(
        Target("x86-64-windows-d3d12compute-hlsl_sm62").get_d3d12compute_capability_lower_bound(),
        62);
    EXPECT_EQ(Target("arm-64-linux-sme2-sme_svl512").sme_streaming_vector_bits(), 512);
    EXPECT_EQ(Target::sme_svl_feature_from_bits(2048), Target::SME_SVL2048);
    EXPECT_EQ(Target::sme_svl_feature_from_bits(100), Target::FeatureEnd);
    std::ostringstream out;
    out << MemoryType::VTCM << " " << DeviceAPI::WebGPU << " " << TailStrategy::GuardWithIf << " "
        << t;
    EXPECT_EQ(out.str(), "vtcm webgpu guard_with_if arm-64-ios-hvx-metal");
}

TEST(HalideSurface, FeaturesUnderTheRuntimesNames) {
    const Target t("x86-64-linux-avx2-opencl-cl_doubles");
    EXPECT_TRUE(t.has_feature(halide_target_feature_opencl));
    EXPECT_TRUE(t.has_feature(halide_target_feature_cl_doubles));
    EXPECT_TRUE(t.has_feature(halide_target_feature_avx2));
    EXPECT_FALSE(t.has_feature(halide_target_feature_cuda));
    EXPECT_FALSE(t.has_feature(halide_target_feature_d3d12compute));
    EXPECT_TRUE(t.with_feature(Target::Metal).has_feature(halide_target_feature_metal));
#if !HALIDE_WITH_EXCEPTIONS
    FAIL() << "programs are not told that errors are exceptions";
#endif
}

TEST(HalideSurface, CompilingForThemIsAnError) {
    Var x("x"), xi("xi");
    Func f("f");
    f(x) = x;
    f.gpu_tile(x, xi, 8);
    const Target metal = get_host_target().with_feature(Target::Metal);
    EXPECT_COMPILE_ERROR(f.compile_to_module({}, "f", metal),
                         "target " + metal.to_string() +
                             " has metal, which this build makes no code for");
    Func plain("plain");
    plain(x) = x;
    for (const Target::Feature feature :
         {Target::MSAN, Target::SoftFloatABI, Target::Semihosting, Target::Simulator,
          Target::Vulkan, Target::SPIRV, Target::EGL, Target::D3D12Compute, Target::WebGPU,
          Target::HVX, Target::HexagonDma}) {
        const Target target = get_host_target().with_feature(feature);
        EXPECT_COMPILE_ERROR(plain.compile_to_module({}, "plain", target),
                             "target " + target.to_string() + " has " +
                                 Target::feature_to_name(feature) +
                                 ", which this build makes no code for");
    }
    Func g("g");
    g(x) = x;
    g.hexagon(x);
    EXPECT_COMPILE_ERROR(g.compile_to_module({}, "g", get_host_target()),
                         "func " + g.name() +
                             " is scheduled on hexagon, which this build makes no code for: cuda "
                             "and opencl are the devices it has");
    Func h("h"), store("store");
    store(x) = x;
    h(x) = store(x) + 1;
    store.compute_root().store_in(MemoryType::VTCM);
    EXPECT_COMPILE_ERROR(h.compile_to_module({}, "h", get_host_target()),
                         "func " + store.name() +
                             " is stored in vtcm, which this build makes no code for");
}

TEST(HalideSurface, VariablesOfTheEnvironment) {
    setenv("HL_TARGET", "x86-64-linux-avx", 1);
    EXPECT_EQ(get_target_from_environment(), Target("x86-64-linux-avx"));
    setenv("CT_TARGET", "x86-64-linux-sse41", 1);
    EXPECT_EQ(get_target_from_environment(), Target("x86-64-linux-sse41"));
    unsetenv("CT_TARGET");
    unsetenv("HL_TARGET");
    setenv("HL_JIT_TARGET", "host-profile", 1);
    EXPECT_TRUE(get_jit_target_from_environment().has_feature(Target::Profile));
    unsetenv("HL_JIT_TARGET");
}

TEST(HalideSurface, AutoschedulersOfPrograms) {
    int calls = 0;
    Pipeline::add_autoscheduler("everything_at_root", [&](const Pipeline &p, const Target &t,
                                                          const AutoschedulerParams &params,
                                                          AutoSchedulerResults *results) {
        calls++;
        results->schedule_source = "// " + params.extra.at("note");
    });
    Func f("f");
    Var x;
    f(x) = x;
    const AutoSchedulerResults results =
        Pipeline(f).apply_autoscheduler(Target("host"), {"everything_at_root", {{"note", "seen"}}});
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(results.schedule_source, "// seen");
    EXPECT_COMPILE_ERROR(Pipeline(f).apply_autoscheduler(Target("host"), {"everything_at_rot"}),
                         "autoscheduler 'everything_at_rot' is not known, did you mean "
                         "'everything_at_root'?");
    EXPECT_COMPILE_ERROR(
        Pipeline::add_autoscheduler("everything_at_root",
                                    [](const Pipeline &, const Target &,
                                       const AutoschedulerParams &, AutoSchedulerResults *) {}),
        "autoscheduler 'everything_at_root' is there already");
}

class Scale : public Generator<Scale> {
public:
    GeneratorParam<int> factor{"factor", 2};
    Input<Buffer<int32_t, 1>> in{"in"};
    Input<int> offset{"offset"};
    Output<Buffer<int32_t, 1>> out{"out"};
    void generate() {
        Var x("x");
        out(x) = in(x)*factor + offset;
    }
};

TEST(HalideSurface, GeneratorsAsCallables) {
    auto scale = Scale::create(GeneratorContext(get_jit_target_from_environment()));
    scale->factor.set(5);
    Callable c = scale->compile_to_callable();
    Buffer<int32_t> in(4), out(4);
    in.fill(3);
    EXPECT_EQ(c(in, 7, out), 0);
    EXPECT_EQ(out(2), 22);
}

TEST(HalideSurface, ShortForms) {
    Var x("x"), y("y");
    Func a("a"), b("b"), c("c");
    a(x) = x;
    b(x) = a(x) + 1;
    c(x) = a(x) + b(x);
    c.eager_inline(b, a);
    EXPECT_EQ(Buffer<int>(c.realize({3}))(2), 5);

    Func p("p"), q("q");
    p(x, y) = x + y;
    q(x, y) = p(x, y) * 2;
    p.compute_at(q, q.split_vars()[1]);
    EXPECT_EQ(Buffer<int>(q.realize({4, 4}))(3, 2), 10);

    Buffer<int> first(3), second(3);
    Realization both({first, second});
    EXPECT_EQ(both.size(), 2u);

    Func t("t");
    t(x) = Tuple(x, x * x);
    t.realize(Realization({first, second}));
    EXPECT_EQ(second(2), 4);

    // A buffer may stand in a list of arguments.
    Func s("s");
    s(x) = first(x) + 1;
    const std::vector<Argument> args = {first};
    EXPECT_EQ(args[0].kind, Argument::InputBuffer);
    EXPECT_EQ(args[0].dimensions, 1);
}

TEST(HalideSurface, PointersOfAnyTypeAreHandles) {
    Param<void *> handle("handle");
    Func f("f");
    f() = reinterpret<uint64_t>(handle);
    Callable c = f.compile_to_callable({handle});
    int place = 0;
    Buffer<uint64_t> out = Buffer<uint64_t>::make_scalar();
    EXPECT_EQ(c(&place, out), 0);
    EXPECT_EQ(out(), uint64_t(uintptr_t(&place)));

    Func texts("texts");
    Var x("x");
    texts(x) = reinterpret(type_of<const char *>(), cast<uint64_t>(x));
    Buffer<void *> pointers(3);
    texts.realize(pointers);
    EXPECT_EQ(uintptr_t(pointers(2)), 2u);
}

int stored = 0;
int vector_stores = 0;
int32_t count_stored(JITUserContext *, const halide_trace_event_t *e) {
    if (e->event == halide_trace_store) {
        stored += e->lanes;
        vector_stores += e->lanes > 1;
        for (int i = 0; i < e->lanes; i++) {
            EXPECT_EQ(e->coordinates[i], ((const int32_t *)e->value)[i]);  // f(x) = x
        }
    }
    return 1;
}

TEST(HalideSurface, TraceEventsSayTheirLanes) {
    Func f;
    Var x;
    f(x) = x;
    f.vectorize(x, 4).trace_stores();
    f.jit_handlers().custom_trace = count_stored;
    f.realize({8});
    EXPECT_EQ(stored, 8);
    EXPECT_EQ(vector_stores, 2);
    // Where some lanes are off, each of the others is an event.
    Func g;
    g(x) = x;
    g(x) = x;
    stored = vector_stores = 0;
    g.vectorize(x, 4, TailStrategy::GuardWithIf).trace_stores();
    g.update().vectorize(x, 4, TailStrategy::GuardWithIf);
    g.jit_handlers().custom_trace = count_stored;
    g.realize({10});
    EXPECT_EQ(stored, 20);
    EXPECT_EQ(vector_stores, 4);
}

template<typename From, typename To>
class Widen : public Generator<Widen<From, To>> {
public:
    GeneratorInput<Buffer<From, 1>> in{"in"};
    GeneratorOutput<Buffer<To, 1>> out{"out"};
    void generate() {
        Var x("x");
        out(x) = cast<To>(in(x));
    }
};

// A generator made of others, with outputs of several values made in configure().
class Nested : public Generator<Nested> {
public:
    Input<Buffer<int32_t, 1>> in{"in"};
    Input<int8_t[2]> weights{"weights"};
    Output<Buffer<int64_t, 1>> out{"out"}, handed_on{"handed_on"}, again{"again"};
    Output<Buffer<>> *pair, *later;
    void configure() {
        pair = add_output<Buffer<>>("pair", {Float(64), Int(32)}, 1);
        later = add_output<Buffer<>>("later", 1);
        later->set_type({UInt(8), Int(32)});
    }
    void generate() {
        in.set_estimate(_0, 0, 16);
        weights.set_estimate(1, 42);
        auto scale = create<Scale>();
        scale->factor.set(3);
        scale->apply(Func(in), Expr(1));
        const auto wide = apply<Widen<int32_t, int64_t>>(Func(scale->out));
        Var x("x");
        out(x) = wide->out(x);
        // It is the other's Func from now on, also where loops are named.
        Func before("before");
        before(x) = wide->out(x) * 2;
        Func after("after");
        after(x) = before(x) / 2;
        handed_on = after;
        before.compute_at(LoopLevel(handed_on, x));
        again = wide->out;
        (*pair)(x) = Tuple(cast<double>(out(x)), x);
        (*later)(x) = Tuple(cast<uint8_t>(x), cast<int>(weights[0] + weights[1]));
        RDom all(out), inputs(in);
        EXPECT_EQ(all.dimensions() + inputs.dimensions(), 2);
        trace_pipeline();
    }
};

int traced_pipelines = 0;

TEST(HalideSurface, GeneratorsInsideOfGenerators) {
    auto nested = Nested::create(GeneratorContext(get_jit_target_from_environment()));
    JITHandlers handlers;
    handlers.custom_trace = [](JITUserContext *, const halide_trace_event_t *e) {
        traced_pipelines += e->event == halide_trace_begin_pipeline;
        return 0;
    };
    Callable c = nested->compile_to_callable(&handlers);
    Buffer<int32_t> in(4), of_pair(4), of_later(4);
    Buffer<int64_t> out(4), handed_on(4), again(4);
    Buffer<double> doubles(4);
    Buffer<uint8_t> bytes(4);
    in.fill(5);
    EXPECT_EQ(c(in, int8_t(1), int8_t(2), out, handed_on, again, doubles, of_pair, bytes, of_later),
              0);
    EXPECT_EQ(out(3), 16);
    EXPECT_EQ(handed_on(3), 16);
    EXPECT_EQ(again(3), 16);
    EXPECT_EQ(doubles(3), 16.0);
    EXPECT_EQ(of_pair(3), 3);
    EXPECT_EQ(of_later(3), 3);
    EXPECT_EQ(traced_pipelines, 1);
}

TEST(HalideSurface, AutoschedulersScheduleTheWhole) {
    int pipelines = 0;
    Pipeline::add_autoscheduler("counts_pipelines",
                                [&](const Pipeline &, const Target &, const AutoschedulerParams &,
                                    AutoSchedulerResults *) { pipelines++; });
    const GeneratorContext context(Target("host"), AutoschedulerParams("counts_pipelines"));
    Nested::create(context)->build_pipeline();
    EXPECT_EQ(pipelines, 1);
}

// A name is not taken for an expression that is a text.
struct NamedFunc : Func {
    explicit NamedFunc(const std::string &name) : Func(name) {
    }
    explicit NamedFunc(Expr e) : Func(std::move(e)) {
    }
};

/// With any number of coordinates, as programs write wrappers of Funcs.
template<typename... Args>
std::enable_if_t<Internal::all_are_convertible<Expr, Args...>::value, FuncRef> at(const Func &f,
                                                                                  Args &&...args) {
    return f(std::vector<Expr>{std::forward<Args>(args)...});
}

TEST(HalideSurface, VariablesFromLists) {
    Var x = {"x"}, y = {"y"};
    Func f("f");
    f(x, y) = x + 2 * y;
    Func g("g");
    g(x) = at(f, x, 3);
    EXPECT_EQ(x.name(), "x");
    EXPECT_EQ(Buffer<int>(g.realize({4}))(1), 7);
    static_assert(!Internal::all_are_convertible<Expr, Var, std::vector<int>>::value);
}

TEST(HalideSurface, TextsAreNamesWhereBothAreTaken) {
    const NamedFunc named("named_by_text");
    EXPECT_EQ(named.name(), "named_by_text");
    Var x("x");
    Param<int> limit("limit", 3);
    Func f;
    f(x) = print_when(x == 9, x, "texts are printed", x);
    Pipeline p(f);
    p.add_requirement(limit > 2, "the limit is", limit);
    EXPECT_EQ(Buffer<int>(p.realize({3}))(2), 2);
}

// The coordinates of an input have no names, whatever it is given: loops around what is made of it
// are found by _0, _1.
class Edges : public Generator<Edges> {
public:
    Input<Func> in{"in", 1};
    Output<Func> out{"out", 1};
    void generate() {
        Func extended = BoundaryConditions::repeat_edge(in, {{0, 4}});
        Func pair = BoundaryConditions::constant_exterior(in, Tuple(7, 8), {{0, 4}});
        EXPECT_EQ(extended.args()[0].name(), Var(_0).name());
        // Estimates take its own name where it has one.
        in.set_estimate(_0, 0, 4).set_estimate(in.args()[0], 0, 4);
        EXPECT_COMPILE_ERROR(in.set_estimate(x, 0, 4),
                             "input 'in' has no dimension x: they are _0 to _0");
        out(x) = extended(x - 1)[0] + pair(x - 1)[1];
        extended.compute_root();
        pair.compute_with(extended, _0).compute_root();
    }
    Var x{"x"};
};

TEST(HalideSurface, CoordinatesOfInputsHaveNoNames) {
    auto edges = Edges::create(GeneratorContext(get_jit_target_from_environment()));
    Func given("given");
    Var row("row");
    given(row) = Tuple(row * 10, row + 1);
    edges->apply(given);
    const Buffer<int> out = Func(edges->out).realize({6});
    const int expected[] = {8, 1, 12, 23, 34, 38};
    for (int i = 0; i < 6; i++) {
        EXPECT_EQ(out(i), expected[i]);
    }
}

// A constant image given to an input is part of the code: no argument, and of a shape that is known.
class Clamped : public Generator<Clamped> {
public:
    Input<Buffer<int, 1>> in{"in"};
    Output<Func> out{"out", Int(32), 1};
    void generate() {
        out(x) = in(clamp(x + in.dim(0).min(), in.dim(0).min(), in.dim(0).max())) + in.width();
    }
    Var x{"x"};
};

TEST(HalideSurface, BuffersGivenToInputsAreConstants) {
    Buffer<int> table(3);
    table.set_min(-7);
    for (int i = 0; i < 3; i++) {
        table(i - 7) = i * i + 1;
    }
    const Target target = get_jit_target_from_environment();
    const auto outer = Clamped::create(GeneratorContext(target));
    outer->apply(table);
    Var x("x");
    Func f("f");
    Func kept = outer->out;
    kept.compute_root().memoize();
    f(x) = kept(x) * 2;
    const Buffer<int> by_realize = f.realize({6});
    Buffer<int> by_callable(6);
    EXPECT_EQ(f.compile_to_callable({}, target)(by_callable), 0);
    const int expected[] = {8, 10, 16, 16, 16, 16};
    for (int i = 0; i < 6; i++) {
        EXPECT_EQ(by_realize(i), expected[i]);
        EXPECT_EQ(by_callable(i), expected[i]);
    }
}

TEST(HalideSurface, ProgramsOfGeneratorsMayHaveTheirOwnMain) {
    char program[] = "program", option[] = "-g", name[] = "no_such_generator", folder[] = "-o",
         here[] = ".", target[] = "target=host";
    char *arguments[] = {program, option, name, folder, here, target, nullptr};
    std::ostringstream errors;
    EXPECT_NE(Internal::generate_filter_main(6, arguments, errors), 0);
    EXPECT_NE(errors.str().find("no_such_generator"), std::string::npos) << errors.str();
}

}  // namespace

HALIDE_REGISTER_GENERATOR((Widen<float, double>), widen_floats)
