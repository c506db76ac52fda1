// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What lanes of a warp share, in their registers and by shuffles against the same schedule in
// shared memory: the corpus's tile with a border, sums of rows and sums by exchange, each in both
// forms, in turns on one device. Writes JSON to the file that is named, or prints it: medians in
// microseconds a call, and the part of the time in shared memory that the time by shuffles is.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <calotype/buffer.h>
#include <calotype/runtime.h>

#include "lanes_butterfly_cuda.h"
#include "lanes_butterfly_shared_cuda.h"
#include "lanes_sums_cuda.h"
#include "lanes_sums_shared_cuda.h"
#include "lanes_tile_cuda.h"
#include "lanes_tile_shared_cuda.h"
#include "performance/gpu/bench.h"

namespace {

constexpr int calls = 20, rounds = 15;

class Bench {
public:
    calotype_bench::Json json;
    int failures = 0;

    using Pipeline = int (*)(calotype_buffer_t *, calotype_buffer_t *);

    /** The input has `more` elements and rows more than the output. */
    template<typename T>
    void compare(const std::string &name, int width, int height, int more, Pipeline shuffles,
                 Pipeline shared) {
        using Image = calotype::Runtime::Buffer<T, 2>;
        Image input(width + more, height + more), here(width, height), there(width, height);
        uint32_t state = 1;
        input.for_each_value([&](T &v) {
            state = state * 1664525u + 1013904223u;
            v = T(state >> 24);
        });
        input.set_host_dirty();
        // The first calls load kernels and allocate.
        expect_ok(shuffles(input, here));
        expect_ok(shared(input, there));
        std::vector<double> by_shuffles, in_shared;
        for (int i = 0; i < rounds && failures == 0; i++) {
            by_shuffles.push_back(us_of([&] { return shuffles(input, here); }, here));
            in_shared.push_back(us_of([&] { return shared(input, there); }, there));
        }
        expect_ok(here.copy_to_host());
        expect_ok(there.copy_to_host());
        if (failures > 0) {
            return;
        }
        here.for_each_element([&](int x, int y) {
            const double a = double(here(x, y)), b = double(there(x, y));
            failures += !(std::abs(a - b) <= 1e-5 * std::max(std::abs(a), 1.0));
        });
        const double fast = median(by_shuffles), slow = median(in_shared);
        json.add(name + "_us", fast);
        json.add(name + "_shared_us", slow);
        json.add(name + "_of_shared", fast / slow);
    }

private:
    void expect_ok(int code) {
        failures += code != 0;
    }
    static double median(std::vector<double> us) {
        std::sort(us.begin(), us.end());
        return us[us.size() / 2];
    }
    /** One of calls that do not wait for each other. */
    double us_of(const std::function<int()> &call, calotype_buffer_t *result) {
        const double begin = calotype_bench::now_ns();
        for (int i = 0; i < calls; i++) {
            expect_ok(call());
        }
        expect_ok(calotype_device_sync(nullptr, result));
        return (calotype_bench::now_ns() - begin) / 1e3 / calls;
    }
};

}  // namespace

int main(int argc, char **argv) {
    Bench bench;
    bench.compare<float>("lanes_tile", 4096, 4096, 2, lanes_tile_cuda, lanes_tile_shared_cuda);
    bench.compare<float>("lanes_sums", 4096, 4096, 0, lanes_sums_cuda, lanes_sums_shared_cuda);
    bench.compare<int64_t>("lanes_butterfly", 4096, 4096, 0, lanes_butterfly_cuda,
                           lanes_butterfly_shared_cuda);
    if (bench.failures > 0) {
        std::fprintf(stderr, "no CUDA device, or results that differ: %d failures\n",
                     bench.failures);
        return 1;
    }
    bench.json.write(argc > 1 ? argv[1] : nullptr);
    return 0;
}
