// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels on a GPU give what the interpreter gives, by way of PTX and of CUDA C++. Others
// than those in this executable: CT_RANDOM_KERNELS=FILE, made by random_kernels.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "gpu/random/pack.h"
#include "gpu/scenarios/driver_functions.h"
#include "runtime/abi/runtime_cuda.h"

extern "C" const char calotype_random_kernels[], calotype_random_kernels_end[];
asm(".section .rodata\n"
    "calotype_random_kernels: .incbin \"" CALOTYPE_RANDOM_KERNELS "\"\n"
    "calotype_random_kernels_end: .byte 0\n"
    ".text\n");

namespace calotype_test {
namespace {

constexpr size_t slot_bytes = 256;

uint64_t bits_at(const std::string &bytes, size_t at, uint32_t bits) {
    uint64_t value = 0;
    std::memcpy(&value, &bytes[at], bits < 8 ? 1 : bits / 8);
    return value;
}

/// Zeros of both signs are equal.
bool is_equal(const RandomKernel::Result &expected, const std::string &got, std::string *what) {
    const size_t step = expected.bits < 8 ? 1 : expected.bits / 8;
    for (uint32_t lane = 0; lane < expected.lanes; lane++) {
        const uint64_t a = bits_at(expected.bytes, lane * step, expected.bits);
        const uint64_t b = bits_at(got, lane * step, expected.bits);
        const uint64_t magnitude =
            expected.is_float ? ~uint64_t(0) >> (65 - expected.bits) : ~uint64_t(0);
        if (a != b && ((a | b) & magnitude) != 0) {
            char text[96];
            std::snprintf(text, sizeof text, "lane %u is %llx, not %llx", unsigned(lane),
                          (unsigned long long)b, (unsigned long long)a);
            *what = text;
            return false;
        }
    }
    return true;
}

/// The slots that the kernel fills.
std::string run(const RandomKernel &kernel) {
    const CudaFunctions &cuda = cuda_functions();
    void *module = nullptr, *function = nullptr;
    uint64_t memory = 0;
    const size_t in = kernel.values.size(), out = kernel.results.size() * slot_bytes;
    std::string result(out, '\0');
    EXPECT_EQ(cuda.load(&module, kernel.cubin.data()), 0);
    EXPECT_EQ(cuda.function(&function, module, "k"), 0);
    EXPECT_EQ(cuda.alloc(&memory, in + out + slot_bytes), 0);
    EXPECT_EQ(cuda.to_device(memory, kernel.values.data(), in), 0);
    uint64_t values = memory, results = memory + in;
    void *args[] = {&values, &results};
    EXPECT_EQ(cuda.launch(function, 1, 1, 1, 1, 1, 1, 0, nullptr, args, nullptr), 0);
    EXPECT_EQ(cuda.to_host(result.data(), results, out), 0);
    EXPECT_EQ(cuda.free(memory), 0);
    EXPECT_EQ(cuda.unload(module), 0);
    return result;
}

int check(const RandomKernel &kernel) {
    if (kernel.results.empty()) {
        return 0;
    }
    const std::string got = run(kernel);
    for (size_t i = 0; i < kernel.results.size(); i++) {
        std::string what;
        EXPECT_TRUE(is_equal(kernel.results[i], got.substr(i * slot_bytes, slot_bytes), &what))
            << "seed " << kernel.seed << ", result " << i << ", by " << kernel.half << ": " << what
            << "\n"
            << kernel.results[i].text;
    }
    return int(kernel.results.size());
}

TEST(RandomKernels, GiveWhatTheInterpreterGives) {
    const CudaFunctions &cuda = cuda_functions();
    void *context = nullptr;
    if (!cuda.is_there || !calotype_cuda_can_run(90)) {
        GTEST_SKIP() << "no CUDA device of compute capability 9.0";
    }
    ASSERT_EQ(cuda.ctx_create(&context, 0, 0), 0);
    std::string file;
    const char *begin = calotype_random_kernels, *end = calotype_random_kernels_end;
    if (const char *path = std::getenv("CT_RANDOM_KERNELS")) {
        std::ifstream stream(path, std::ios::binary);
        file.assign(std::istreambuf_iterator<char>(stream), {});
        begin = file.data();
        end = begin + file.size();
    }
    int kernels = 0, compared = 0;
    for (PackReader pack(begin, end); pack.has_more(); kernels++) {
        compared += check(read_kernel(pack));
    }
    EXPECT_EQ(cuda.ctx_destroy(context), 0);
    std::printf("%d kernels, %d values\n", kernels, compared);
    EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace calotype_test
