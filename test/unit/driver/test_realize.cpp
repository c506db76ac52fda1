// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running pipelines in this process, and how often they are compiled.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "driver/callable.h"
#include "driver/compiler.h"
#include "driver/compiler_stack.h"
#include "driver/jit_handlers.h"
#include "driver/jit_shared_runtime.h"
#include "harness/expect_error.h"
#include "lang/language.h"
#include "runtime/abi/symbols.h"

namespace calotype {

using namespace internal;
namespace {

using internal::CompileCounts;
using internal::Compiler;

Var x("x"), y("y");

TEST(Realize, AllocatesTheOutput) {
    Func f("sum");
    f(x, y) = x + 10 * y;
    Buffer<int32_t> out = f.realize({5, 4});
    EXPECT_EQ(out.width(), 5);
    EXPECT_EQ(out.height(), 4);
    EXPECT_EQ(out(3, 2), 23);
}

TEST(Realize, FillsAGivenBuffer) {
    Func f;
    f(x) = x * x;
    Buffer<int32_t, 1> out(4);
    out.set_min(3);
    f.realize(out);
    EXPECT_EQ(out(6), 36);
}

TEST(Realize, SeveralOutputs) {
    Func f, g;
    f(x) = x;
    g(x) = Tuple(cast<float>(x) / 2, x + 1);
    Realization r = Pipeline({f, g}).realize({4});
    ASSERT_EQ(r.size(), 3u);
    EXPECT_EQ(Buffer<int32_t>(r[0])(3), 3);
    EXPECT_EQ(Buffer<float>(r[1])(3), 1.5f);
    EXPECT_EQ(Buffer<int32_t>(r[2])(3), 4);
}

TEST(Realize, ParamsAndImageParams) {
    Param<int> scale("scale");
    ImageParam input(Int(32), 1, "input");
    Func f;
    f(x) = input(x) * scale;
    Buffer<int32_t, 1> in(4);
    in.fill(5);
    input.set(in);
    scale.set(3);
    Buffer<int32_t> out = f.realize({4});
    EXPECT_EQ(out(2), 15);
    scale.set(4);
    out = f.realize({4});
    EXPECT_EQ(out(2), 20);
}

TEST(Realize, SeesWhatABufferHoldsNow) {
    Buffer<int32_t, 1> in(4);
    in.fill(1);
    Func f;
    f(x) = in(x) + 1;
    Buffer<int32_t> out = f.realize({4});
    EXPECT_EQ(out(0), 2);
    in.fill(7);
    out = f.realize({4});
    EXPECT_EQ(out(0), 8);
}

TEST(Realize, ErrorsAtRunTimeAreThrown) {
    ImageParam input(Int(32), 1, "input");
    Func f("shifted");
    f(x) = input(x + 2);
    Buffer<int32_t, 1> in(4);
    input.set(in);
    EXPECT_RUNTIME_ERROR(f.realize({4}),
                         "input buffer input covers [0, 3] in dimension 0, must cover [2, 5]");
}

TEST(Realize, MistakesOfTheCaller) {
    Func f("f"), undefined("undefined");
    f(x, y) = x;
    EXPECT_COMPILE_ERROR(f.realize({4}),
                         "output func " + f.name() + " has 2 dimensions, but 1 sizes are given");
    EXPECT_COMPILE_ERROR(f.realize({4, -3}), "output func " + f.name() +
                                                 " is asked for with size -3 in dimension 1, must "
                                                 "not be negative");
    Buffer<float, 2> wrong(2, 2);
    EXPECT_COMPILE_ERROR(f.realize(wrong), "buffer 0 for output func " + f.name() +
                                               " has type float32, must have int32");
    EXPECT_COMPILE_ERROR(Pipeline().realize({4}), "an undefined pipeline is used");
    ImageParam input(Int(32), 1, "never_set");
    Func g;
    g(x) = input(x);
    EXPECT_RUNTIME_ERROR(g.realize({4}), "no buffer is set for input never_set");
}

TEST(Realize, InfersTheBoundsOfInputs) {
    ImageParam input(UInt(8), 2, "input");
    Func f;
    f(x, y) = input(x - 1, y) + input(x + 2, y + 1);
    f.infer_input_bounds({10, 20});
    Buffer<> in = input.get();
    EXPECT_EQ(in.dim(0).min(), -1);
    EXPECT_EQ(in.dim(0).extent(), 13);
    EXPECT_EQ(in.dim(1).min(), 0);
    EXPECT_EQ(in.dim(1).extent(), 21);
}

// The rows that are asked for of `in` lie above all that the output reads of it.
TEST(Realize, InfersThatNothingIsReadOfAnInput) {
    ImageParam in(Int(32), 1, "in"), other(Int(32), 1, "other");
    Func f("f");
    f(x) = select(x < 10, in(clamp(5 - x, -4, 5)), other(x));
    Buffer<int32_t, 1> out(4);
    out.set_min(20);
    f.infer_input_bounds(Realization({out}));
    EXPECT_EQ(in.get().dim(0).extent(), 1);
    in.reset();
    other.reset();
    Func g("g");
    RDom r(0, 1);
    r.where(x + r < 10 && x + r > -10);
    g(x) = other(x);
    g(x) += in(5 - (x + r));
    g.infer_input_bounds(Realization({out}));
    EXPECT_EQ(in.get().dim(0).extent(), 0);
    for (int i = 20; i < 24; i++) {
        Buffer<int32_t>(other.get())(i) = i * 3;
    }
    g.realize(out);
    EXPECT_EQ(out(22), 66);
}

TEST(Realize, InputsMustHaveMemory) {
    ImageParam in(Int(32), 1, "in");
    Func f("f");
    f(x) = in(x);
    in.set(Buffer<int32_t>(nullptr, 8));
    const std::string mistake =
        "input image in has no memory: allocate() makes some; infer_input_bounds() asks which "
        "region is needed";
    EXPECT_RUNTIME_ERROR(f.realize({8}), mistake);
    Buffer<int32_t> out(8);
    EXPECT_RUNTIME_ERROR(f.realize(out), mistake);
}

TEST(Realize, ImagesWithoutElementsNeedNoMemory) {
    ImageParam in(Int(32), 1, "in");
    Func sum("sum"), f("f");
    const RDom r(0, in.width());
    sum() = 3;
    sum() += in(r);
    Buffer<int32_t> empty(0), out(4);
    in.set(empty);
    EXPECT_EQ(Buffer<int32_t>(sum.realize())(), 3);
    EXPECT_EQ(empty.dim(0).extent(), 0);
    f(x) = in(x);
    EXPECT_RUNTIME_ERROR(f.realize(out),
                         "input buffer in covers [0, -1] in dimension 0, must cover [0, 3]");
}

TEST(Realize, SecondTimeCompilesNothing) {
    Func f;
    f(x) = x + 1;
    f.realize({4});
    const CompileCounts before = Compiler::of_process().counts();
    f.realize({9});
    const CompileCounts after = Compiler::of_process().counts();
    EXPECT_EQ(after.lowered, before.lowered);
    EXPECT_EQ(after.jit_compiled, before.jit_compiled);
    EXPECT_EQ(after.jit_found, before.jit_found) << "it is not even looked for";
}

TEST(Realize, AnotherValueCompilesNothing) {
    Param<int> p("p");
    ImageParam input(Int(32), 1, "input");
    Func f;
    f(x) = input(x) + p;
    for (int i = 0; i < 3; i++) {
        const CompileCounts before = Compiler::of_process().counts();
        Buffer<int32_t, 1> in(8 + i);
        in.fill(i);
        input.set(in);
        p.set(i);
        Buffer<int32_t> out = f.realize({8});
        EXPECT_EQ(out(7), 2 * i);
        EXPECT_EQ(Compiler::of_process().counts().jit_compiled, before.jit_compiled + (i == 0));
    }
}

TEST(Realize, AChangedScheduleIsCompiledAnew) {
    Func f, g;
    g(x) = x;
    f(x) = g(x) + g(x + 1);
    f.realize({4});
    const CompileCounts before = Compiler::of_process().counts();
    g.compute_root();
    f.realize({4});
    EXPECT_EQ(Compiler::of_process().counts().jit_compiled, before.jit_compiled + 1);
}

TEST(Realize, ManyThreadsCompileOnce) {
    Func f;
    f(x) = x * 3 + 1;
    const CompileCounts before = Compiler::of_process().counts();
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int i = 0; i < 8; i++) {
        threads.emplace_back([&, i] {
            Buffer<int32_t> out = i % 2 ? f.realize({8}) : Pipeline(f).realize({8});
            wrong += out(7) != 22;
        });
    }
    for (std::thread &t : threads) {
        t.join();
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(Compiler::of_process().counts().jit_compiled, before.jit_compiled + 1);
}

TEST(CompilerStack, RunsTheTaskAndPassesErrorsOn) {
    EXPECT_EQ(get_compiler_stack_size(), default_compiler_stack_size);
    char here;
    const char *there = nullptr;
    internal::run_on_compiler_stack([&] {
        char local;
        there = &local;
        internal::run_on_compiler_stack([&] {
            char inner;
            EXPECT_LT(there - &inner, 4096);
        });
    });
    EXPECT_GT(std::abs(there - &here), 65536);
    EXPECT_COMPILE_ERROR(internal::run_on_compiler_stack([] { user_error << "deep"; }), "deep");
}

TEST(CompilerStack, WhatDoesNotFitIsAnError) {
    Param<int> p;
    Expr e = x;
    for (int i = 0; i < 500; i++) {
        e = e * 3 + p;
    }
    Func f("f_deep");
    f(x) = e;
    set_compiler_stack_size(512 << 10);
    const std::string error = test::error_of<CompileError>([&] { f.compile_jit(); });
    const std::string before = "nested too deeply for the ";
    ASSERT_PRED_FORMAT2(testing::IsSubstring, before, error);
    // Sanitizers add to what a thread asks for.
    const int bytes = std::stoi(error.substr(error.find(before) + before.size()));
    EXPECT_GE(bytes, 512 << 10);
    EXPECT_LT(bytes, 1 << 20);
    set_compiler_stack_size(default_compiler_stack_size);
}

// ---- handlers ----

struct Recorder : JITUserContext {
    std::string errors, printed;
    std::atomic<int> allocations{0};
};

TEST(Handlers, ErrorsOfARunGoToItsContext) {
    Param<int> p("p");
    p.set_range(0, 10);
    Func f;
    f(x) = x + p;
    p.set(12);
    Recorder context;
    context.handlers.custom_error = [](JITUserContext *c, const char *message) {
        static_cast<Recorder *>(c)->errors += message;
    };
    EXPECT_NO_THROW(f.realize(&context, {4}));
    EXPECT_EQ(context.errors, "parameter p is 12, must be at most 10");
}

TEST(Handlers, MemoryAndPrinting) {
    Func f, g;
    g(x) = x;
    f(x) = print(g(x), "at", x, x > 0);
    g.compute_root();
    Recorder context;
    context.handlers.custom_malloc = [](JITUserContext *c, size_t size) {
        static_cast<Recorder *>(c)->allocations++;
        void *p = nullptr;
        return posix_memalign(&p, 128, size) == 0 ? p : nullptr;
    };
    context.handlers.custom_free = [](JITUserContext *, void *p) {
        std::free(p);
    };
    context.handlers.custom_print = [](JITUserContext *c, const char *text) {
        static_cast<Recorder *>(c)->printed += text;
    };
    g.store_in(MemoryType::Heap);
    f.realize(&context, {2});
    EXPECT_EQ(context.printed, "0 at 0 false\n1 at 1 true\n");
    EXPECT_EQ(context.allocations, 1);
    // The caller's handlers are as before: those of the run are gone.
    EXPECT_EQ(context.error_buffer, nullptr);
    EXPECT_EQ(context.handlers.custom_trace, nullptr);
}

TEST(Handlers, LongLinesAreCut) {
    std::vector<Expr> args;
    for (int i = 0; i < 1000; i++) {
        args.emplace_back(1.25f + i);
    }
    Func f;
    f(x) = print(args);
    Recorder context;
    context.handlers.custom_print = [](JITUserContext *c, const char *text) {
        static_cast<Recorder *>(c)->printed += text;
    };
    f.realize(&context, {1});
    EXPECT_EQ(context.printed.size(), 8191u);
    EXPECT_EQ(context.printed.substr(0, 17), "1.250000 2.250000");
}

TEST(Handlers, OfThePipeline) {
    static std::atomic<int> tasks;
    tasks = 0;
    Func f;
    f(x) = x;
    f.parallel(x);
    f.jit_handlers().custom_do_par_for = [](JITUserContext *c,
                                            int (*task)(JITUserContext *, int, uint8_t *), int min,
                                            int size, uint8_t *closure) {
        for (int i = min; i < min + size; i++) {
            tasks++;
            if (const int error = task(c, i, closure)) {
                return error;
            }
        }
        return 0;
    };
    f.realize({6});
    EXPECT_EQ(tasks, 6);
}

int f_library = 0;

int32_t symbols_found(int32_t v) {
    void *library = calotype_load_library("a library");
    return v + (calotype_get_symbol("a symbol") == &x) +
           (calotype_get_library_symbol(library, "its symbol") == &y);
}

TEST(Handlers, LookUpOfSymbols) {
    Func f("finder");
    f(x) = Call::make(Int(32), "symbols_found", {x}, CallKind::Extern);
    Pipeline p(f);
    p.set_jit_externs({{"symbols_found", JITExtern(symbols_found)}});
    p.jit_handlers().custom_get_symbol = [](const char *name) -> void * {
        return std::string(name) == "a symbol" ? &x : nullptr;
    };
    p.jit_handlers().custom_load_library = [](const char *name) -> void * {
        return std::string(name) == "a library" ? &f_library : nullptr;
    };
    p.jit_handlers().custom_get_library_symbol = [](void *library, const char *name) -> void * {
        return library == &f_library && std::string(name) == "its symbol" ? &y : nullptr;
    };
    Buffer<int32_t> out = p.realize({2});
    EXPECT_EQ(out(1), 3);
    // Outside of the run they are the runtime's own.
    EXPECT_EQ(symbols_found(0), 0);
}

struct NumberedRun : JITUserContext {
    int number = 0;
};

int32_t number_of_run(int32_t) {
    const auto *run = static_cast<const NumberedRun *>(JITSharedRuntime::current_run());
    return run ? run->number : -1;
}

// Also on threads of the pool, in loops and in tasks, while others run on the same ones.
TEST(Handlers, FunctionsFindTheRunThatTheyArePartOf) {
    const int threads = JITSharedRuntime::set_num_threads(4);
    Func f("f"), g("g");
    f(x, y) = Call::make(Int(32), "number_of_run", {x}, CallKind::Extern);
    g(x, y) = 10 * f(x, y) + Call::make(Int(32), "number_of_run", {y}, CallKind::Extern);
    f.compute_root().parallel(y).async();
    g.parallel(y);
    Pipeline p(g);
    p.set_jit_externs({{"number_of_run", JITExtern(number_of_run)}});
    p.compile_jit();
    std::atomic<int> wrong{0};
    std::vector<std::thread> runs;
    for (int number = 1; number <= 4; number++) {
        runs.emplace_back([&, number] {
            NumberedRun run;
            run.number = number;
            for (int i = 0; i < 25; i++) {
                Buffer<int32_t> out = p.realize(&run, {4, 16});
                out.for_each_value([&](int32_t v) { wrong += v != 11 * number; });
            }
        });
    }
    for (std::thread &t : runs) {
        t.join();
    }
    JITSharedRuntime::set_num_threads(threads);
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(JITSharedRuntime::current_run(), nullptr);
}

// What the runtime does by itself can be called from a handler that stands in its place.
JITHandlers of_runtime;
std::atomic<int> allocations{0};

TEST(Handlers, CallThoseOfTheRuntime) {
    JITUserContext filled;
    JITSharedRuntime::populate_jit_handlers(&filled, JITHandlers{});
    of_runtime = filled.handlers;
    EXPECT_EQ(of_runtime.custom_error, nullptr);  // a run with one does not throw
    Func f("f"), g("g");
    f(x) = x + 1;
    g(x) = f(x) + f(x + 1);
    f.compute_root().parallel(x);
    g.jit_handlers().custom_malloc = [](JITUserContext *c, size_t size) {
        allocations++;
        return of_runtime.custom_malloc(c, size);
    };
    g.jit_handlers().custom_free = [](JITUserContext *c, void *p) {
        of_runtime.custom_free(c, p);
    };
    g.jit_handlers().custom_do_par_for = [](JITUserContext *c,
                                            int (*task)(JITUserContext *, int, uint8_t *), int min,
                                            int size, uint8_t *closure) {
        return of_runtime.custom_do_par_for(c, task, min, size, closure);
    };
    Buffer<int32_t> out = g.realize({100});
    EXPECT_EQ(out(7), 17);
    EXPECT_GE(allocations, 1);
}

// ---- Callable ----

TEST(Callable, TakesWhatItWasCompiledFor) {
    Param<float> gain("gain");
    ImageParam input(Float(32), 1, "input");
    Func f("scaled");
    f(x) = input(x) * gain;
    Callable scaled = f.compile_to_callable({input, gain});
    Buffer<float, 1> in(4), out(4);
    in.fill(2.0f);
    EXPECT_EQ(scaled(in, 1.5f, out), 0);
    EXPECT_EQ(out(3), 3.0f);
    auto function = scaled.make_std_function<Buffer<float, 1>, float, Buffer<float, 1>>();
    EXPECT_EQ(function(in, 4.0f, out), 0);
    EXPECT_EQ(out(3), 8.0f);
    EXPECT_COMPILE_ERROR(
        scaled(in, 2, out),
        "Argument 2 of 3 ('gain') was expected to be a scalar of type 'float32' and "
        "dimension 0, but is a scalar of type 'int32'");
    EXPECT_COMPILE_ERROR(scaled(in, out), "a Callable takes 3 arguments, not 2");
    EXPECT_COMPILE_ERROR(
        scaled(1.0f, 1.0f, out),
        "Argument 1 of 3 ('input') was expected to be a buffer of type 'float32' and "
        "dimension 1, but is a scalar of type 'float32'");
    Buffer<float, 2> flat(2, 2);
    EXPECT_COMPILE_ERROR(
        scaled(flat, 1.0f, out),
        "Argument 1 of 3 ('input') was expected to be a buffer of type 'float32' and "
        "dimension 1, but is a buffer of type 'float32' and dimension 2");
}

// Mistakes in a call go to the handler of the context, or else to that of the pipeline.
TEST(Callable, HandlersGetTheMistakesOfACall) {
    static std::string text;
    ImageParam input(Float(32), 1, "input");
    Func f("scaled");
    f(x) = input(x) * 2.0f;
    Buffer<float, 1> in(4), out(4);
    in.fill(2.0f);
    const auto keep = [](JITUserContext *context, const char *message) {
        EXPECT_TRUE(context);
        text = message;
    };
    JITUserContext context;
    context.handlers.custom_error = keep;
    Callable plain = f.compile_to_callable({input});
    const std::string is_scalar = "('input') was expected to be a buffer of type 'float32' and "
                                  "dimension 1, but is a scalar of type ";
    EXPECT_NE(plain(&context, 1, out), 0);
    EXPECT_EQ(text, "Argument 1 of 2 " + is_scalar + "'int32'");
    EXPECT_NE(plain(&context, in), 0);
    EXPECT_EQ(text, "a Callable takes 2 arguments, not 1");
    f.jit_handlers().custom_error = keep;
    Callable handled = f.compile_to_callable({input});
    EXPECT_NE(handled(in, out, out), 0);
    EXPECT_EQ(text, "a Callable takes 2 arguments, not 3");
    (void)handled.make_std_function<float, Buffer<float, 1>>();
    EXPECT_EQ(text, "Argument 1 of 2 " + is_scalar + "'float32'");
    EXPECT_EQ(handled(static_cast<const calotype_buffer_t *>(in.raw_buffer()), out), 0);
    EXPECT_EQ(out(3), 4.0f);
    EXPECT_NE(handled(static_cast<const calotype_buffer_t *>(nullptr), out), 0);
    EXPECT_EQ(text, "Buffer argument input is nullptr");
    text.clear();
    EXPECT_NE(handled(Buffer<const float>(), out), 0);
    EXPECT_EQ(text, "Buffer argument input is nullptr");
}

TEST(Callable, WithoutChecks) {
    Param<int> p("p");
    Func f;
    f(x) = x + p;
    Callable c = f.compile_to_callable({p});
    Buffer<int32_t, 1> out(3);
    JITUserContext context;
    JITUserContext *address = &context;
    const int value = 40;
    const void *argv[] = {&address, &value, out.raw_buffer()};
    EXPECT_EQ(c.call_argv_fast(3, argv), 0);
    EXPECT_EQ(out(2), 42);
}

// ---- extern functions ----

int triple(int v) {
    return 3 * v;
}

TEST(Externs, CFunctionByAddress) {
    Func f;
    f(x) = Call::make(Int(32), "triple_of", {x}, CallKind::PureExtern);
    Pipeline p(f);
    p.set_jit_externs({{"triple_of", JITExtern(triple)}});
    Buffer<int32_t> out = p.realize({5});
    EXPECT_EQ(out(4), 12);
}

TEST(Externs, CodeKeepsWhatItsFunctionNeeds) {
    auto kept = std::make_shared<int>(1);
    const std::weak_ptr<int> needed = kept;
    Callable callable;
    {
        Func f;
        f(x) = Call::make(Int(32), "triple_of", {x}, CallKind::PureExtern);
        Pipeline p(f);
        const ExternCFunction function(reinterpret_cast<void *>(triple), ExternSignature(triple),
                                       std::move(kept));
        p.set_jit_externs({{"triple_of", JITExtern(function)}});
        callable = p.compile_to_callable({});
        p.set_jit_externs({});
    }
    EXPECT_FALSE(needed.expired());
    Buffer<int32_t> out(5);
    callable(out);
    EXPECT_EQ(out(4), 12);
}

TEST(Externs, APipelineAsAnExternStage) {
    Func inner;
    Param<int> base("base");
    inner(x) = x * 2 + base;
    Func f, g;
    g.define_extern("inner_stage", {Expr(100)}, Int(32), 1);
    f(x) = g(x) + 1;
    g.compute_root();
    Pipeline p(f);
    p.set_jit_externs({{"inner_stage", JITExtern(inner)}});
    Buffer<int32_t> out = p.realize({5});
    EXPECT_EQ(out(4), 109);
}

TEST(Evaluate, Values) {
    EXPECT_EQ(evaluate<int>(Expr(3) * 4), 12);
    float a = 0;
    int b = 0;
    evaluate(Tuple(Expr(1.5f), Expr(7)), a, b);
    EXPECT_EQ(a, 1.5f);
    EXPECT_EQ(b, 7);
}

}  // namespace
}  // namespace calotype
