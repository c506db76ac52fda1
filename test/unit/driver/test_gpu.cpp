// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipelines on a device, in this process. They run on whatever OpenCL there is (PoCL is enough);
// without one the tests that need a device are skipped.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "driver/callable.h"
#include "driver/compiler.h"
#include "driver/jit_handlers.h"
#include "driver/jit_shared_runtime.h"
#include "driver/module.h"
#include "harness/expect_error.h"
#include "lang/language.h"
#include "runtime/abi/kernel_cache.h"

namespace calotype {
namespace {

Var x("x"), y("y"), xi("xi"), yi("yi");

class Gpu : public testing::Test {
protected:
    void SetUp() override {
        if (!host_supports_target_device(target)) {
            GTEST_SKIP() << "no OpenCL device";
        }
    }
    Target target = get_host_target().with_feature(Target::OpenCL);
};

TEST_F(Gpu, OneKernel) {
    Buffer<float> in(70, 50);
    in.for_each_element([&](int i, int j) { in(i, j) = float(i * 100 + j); });
    Func f("f");
    f(x, y) = in(x, y) * 2;
    f.gpu_tile(x, y, xi, yi, 8, 8);
    Buffer<float> out = f.realize({70, 50}, target);
    for (int j = 0; j < 50; j++) {
        for (int i = 0; i < 70; i++) {
            ASSERT_EQ(out(i, j), float(i * 100 + j) * 2) << i << ", " << j;
        }
    }
}

TEST_F(Gpu, IntermediatesStayOnTheDevice) {
    Func f("f"), g("g"), h("h");
    f(x, y) = x + y * 10;
    g(x, y) = f(x - 1, y) + f(x + 1, y);
    h(x, y) = g(x, y - 1) * g(x, y + 1);
    for (Func s : {f, g, h}) {
        s.compute_root().gpu_tile(x, y, xi, yi, 8, 4);
    }
    Buffer<int> out = h.realize({33, 21}, target);
    for (int j = 0; j < 21; j++) {
        for (int i = 0; i < 33; i++) {
            ASSERT_EQ(out(i, j), (2 * (i + (j - 1) * 10)) * (2 * (i + (j + 1) * 10)));
        }
    }
}

TEST_F(Gpu, DataGoesToAndFro) {
    Func f("f"), g("g"), h("h");
    f(x, y) = x + y;
    g(x, y) = f(x, y) * 3;
    h(x, y) = g(x, y) + f(x, y);
    f.compute_root();
    g.compute_root().gpu_tile(x, y, xi, yi, 8, 4);
    h.compute_root();
    Buffer<int> out = h.realize({20, 10}, target);
    for (int j = 0; j < 10; j++) {
        for (int i = 0; i < 20; i++) {
            ASSERT_EQ(out(i, j), (i + j) * 4);
        }
    }
}

TEST_F(Gpu, BothSidesInOneLoop) {
    // Each round of the host's loop over y reads what a kernel has just made.
    Func f("f"), g("g");
    f(x, y) = x * y;
    g(x, y) = f(x, y) + f(x, y + 1);
    f.store_root().compute_at(g, y).gpu_tile(x, xi, 8);
    Buffer<int> out = g.realize({30, 12}, target);
    for (int j = 0; j < 12; j++) {
        for (int i = 0; i < 30; i++) {
            ASSERT_EQ(out(i, j), i * j + i * (j + 1));
        }
    }
}

TEST_F(Gpu, StorageInsideOfAParallelLoop) {
    Func f("f"), g("g");
    f(x, y) = x * y + 1;
    g(x, y) = f(x, y) * 2;
    f.compute_at(g, y).gpu_tile(x, xi, 8);
    g.parallel(y);
    Buffer<int> out = g.realize({30, 12}, target);
    for (int j = 0; j < 12; j++) {
        for (int i = 0; i < 30; i++) {
            ASSERT_EQ(out(i, j), (i * j + 1) * 2);
        }
    }
}

TEST_F(Gpu, UpdatesOnEitherSide) {
    Func f("f");
    RDom r(0, 5);
    f(x) = x;
    f(x) += 10 * x;
    f(r) += 1000;
    f.gpu_tile(x, xi, 8);
    f.update(0).gpu_tile(x, xi, 8);
    Buffer<int> out = f.realize({24}, target);  // the last update on the host
    for (int i = 0; i < 24; i++) {
        ASSERT_EQ(out(i), 11 * i + (i < 5 ? 1000 : 0));
    }
}

TEST_F(Gpu, SeveralValuesAndScalars) {
    Param<float> scale("scale");
    Param<bool> negate("negate");
    Param<uint8_t> offset("offset");
    Func f("f");
    const Expr v = cast<float>(x) * scale + cast<float>(offset);
    f(x) = Tuple(select(negate, -v, v), cast<int16_t>(x - 7));
    f.gpu_tile(x, xi, 16);
    scale.set(1.5f);
    negate.set(true);
    offset.set(200);
    Realization r = f.realize({40}, target);
    const Buffer<float> a = r[0];
    const Buffer<int16_t> b = r[1];
    for (int i = 0; i < 40; i++) {
        ASSERT_EQ(a(i), -(float(i) * 1.5f + 200.0f));
        ASSERT_EQ(b(i), int16_t(i - 7));
    }
}

TEST_F(Gpu, GivenBuffersStayWhereTheyWereWritten) {
    ImageParam input(Int(32), 1, "input");
    Func f("f");
    f(x) = input(x) + 1;
    f.gpu_tile(x, xi, 8);
    Buffer<int> a(16), b(16);
    a.fill(5);
    input.set(a);
    f.realize(b, target);
    EXPECT_TRUE(b.device_dirty());
    EXPECT_TRUE(b.has_device_allocation());
    EXPECT_FALSE(a.host_dirty());  // it was copied
    // What is on the device is used from there: the host's copy is not looked at.
    input.set(b);
    Buffer<int> c(16);
    f.realize(c, target);
    EXPECT_TRUE(b.device_dirty());
    c.copy_to_host();
    EXPECT_EQ(c(3), 7);
    EXPECT_EQ(b.copy_to_host(), 0);
    EXPECT_EQ(b(15), 6);
}

TEST_F(Gpu, ThePipelineOfTheHostReadsWhatADeviceWrote) {
    ImageParam input(Int(32), 1, "input");
    Func on_device("on_device"), on_host("on_host");
    on_device(x) = x * 7;
    on_device.gpu_tile(x, xi, 8);
    Buffer<int> a(16);
    on_device.realize(a, target);
    on_host(x) = input(x) + 1;
    input.set(a);
    Buffer<int> out = on_host.realize({16}, target);
    EXPECT_EQ(out(5), 36);
    EXPECT_FALSE(a.device_dirty());
}

TEST_F(Gpu, CopiesAsFuncs) {
    Buffer<int> in(32);
    in.for_each_element([&](int i) { in(i) = i * i; });
    Func f("f"), g("g"), on_device("on_device"), back("back");
    f(x) = in(x) + 1;
    on_device(x) = f(x);
    g(x) = on_device(x) * 2;
    back(x) = g(x);
    f.compute_root();
    on_device.compute_root().copy_to_device();
    g.compute_root().gpu_tile(x, xi, 8);
    back.copy_to_host();
    Buffer<int> out(32);
    back.realize(out, target);
    EXPECT_FALSE(out.device_dirty());
    for (int i = 0; i < 32; i++) {
        ASSERT_EQ(out(i), (i * i + 1) * 2);
    }
}

TEST_F(Gpu, ACopyOfAnInput) {
    ImageParam input(Float(32), 2, "input");
    Func f("f");
    const Func copy = input.in();
    Func(copy).compute_root().copy_to_device();
    f(x, y) = input(x, y + 1) + 1.0f;
    f.gpu_tile(x, y, xi, yi, 4, 4);
    Buffer<float> in(16, 17);
    in.for_each_element([&](int i, int j) { in(i, j) = float(i + 100 * j); });
    input.set(in);
    Buffer<float> out = f.realize({16, 16}, target);
    EXPECT_FALSE(in.has_device_allocation());
    EXPECT_EQ(out(3, 4), 504.0f);
}

TEST_F(Gpu, AConstantImage) {
    Buffer<uint8_t> table(256);
    table.for_each_element([&](int i) { table(i) = uint8_t(255 - i); });
    Func f("f");
    f(x) = table(cast<uint8_t>(x * 3)) + cast<uint8_t>(1);
    f.gpu_tile(x, xi, 16);
    Buffer<uint8_t> out = f.realize({64}, target);
    for (int i = 0; i < 64; i++) {
        ASSERT_EQ(out(i), uint8_t(256 - uint8_t(i * 3)));
    }
}

TEST_F(Gpu, EvaluateMayUseIt) {
    EXPECT_EQ(evaluate_may_gpu<int>(Expr(6) * 7), 42);
}

TEST_F(Gpu, ASecondRunCompilesNothing) {
    Func f("f");
    f(x) = x * 5;
    f.gpu_tile(x, xi, 8);
    f.realize({16}, target);
    const internal::CompileCounts before = internal::Compiler::of_process().counts();
    Buffer<int> out = f.realize({16}, target);
    const internal::CompileCounts after = internal::Compiler::of_process().counts();
    EXPECT_EQ(after.jit_compiled, before.jit_compiled);
    EXPECT_EQ(out(3), 15);
}

TEST_F(Gpu, ManyThreads) {
    Func f("f");
    f(x) = x * 5 + 1;
    f.gpu_tile(x, xi, 8);
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([&] {
            for (int i = 0; i < 8; i++) {
                Buffer<int> out(64);
                f.realize(out, target);
                out.copy_to_host();
                wrong += out(63) != 63 * 5 + 1;
            }
        });
    }
    for (std::thread &t : threads) {
        t.join();
    }
    EXPECT_EQ(wrong, 0);
}

TEST(UserContext, IsAnArgumentWhereTheTargetAsksForIt) {
    Func f("f_context");
    Param<int> n("n");
    f(x) = x + n;
    const Module with =
        Pipeline(f).compile_to_module({n}, "f", Target("x86-64-linux-user_context"));
    ASSERT_EQ(with.functions()[0].args.size(), 3u);
    EXPECT_EQ(with.functions()[0].args[0].name, "__user_context");
    EXPECT_TRUE(with.functions()[0].args[0].type.is_handle());
    const Module without = Pipeline(f).compile_to_module({n}, "f", Target("x86-64-linux"));
    EXPECT_EQ(without.functions()[0].args.size(), 2u);
}

TEST_F(Gpu, DeviceCodeOfACallableIsLoadedAhead) {
    Func f("f_ahead");
    f(x) = x * 77;
    f.gpu_tile(x, xi, 8);
    const Callable call = f.compile_to_callable({}, target);
    const calotype_module_desc *const *modules = call.device_modules();
    ASSERT_TRUE(modules && modules[0]);
    EXPECT_EQ(modules[1], nullptr);
    void *ticket = nullptr;
    ASSERT_EQ(calotype_prefetch(nullptr, modules, 1, 0, &ticket), CALOTYPE_OK);
    ASSERT_EQ(calotype_prefetch_wait(ticket, 60000), CALOTYPE_OK);
    const uint64_t loads = internal::JITSharedRuntime::kernel_cache_stats().loads;
    Buffer<int> out(16);
    EXPECT_EQ(call(out), 0);
    EXPECT_EQ(internal::JITSharedRuntime::kernel_cache_stats().loads, loads);
    ASSERT_EQ(out.copy_to_host(), 0);
    EXPECT_EQ(out(3), 231);

    Func g("g_ahead");
    g(x) = x;
    EXPECT_EQ(g.compile_to_callable({}, target).device_modules(), nullptr);
}

TEST(GpuErrors, NoGpuInTheTarget) {
    Func f("f_none");
    f(x) = x;
    f.gpu_tile(x, xi, 8);
    const Target host("x86-64-linux");
    EXPECT_COMPILE_ERROR(Pipeline(f).compile_to_module({}, "f", host),
                         "func f_none is scheduled on a GPU, but target x86-64-linux has none: add "
                         "cuda or opencl to it");
}

TEST(GpuErrors, AnotherGpuThanTheTargetHas) {
    Func f("f_other");
    f(x) = x;
    f.gpu_tile(x, xi, 8, TailStrategy::Auto, DeviceAPI::CUDA);
    const Target target("x86-64-linux-opencl");
    EXPECT_COMPILE_ERROR(Pipeline(f).compile_to_module({}, "f", target),
                         "func f_other is scheduled on cuda, but target x86-64-linux-opencl does "
                         "not have it");
}

}  // namespace
}  // namespace calotype
