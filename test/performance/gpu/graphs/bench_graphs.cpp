// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 51 tiny kernels, each of which needs the one before, and a wait: launched one by one and as a
// graph whose kernels get other arguments in every call; by the driver alone and by a pipeline that
// was generated with and without cuda_graphs. Writes JSON to the file that is named, or prints it:
// medians in microseconds.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <calotype/buffer.h>
#include <calotype/runtime.h>

#include "gain_51_graphs.h"
#include "gain_51_streams.h"
#include "gpu/graphs/driver.h"
#include "performance/gpu/bench.h"

namespace {

constexpr int n_kernels = 51, rounds = 501;
using calotype_test::KernelNode;
using Line = calotype::Runtime::Buffer<float, 1>;

const char kernel[] = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry step(.param .u64 to, .param .f32 v) {
.reg .b64 %a<2>; .reg .f32 %f<3>;
ld.param.u64 %a0, [to]; cvta.to.global.u64 %a1, %a0; ld.param.f32 %f0, [v];
ld.global.f32 %f1, [%a1]; fma.rn.f32 %f2, %f1, %f0, %f0; st.global.f32 [%a1], %f2;
ret;
}
)";

class Bench {
public:
    calotype_bench::Json json;
    int failures = 0;

    bool open() {
        void *context = nullptr, *module = nullptr;
        if (!cuda.open() || cuda.retain(&context, 0) != 0 || cuda.set_current(context) != 0) {
            return false;
        }
        expect_ok(cuda.stream_create(&stream, 1));
        expect_ok(cuda.load(&module, kernel));
        expect_ok(cuda.function(&step, module, "step"));
        expect_ok(cuda.alloc(&memory, 4));
        on = CALOTYPE_DEVICE_CONTEXT(context, stream);
        return failures == 0;
    }

    /** What the driver does when it is asked directly. */
    void raw() {
        measure("raw_launches", [&] {
            for (int i = 0; i < n_kernels; i++) {
                expect_ok(cuda.launch(step, 1, 1, 1, 1, 1, 1, 0, stream, args, nullptr));
            }
        });
        void *graph = nullptr, *exec = nullptr;
        std::vector<void *> nodes(n_kernels);
        const KernelNode node = {step, {1, 1, 1}, {1, 1, 1}, 0, args, nullptr};
        expect_ok(cuda.graph_create(&graph, 0));
        for (size_t i = 0; i < n_kernels; i++) {
            expect_ok(cuda.add_kernel(&nodes[i], graph, i ? &nodes[i - 1] : nullptr, i > 0, &node));
        }
        expect_ok(cuda.instantiate(&exec, graph, 0));
        const auto update = [&] {
            value += 1;
            for (void *n : nodes) {
                expect_ok(cuda.set_params(exec, n, &node));
            }
        };
        measure("raw_graph", [&] { expect_ok(cuda.launch_graph(exec, stream)); });
        measure("raw_graph_updated", [&] {
            update();
            expect_ok(cuda.launch_graph(exec, stream));
        });
        measure("raw_update_alone", update, false);
    }

    /** Generated pipelines on one block's worth of data; the gain is an argument of all kernels. */
    void generated() {
        Line in(64), out(64);
        in.fill(1.0f);
        in.set_host_dirty();
        float gain = 0.5f;
        measure("pipeline_launches", [&] { expect_ok(gain_51_streams(&on, in, gain, out)); });
        measure("pipeline_launches_updated", [&] {
            gain = 1.0f - gain;
            expect_ok(gain_51_streams(&on, in, gain, out));
        });
        measure("pipeline_graph", [&] { expect_ok(gain_51_graphs(&on, in, gain, out)); });
        const uint64_t before = updates();
        float other = 0.25f;
        measure("pipeline_graph_updated", [&] {
            other = other < 0.5f ? other + 0.0001f : 0.25f;
            expect_ok(gain_51_graphs(&on, in, other, out));
        });
        json.add("kernels_updated_a_call", double(updates() - before) / (rounds + 10));
        in.device_free(&on);
        out.device_free(&on);
    }

private:
    void expect_ok(int code) {
        failures += code != 0;
    }
    static uint64_t updates() {
        calotype_stats s = {};
        s.size = sizeof s;
        calotype_get_stats(0, &s);
        return s.graph_updates;
    }
    /** The median of calls that are waited for, after ten that are not counted. */
    void measure(const std::string &name, const std::function<void()> &call, bool waits = true) {
        std::vector<double> us;
        for (int i = -10; i < rounds; i++) {
            const double begin = calotype_bench::now_ns();
            call();
            if (waits) {
                expect_ok(cuda.stream_sync(stream));
            }
            if (i >= 0) {
                us.push_back((calotype_bench::now_ns() - begin) / 1e3);
            }
        }
        std::sort(us.begin(), us.end());
        json.add(name + "_us", us[rounds / 2]);
    }

    calotype_test::GraphDriver cuda = {};
    void *stream = nullptr, *step = nullptr;
    uint64_t memory = 0;
    float value = 1;
    void *args[2] = {&memory, &value};
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(nullptr, nullptr);
};

}  // namespace

int main(int argc, char **argv) {
    Bench bench;
    if (!bench.open()) {
        std::fprintf(stderr, "no CUDA device\n");
        return 1;
    }
    bench.raw();
    bench.generated();
    bench.json.write(argc > 1 ? argv[1] : nullptr);
    return bench.failures ? 1 : 0;
}
