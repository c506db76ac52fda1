// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A generated pipeline of five kernels on the fake driver: what it asks of the driver, and what
// comes out where functions of the host stand for the kernels.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <calotype/buffer.h>

#include "all_fake.h"
#include "runtime/abi/kernel_cache.h"
#include "runtime/cuda/fixture.h"

namespace {

using Line = calotype::Runtime::Buffer<float, 1>;
using Counts = std::vector<long>;
constexpr int width = 500;

/// The driver is to load text, since the fake one sees the arguments of that alone.
calotype_status take_ptx(void *, const calotype_module_desc *desc, uint32_t, char, void **image,
                         size_t *n, char **) {
    for (uint32_t i = 0; i < desc->n_images; i++) {
        const calotype_image &from = desc->images[i];
        if (from.kind == CALOTYPE_PTX) {
            *image = malloc(from.size + 1);
            memcpy(*image, from.data, from.size + 1);
            *n = from.size;
            return CALOTYPE_OK;
        }
    }
    return CALOTYPE_E_NO_IMAGE;
}

/// to = from * gain + added; the arguments are in the order of their names, the gain first.
void step(const calotype_test::FakeLaunch &launch, bool to_first, float added) {
    std::vector<float *> buffers;
    for (uint32_t i = 0; i < launch.n_args; i++) {
        if (launch.args[i].memory) {
            uint64_t address = 0;
            memcpy(&address, launch.args[i].value, sizeof address);
            buffers.push_back(reinterpret_cast<float *>(address));
        }
    }
    ASSERT_EQ(2u, buffers.size()) << launch.name;
    float gain = 0;
    memcpy(&gain, launch.args[0].value, sizeof gain);
    for (int x = 0; x < width; x++) {
        buffers[to_first ? 0 : 1][x] = buffers[to_first ? 1 : 0][x] * gain + added;
    }
}
void stage(const calotype_test::FakeLaunch &launch) {
    step(launch, false, float(launch.name[5] - '0'));
}
void output(const calotype_test::FakeLaunch &launch) {
    step(launch, true, 1.0f);
}

class GeneratedGraphs : public calotype_test::FakeCuda {
protected:
    void *context = make_context(), *stream = make_stream(context);
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, stream);
    Line in{width}, out{width};

    GeneratedGraphs() {
        calotype_set_compile_hook(take_ptx, nullptr, "ptx");
        for (char i = '0'; i < '4'; i++) {
            fake_cuda::define_kernel(std::string("stage") + i + "_s0", stage);
        }
        fake_cuda::define_kernel("output_s0", output);
        send(0);
    }
    ~GeneratedGraphs() override {
        in.device_free(&on);
        out.device_free(&on);
        calotype_device_release(&on, cuda());
        EXPECT_EQ(0, fake_cuda::live_graphs());
        EXPECT_EQ(0, cuCtxDestroy_v2(context));
        calotype_set_compile_hook(nullptr, nullptr, nullptr);
    }
    void send(int seed) {
        in.for_each_element([&](int x) { in(x) = float((x * 11 + seed) % 17); });
        in.set_host_dirty();
        EXPECT_EQ(0, in.copy_to_device(cuda(), &on));
    }
    void check(float gain) {
        out.set_device_dirty();
        ASSERT_EQ(0, out.copy_to_host(&on));
        const Line &sent = in, &received = out;
        for (int x = 0; x < width; x++) {
            float v = sent(x);
            for (int i = 0; i < 4; i++) {
                v = v * gain + float(i);
            }
            ASSERT_EQ(v * gain + 1.0f, received(x)) << x;
        }
        out.set_host_dirty(false);
    }
    /// Launches, graphs made, nodes updated, graphs launched, allocations, frees.
    Counts call(float gain) {
        static const char *const names[] = {
            "cuLaunchKernel", "cuGraphInstantiateWithFlags", "cuGraphExecKernelNodeSetParams",
            "cuGraphLaunch",  "cuMemAllocFromPoolAsync",     "cuMemFreeAsync"};
        Counts made;
        for (const char *name : names) {
            made.push_back(-fake_cuda::calls(name));
        }
        EXPECT_EQ(0, gain_5_fake(&on, in, gain, out));
        for (size_t i = 0; i < made.size(); i++) {
            made[i] += fake_cuda::calls(names[i]);
        }
        return made;
    }
};

TEST_F(GeneratedGraphs, AreMadeOnceAndGivenWhatChanged) {
    ASSERT_EQ(0, calotype_device_malloc(&on, out, cuda()));
    EXPECT_EQ((Counts{5, 0, 0, 0, 2, 2}), call(2.0f)) << "two buffers serve four stages";
    check(2.0f);
    EXPECT_EQ((Counts{0, 1, 0, 1, 2, 2}), call(2.0f));
    check(2.0f);
    for (int i = 0; i < 5; i++) {
        send(i);
        const float gain = 1.5f + float(i);
        const Counts calls = call(gain);
        EXPECT_EQ(5, calls[2]);
        EXPECT_EQ((Counts{0, 1, 2, 2}), (Counts{calls[0], calls[3], calls[4], calls[5]}));
        check(gain);
    }
}

TEST_F(GeneratedGraphs, AreNotMadeInACaptureWhichIsReplayed) {
    ASSERT_EQ(0, calotype_device_malloc(&on, out, cuda()));
    call(2.0f);
    call(2.0f);
    void *graph = nullptr, *exec = nullptr;
    ASSERT_EQ(0, cuStreamBeginCapture_v2(stream, 0));
    EXPECT_EQ((Counts{5, 0, 0, 0, 2, 2}), call(3.0f));
    ASSERT_EQ(0, cuStreamEndCapture(stream, &graph));
    ASSERT_EQ(0, cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 100; i++) {
        send(i);
        ASSERT_EQ(0, cuGraphLaunch(exec, stream));
        check(3.0f);
    }
    send(0);
    EXPECT_EQ(1, call(2.0f)[3]) << "ours is still there";
    check(2.0f);
    EXPECT_EQ(0, cuGraphExecDestroy(exec));
    EXPECT_EQ(0, cuGraphDestroy(graph));
}

}  // namespace
