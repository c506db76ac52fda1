// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products by matrix instructions, of generators/matmul_generator.cpp, against cuBLAS, in
// turns on one device; all elements are compared. Writes JSON to the file that is named, or prints
// it: TFLOP/s (for integers 10^12 operations a second) of both and their ratio.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <string>
#include <vector>

#include <calotype/buffer.h>
#include <calotype/runtime.h>

#include "all_matmul.h"
#include "runtime/abi/runtime_cuda.h"

namespace {

constexpr int calls = 10, rounds = 7;
using Matrix = calotype::Runtime::Buffer<void, 2>;

/// Numbers of cuBLAS and the CUDA library.
enum : int { R32F = 0, R16F = 2, R8I = 3, R32I = 10, R16BF = 14 };
enum : int { Compute32F = 68, Compute32I = 72, ComputeTF32 = 77 };

struct Cublas {
    void *handle = nullptr;
    int (*gemm)(void *, int, int, int, int, int, const void *, const void *, int, int, const void *,
                int, int, const void *, void *, int, int, int, int) = nullptr;

    bool open() {
        void *library = dlopen("libcublas.so.13", RTLD_NOW);
        library = library ? library : dlopen("/usr/local/cuda/lib64/libcublas.so", RTLD_NOW);
        if (!library) {
            return false;
        }
        auto create = reinterpret_cast<int (*)(void **)>(dlsym(library, "cublasCreate_v2"));
        gemm = reinterpret_cast<decltype(gemm)>(dlsym(library, "cublasGemmEx"));
        return create && gemm && create(&handle) == 0;
    }
};

struct Kind {
    const char *name;
    calotype_type_t type, output;
    bool b_by_columns, is_fused;
    int cuda_type, cuda_output, compute;
    std::vector<std::pair<const char *, int (*)(void *, void *, void *, void *)>> ours;
};

template<int (*F)(calotype_buffer_t *, calotype_buffer_t *, calotype_buffer_t *)>
int plain(void *a, void *b, void *, void *out) {
    return F(static_cast<calotype_buffer_t *>(a), static_cast<calotype_buffer_t *>(b),
             static_cast<calotype_buffer_t *>(out));
}
template<int (*F)(calotype_buffer_t *, calotype_buffer_t *, calotype_buffer_t *,
                  calotype_buffer_t *)>
int fused(void *a, void *b, void *bias, void *out) {
    return F(static_cast<calotype_buffer_t *>(a), static_cast<calotype_buffer_t *>(b),
             static_cast<calotype_buffer_t *>(bias), static_cast<calotype_buffer_t *>(out));
}

constexpr calotype_type_t f32 = {calotype_type_float, 32, 1}, f16 = {calotype_type_float, 16, 1},
                          bf16 = {calotype_type_bfloat, 16, 1}, i8 = {calotype_type_int, 8, 1},
                          i32 = {calotype_type_int, 32, 1};

const std::vector<Kind> &kinds() {
    static const std::vector<Kind> all = {
        {"float16",
         f16,
         f32,
         false,
         false,
         R16F,
         R32F,
         Compute32F,
         {{"9.0a", plain<matmul_f16_90a>}, {"8.0", plain<matmul_f16_80>}}},
        {"float16, b by columns",
         f16,
         f32,
         true,
         false,
         R16F,
         R32F,
         Compute32F,
         {{"9.0a", plain<matmul_f16_columns_90a>}, {"8.0", plain<matmul_f16_columns_80>}}},
        {"bfloat16",
         bf16,
         bf16,
         false,
         false,
         R16BF,
         R16BF,
         Compute32F,
         {{"9.0a", plain<matmul_bf16_90a>}, {"8.0", plain<matmul_bf16_80>}}},
        {"float16, bias and relu",
         f16,
         f16,
         false,
         true,
         R16F,
         R16F,
         Compute32F,
         {{"9.0a", fused<matmul_fused_90a>}, {"8.0", fused<matmul_fused_80>}}},
        {"int8",
         i8,
         i32,
         true,
         false,
         R8I,
         R32I,
         Compute32I,
         {{"9.0a", plain<matmul_i8_90a>}, {"8.0", plain<matmul_i8_80>}}},
        {"tf32", f32, f32, false, false, R32F, R32F, ComputeTF32, {{"8.0", plain<matmul_tf32_80>}}},
        {"tf32, b by columns",
         f32,
         f32,
         true,
         false,
         R32F,
         R32F,
         ComputeTF32,
         {{"9.0a", plain<matmul_tf32_columns_90a>}, {"8.0", plain<matmul_tf32_columns_80>}}}};
    return all;
}

float value_of(const void *data, calotype_type_t type, size_t i) {
    if (type.code == calotype_type_int) {
        return type.bits == 8 ? float(static_cast<const int8_t *>(data)[i])
                              : float(static_cast<const int32_t *>(data)[i]);
    }
    if (type.bits == 32) {
        return static_cast<const float *>(data)[i];
    }
    const uint32_t bits = static_cast<const uint16_t *>(data)[i];
    uint32_t wide = bits << 16;
    if (type.code == calotype_type_float) {  // normal numbers and zero
        const uint32_t magnitude = bits & 0x7fff;
        wide = (bits & 0x8000) << 16 | (magnitude ? (magnitude << 13) + (112u << 23) : 0);
    }
    float f;
    std::memcpy(&f, &wide, sizeof f);
    return f;
}

/// Halves, of either kind, and floats in (-1, 1) with few bits; bytes at random.
void fill(Matrix &m, uint32_t state) {
    const calotype_type_t type = m.raw_buffer()->type;
    const size_t n = m.number_of_elements();
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        const int value = int(state >> 24) - 128;
        float f = float(value) / 128;
        uint32_t bits;
        std::memcpy(&bits, &f, sizeof bits);
        if (type.bits == 8) {
            static_cast<int8_t *>(m.data())[i] = int8_t(value);
        } else if (type.bits == 32) {
            static_cast<float *>(m.data())[i] = f;
        } else if (type.code == calotype_type_bfloat) {
            static_cast<uint16_t *>(m.data())[i] = uint16_t(bits >> 16);
        } else {
            const uint32_t magnitude = bits & 0x7fffffff;
            static_cast<uint16_t *>(m.data())[i] = uint16_t(
                (bits >> 16 & 0x8000) | (magnitude ? (magnitude >> 13) - (112u << 10) : 0));
        }
    }
    m.set_host_dirty();
}

void *pointer_of(Matrix &m) {
    return reinterpret_cast<void *>(uint64_t(calotype_cuda_get_device_ptr(nullptr, m)));
}

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

double median(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

/// The largest difference as a part of the largest number.
double difference(Matrix &ours, Matrix &theirs, Matrix &bias, bool is_fused) {
    const calotype_type_t type = ours.raw_buffer()->type;
    const size_t n = ours.number_of_elements(), width = size_t(ours.dim(0).extent());
    double worst = 0, largest = 0;
    for (size_t i = 0; i < n; i++) {
        double expected = value_of(theirs.data(), type, i);
        if (is_fused) {
            expected = std::max(0.0, expected + value_of(bias.data(), f32, i % width));
        }
        const double d = std::abs(value_of(ours.data(), type, i) - expected);
        worst = d <= worst ? worst : d;  // also where it is no number
        largest = std::max(largest, std::abs(expected));
    }
    return worst / largest;
}

bool measure(const Kind &kind, int n, Cublas &cublas, FILE *out, bool &is_first) {
    Matrix a(kind.type, n, n), b(kind.type, n, n), ours(kind.output, n, n),
        theirs(kind.output, n, n), bias(f32, n, 1);
    calotype::Runtime::Buffer<void, 1> bias_row(f32, bias.data(), n);
    fill(a, 1);
    fill(b, 2);
    fill(bias, 3);
    bias_row.set_host_dirty();
    if (theirs.device_malloc(calotype_cuda_device_interface()) != 0 ||
        a.copy_to_device(calotype_cuda_device_interface()) != 0 ||
        b.copy_to_device(calotype_cuda_device_interface()) != 0) {
        return false;
    }
    const float one = 1, zero = 0;
    const int32_t one_i = 1, zero_i = 0;
    const bool of_integers = kind.compute == Compute32I;
    const auto product = [&] {
        return cublas.gemm(cublas.handle, kind.b_by_columns ? 1 : 0, 0, n, n, n,
                           of_integers ? static_cast<const void *>(&one_i) : &one, pointer_of(b),
                           kind.cuda_type, n, pointer_of(a), kind.cuda_type, n,
                           of_integers ? static_cast<const void *>(&zero_i) : &zero,
                           pointer_of(theirs), kind.cuda_output, n, kind.compute, -1);
    };
    bool is_right = true;
    for (const auto &[target, run] : kind.ours) {
        const auto call = [&, run = run] {
            return run(a.raw_buffer(), b.raw_buffer(), bias_row.raw_buffer(), ours.raw_buffer());
        };
        if (seconds_of(call, ours) < 0 || seconds_of(product, theirs) < 0) {
            std::fprintf(stderr, "%s %d for %s fails\n", kind.name, n, target);
            return false;
        }
        std::vector<double> mine, peer;
        for (int i = 0; i < rounds; i++) {
            mine.push_back(seconds_of(call, ours));
            peer.push_back(seconds_of(product, theirs));
        }
        theirs.set_device_dirty();
        if (ours.copy_to_host() != 0 || theirs.copy_to_host() != 0) {
            return false;
        }
        const double m = median(mine), p = median(peer), flops = 2.0 * n * n * n;
        const double worst = difference(ours, theirs, bias, kind.is_fused);
        std::fprintf(out,
                     "%s\n{\"operands\": \"%s\", \"size\": %d, \"target\": \"%s\", \"tflops\": "
                     "%.1f, \"cublas_tflops\": %.1f, \"ratio\": %.3f, \"difference\": %.2g}",
                     is_first ? "[" : ",", kind.name, n, target, flops / m / 1e12, flops / p / 1e12,
                     p / m, worst);
        std::fflush(out);
        is_first = false;
        is_right = is_right && worst <= (kind.output.bits == 16 ? 2e-2 : 2e-3);
    }
    return is_right;
}

}  // namespace

int main(int argc, char **argv) {
    Cublas cublas;
    if (!cublas.open()) {
        std::fprintf(stderr, "no CUDA device, or no cuBLAS\n");
        return 1;
    }
    FILE *out = argc > 1 ? std::fopen(argv[1], "w") : stdout;
    if (!out) {
        std::fprintf(stderr, "cannot write %s\n", argv[1]);
        return 1;
    }
    bool is_first = true, is_right = true;
    for (int n : {4096, 8192}) {
        for (const Kind &kind : kinds()) {
            is_right = measure(kind, n, cublas, out, is_first) && is_right;
        }
    }
    std::fprintf(out, "]\n");
    if (out != stdout) {
        std::fclose(out);
    }
    return is_right ? 0 : 1;
}
