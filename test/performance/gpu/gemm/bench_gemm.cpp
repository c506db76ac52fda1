// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// float32 matrix product, 4096 x 4096 x 4096: the corpus's gemm_tiled against cuBLAS without TF32,
// in turns on one device. Writes JSON to the file that is named, or prints it: TFLOP/s of both and
// their ratio.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <dlfcn.h>
#include <functional>
#include <vector>

#include <calotype/buffer.h>
#include <calotype/runtime.h>

#include "gemm_4096_cuda.h"
#include "runtime/abi/runtime_cuda.h"

namespace {

constexpr int n = 4096, calls = 10, rounds = 7;
using Matrix = calotype::Runtime::Buffer<float, 2>;

/// The two functions of cuBLAS that are needed, by their C names.
struct Cublas {
    void *handle = nullptr;
    int (*sgemm)(void *, int, int, int, int, int, const float *, const void *, int, const void *,
                 int, const float *, void *, int) = nullptr;

    bool open() {
        void *library = dlopen("libcublas.so.13", RTLD_NOW);
        library = library ? library : dlopen("/usr/local/cuda/lib64/libcublas.so", RTLD_NOW);
        if (!library) {
            return false;
        }
        auto create = reinterpret_cast<int (*)(void **)>(dlsym(library, "cublasCreate_v2"));
        auto mode = reinterpret_cast<int (*)(void *, int)>(dlsym(library, "cublasSetMathMode"));
        sgemm = reinterpret_cast<decltype(sgemm)>(dlsym(library, "cublasSgemm_v2"));
        const int pedantic = 2;  // no TF32
        return create && mode && sgemm && create(&handle) == 0 && mode(handle, pedantic) == 0;
    }
};

double seconds_of(const std::function<int()> &call, Matrix &result) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; i++) {
        if (call() != 0) {
            return -1;
        }
    }
    calotype_device_sync(nullptr, result);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / calls;
}

void fill(Matrix &m, uint32_t state) {
    m.for_each_value([&](float &v) {
        state = state * 1664525u + 1013904223u;
        v = float(state >> 8) * 0x1p-24f - 0.5f;
    });
    m.set_host_dirty();
}

uint64_t pointer_of(Matrix &m) {
    return uint64_t(calotype_cuda_get_device_ptr(nullptr, m));
}

}  // namespace

int main(int argc, char **argv) {
    Matrix a(n, n), b(n, n), ours(n, n), theirs(n, n);
    fill(a, 1);
    fill(b, 2);
    Cublas cublas;
    if (gemm_4096_cuda(a, b, ours) != 0 || !cublas.open() ||
        theirs.device_malloc(calotype_cuda_device_interface()) != 0) {
        std::fprintf(stderr, "no CUDA device, or no cuBLAS\n");
        return 1;
    }
    const float one = 1, zero = 0;
    const auto product = [&] {
        return cublas.sgemm(cublas.handle, 0, 0, n, n, n, &one,
                            reinterpret_cast<void *>(pointer_of(b)), n,
                            reinterpret_cast<void *>(pointer_of(a)), n, &zero,
                            reinterpret_cast<void *>(pointer_of(theirs)), n);
    };
    std::vector<double> mine, peer;
    for (int i = 0; i < rounds; i++) {
        mine.push_back(seconds_of([&] { return gemm_4096_cuda(a, b, ours); }, ours));
        peer.push_back(seconds_of(product, theirs));
    }
    theirs.set_device_dirty();
    if (ours.copy_to_host() != 0 || theirs.copy_to_host() != 0) {
        return 1;
    }
    double worst = 0;
    ours.for_each_element([&](int x, int y) {
        const double difference = std::abs(ours(x, y) - theirs(x, y));
        worst = difference <= worst ? worst : difference;  // also where it is no number
    });
    std::sort(mine.begin(), mine.end());
    std::sort(peer.begin(), peer.end());
    const double flops = 2.0 * n * n * n, m = mine[rounds / 2], p = peer[rounds / 2];
    FILE *out = argc > 1 ? std::fopen(argv[1], "w") : stdout;
    if (!out) {
        std::fprintf(stderr, "cannot write %s\n", argv[1]);
        return 1;
    }
    std::fprintf(out,
                 "{\"gemm_tflops\": %.2f, \"cublas_tflops\": %.2f, \"ratio\": %.3f, "
                 "\"worst_difference\": %.2g}\n",
                 flops / m / 1e12, flops / p / 1e12, p / m, worst);
    if (out != stdout) {
        std::fclose(out);
    }
    return m < 0 || !(worst <= 1e-2) ? 1 : 0;
}
