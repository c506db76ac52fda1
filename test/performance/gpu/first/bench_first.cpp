// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bench_first FILE: the first call of a pipeline of 51 kernels in a process and a new context, and
// what of it are calls of the driver; beside it the same cubin, loaded and launched by the driver
// alone; and that of one kernel, without a linkable and with one that its generator has linked.
// Each call has a process of its own, in turns; figures are medians.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include <calotype/buffer.h>

#include "chain_51_cuda.h"
#include "performance/gpu/bench.h"
#include "performance/gpu/first/driver_calls.h"
#include "runtime/abi/kernel_cache.h"
#include "runtime/abi/memory.h"
#include "runtime/abi/runtime_cuda.h"
#ifdef BENCH_LINKED
#include "one_kernel.h"
#include "one_linked_kernel.h"
#endif

namespace {

using namespace calotype_bench;
namespace cuda = calotype::runtime::cuda;
using Image = calotype::Runtime::Buffer<float, 2>;
constexpr int n_kernels = 51, rounds = 9, warm_rounds = 201;

int failures = 0;
void expect_ok(int code) {
    failures += code != 0;
}

void say(const std::string &name, double value) {
    printf("%s %.6g\n", name.c_str(), value);
}
void say_times(const std::string &name, int calls) {
    double sum = 0;
    for (const DriverTime &time : take_times()) {
        say(name + "." + time.name + "_us", time.us / calls);
        say(name + "." + time.name + "_calls", double(time.calls) / calls);
        sum += time.us / calls;
    }
    say(name + "_in_driver_us", sum);
}

/// Once, and then often.
template<typename F>
void measure(F run) {
    const auto us = [&] {
        const double begin = now_ns();
        run();
        return (now_ns() - begin) / 1e3;
    };
    take_times();
    say("first_us", us());
    say_times("first", 1);
    std::vector<double> warm;
    for (int i = 0; i < warm_rounds + 10; i++) {
        warm.push_back(us());
        if (i == 9) {
            warm.clear();
            take_times();
        }
    }
    say_times("warm", warm_rounds);
    std::sort(warm.begin(), warm.end());
    say("warm_us", warm[warm_rounds / 2]);
}

/// A new context of a driver that has started, in which nothing was done yet.
const cuda::Driver *start() {
    const cuda::Driver *driver = timed_driver();
    cuda::CUcontext context = nullptr;
    const bool is_there = driver && driver->cuInit(0) == cuda::CUDA_SUCCESS &&
                          driver->cuDevicePrimaryCtxRetain(&context, 0) == cuda::CUDA_SUCCESS &&
                          driver->cuCtxPushCurrent(context) == cuda::CUDA_SUCCESS;
    return is_there ? driver : nullptr;
}

template<typename T, int D>
bool pipeline(int (*run)(calotype_buffer_t *, calotype_buffer_t *),
              calotype::Runtime::Buffer<T, D> in, calotype::Runtime::Buffer<T, D> &out) {
    const cuda::Driver *driver = start();
    if (!driver) {
        return false;
    }
    clock_runtime();
    calotype_reuse_device_allocations(nullptr, true);
    in.fill(T(1));
    in.set_host_dirty();
    measure([&] {
        expect_ok(run(in, out));
        expect_ok(driver->cuStreamSynchronize(nullptr));
    });
    return true;
}

#ifdef BENCH_LINKED
template<int (*run)(calotype_buffer_t *, calotype_buffer_t *)>
bool one() {
    using Line = calotype::Runtime::Buffer<int32_t, 1>;
    Line out(256);
    const bool is_there = pipeline(run, Line(256), out);
    out.copy_to_host();
    failures += out(255) != 3;
    return is_there;
}
#endif

// ---- the same by the driver alone ------------------------------------------------------------

const calotype_module_desc *seen = nullptr;
calotype_status look(void *, const calotype_module_desc *desc, uint32_t, char, void **image,
                     size_t *n, char **) {
    seen = desc;
    *image = calloc(1, 1);
    *n = 1;
    return CALOTYPE_OK;
}

struct Launch {
    unsigned grid[3], block[3];
    std::vector<uint64_t> values;
};

/// What the pipeline launches, by a call with a driver that does nothing.
std::vector<Launch> launches_of_pipeline() {
    std::vector<Launch> all;
    use_no_driver([&](const unsigned *grid, const unsigned *block, void **args) {
        const calotype_kernel_desc &kernel = seen->kernels[all.size()];
        Launch &launch = all.emplace_back();
        memcpy(launch.grid, grid, sizeof launch.grid);
        memcpy(launch.block, block, sizeof launch.block);
        for (uint32_t i = 0; i < kernel.n_args; i++) {
            launch.values.push_back(0);
            memcpy(&launch.values.back(), args[i], kernel.args[i].bytes);
        }
    });
    calotype_set_compile_hook(look, nullptr, "look");
    Image in(16, 16), out(16, 16);
    in.fill(1.0f);
    in.set_host_dirty();
    expect_ok(chain_51_cuda(in, out));
    return all;
}

const void *cubin_of(const calotype_module_desc &desc) {
    const calotype_image *found =
        std::find_if(desc.images, desc.images + desc.n_images,
                     [](const calotype_image &i) { return i.kind == CALOTYPE_CUBIN; });
    return found == desc.images + desc.n_images ? nullptr : found->data;
}

/// From one buffer to the other and back.
void launch(const cuda::Driver &driver, cuda::CUfunction function,
            const calotype_kernel_desc &kernel, Launch &launch,
            const cuda::CUdeviceptr buffers[2]) {
    void *args[64];
    int n_buffers = 0;
    for (uint32_t i = 0; i < kernel.n_args; i++) {
        if (kernel.args[i].is_buffer) {
            launch.values[i] = buffers[n_buffers++ % 2];
        }
        args[i] = &launch.values[i];
    }
    expect_ok(driver.cuLaunchKernel(function, launch.grid[0], launch.grid[1], launch.grid[2],
                                    launch.block[0], launch.block[1], launch.block[2], 0, nullptr,
                                    args, nullptr));
}

/// Two buffers, from a pool like the pipeline's, or each from the driver.
void allocate(const cuda::Driver &driver, bool from_pool, cuda::CUdeviceptr buffers[2]) {
    cuda::CUmemoryPool pool = nullptr;
    if (from_pool) {
        const cuda::CUmemPoolProps properties;
        expect_ok(driver.cuMemPoolCreate(&pool, &properties));
    }
    for (int i = 0; i < 2; i++) {
        expect_ok(from_pool ? driver.cuMemAllocFromPoolAsync(&buffers[i], 1 << 20, pool, nullptr)
                            : driver.cuMemAlloc(&buffers[i], 1 << 20));
    }
}

bool raw(bool from_pool) {
    std::vector<Launch> launches = launches_of_pipeline();
    const cuda::Driver *driver = start();
    const void *cubin = seen ? cubin_of(*seen) : nullptr;
    if (!driver || !cubin || launches.size() != n_kernels) {
        return false;
    }
    const std::vector<float> in(256, 1.0f);
    cuda::CUdeviceptr buffers[2] = {};
    std::vector<cuda::CUfunction> functions;
    measure([&] {
        if (functions.empty()) {
            cuda::CUmodule module = nullptr;
            expect_ok(driver->cuModuleLoadDataEx(&module, cubin, 0, nullptr, nullptr));
            functions.resize(n_kernels);
            for (size_t i = 0; i < n_kernels; i++) {
                expect_ok(
                    driver->cuModuleGetFunction(&functions[i], module, seen->kernels[i].name));
            }
            allocate(*driver, from_pool, buffers);
            expect_ok(driver->cuMemcpyHtoDAsync(buffers[0], in.data(), 1024, nullptr));
        }
        for (size_t i = 0; i < n_kernels; i++) {
            launch(*driver, functions[i], seen->kernels[i], launches[i], buffers);
        }
        expect_ok(driver->cuStreamSynchronize(nullptr));
    });
    return true;
}

/// The pipeline alone: a driver that does nothing.
bool host() {
    use_no_driver(nullptr);
    calotype_reuse_device_allocations(nullptr, true);
    Image in(16, 16), out(16, 16);
    in.fill(1.0f);
    in.set_host_dirty();
    measure([&] { expect_ok(chain_51_cuda(in, out)); });
    return true;
}

// ---- one process each ------------------------------------------------------------------------

struct Mode {
    const char *name;
    bool (*run)();
};
bool raw_with_pool() {
    return raw(true);
}
bool raw_without() {
    return raw(false);
}
bool pipeline_of_51() {
    Image out(16, 16);
    return pipeline(chain_51_cuda, Image(16, 16), out);
}
const Mode modes[] = {
    {"raw", raw_without},         {"raw_pool", raw_with_pool},
    {"pipeline", pipeline_of_51}, {"host", host},
#ifdef BENCH_LINKED
    {"one", one<one_kernel>},     {"one_linked", one<one_linked_kernel>},
#endif
};

int child(const std::string &mode) {
    setenv("CUDA_CACHE_DISABLE", "1", 1);
    calotype_set_store_dir(nullptr, 0, CALOTYPE_STORE_OFF);
    const auto found = std::find_if(std::begin(modes), std::end(modes),
                                    [&](const Mode &m) { return mode == m.name; });
    const bool is_there = found != std::end(modes) && found->run();
    fflush(stdout);
    return is_there && failures == 0 ? 0 : 1;
}

using Figures = std::map<std::string, std::vector<double>>;

bool run(const std::string &program, const std::string &mode, Figures &figures) {
    FILE *output = popen((program + " --process " + mode).c_str(), "r");
    char name[128];
    double value = 0;
    while (output && fscanf(output, "%127s %lf", name, &value) == 2) {
        figures[mode + "_" + name].push_back(value);
    }
    return output && pclose(output) == 0;
}

}  // namespace

int main(int argc, char **argv) {
    if (argc == 3 && !strcmp(argv[1], "--process")) {
        return child(argv[2]);
    }
    Figures figures;
    bool ok = true;
    for (int i = 0; i < rounds; i++) {
        for (const Mode &mode : modes) {
            ok = run(argv[0], mode.name, figures) && ok;
        }
    }
    Json json;
    for (auto &[name, values] : figures) {
        std::sort(values.begin(), values.end());
        json.add(name, values[values.size() / 2]);
    }
    json.write(argc > 1 ? argv[1] : nullptr);
    return ok ? 0 : 1;
}
