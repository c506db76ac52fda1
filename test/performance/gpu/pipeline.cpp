// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pipeline of 51 kernels as the generator compiles it ahead of time, with its cubin: first call
// after the context is there, and warm.
#include "performance/gpu/bench.h"

#include <algorithm>

#include <calotype/buffer.h>

#include "chain_51_cuda.h"

namespace calotype_bench {

void Bench::generated_pipeline() {
    using Image = calotype::Runtime::Buffer<float, 2>;
    Image in(16, 16), out(16, 16);
    in.fill(1.0f);
    const auto *device = calotype_cuda_device_interface();
    expect_ok(in.device_malloc(device));
    expect_ok(in.copy_to_device(device));
    expect_ok(out.device_malloc(device));
    calotype_reuse_device_allocations(nullptr, true);
    // What the driver's first launch costs is not the pipeline's.
    const double before_launch = now_ns();
    expect_ok(driver.launch(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
    driver.stream_sync(nullptr);
    json.add("driver_first_launch_us", (now_ns() - before_launch) / 1e3);
    const auto run = [&] {
        const double begin = now_ns();
        expect_ok(chain_51_cuda(in, out));
        driver.stream_sync(nullptr);
        return (now_ns() - begin) / 1e3;
    };
    const calotype_stats before = stats();
    json.add("generated_51_first_us", run());
    const calotype_stats after = stats();
    json.add("generated_51_compiles", double(after.compiles - before.compiles));
    json.add("generated_51_load_us", double(after.load_ns - before.load_ns) / 1e3);
    std::vector<double> warm;
    for (int i = 0; i < 201; i++) {
        warm.push_back(run());
    }
    std::sort(warm.begin(), warm.end());
    json.add("generated_51_warm_us", warm[100]);
    // Without the sync, what the host alone does.
    const double begin = now_ns();
    for (int i = 0; i < 20; i++) {
        expect_ok(chain_51_cuda(in, out));
    }
    json.add("generated_51_host_us", (now_ns() - begin) / 20e3);
    driver.stream_sync(nullptr);
    calotype_reuse_device_allocations(nullptr, false);
}

}  // namespace calotype_bench
