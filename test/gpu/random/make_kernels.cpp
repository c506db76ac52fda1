// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// random_kernels FILE FIRST COUNT: random expressions of COUNT seeds as kernels for sm_90, each
// compiled by both ways to machine code: our own PTX, and, as for lto=require, CUDA C++ that NVRTC
// makes LTO-IR of; with the interpreter's results.
#include <cstdio>
#include <cstdlib>

#include "codegen/device_code.h"
#include "gpu/random/pack.h"
#include "harness/random_exprs.h"
#include "ir/module.h"
#include "ir/printer.h"
#include "support/error.h"
#include "support/file.h"

namespace calotype::internal {
namespace {

constexpr int expressions = 40;

KernelArgument buffer(const char *name, bool is_written) {
    KernelArgument a;
    a.name = name;
    a.type = UInt(8);
    a.is_buffer = a.read = true;
    a.written = is_written;
    return a;
}

DeviceModule module_of(const test::RandomExprs &batch, bool is_cuda_source) {
    DeviceKernel kernel;
    kernel.name = "k";
    kernel.args = {buffer("values", false), buffer("out", true)};
    kernel.body = test::store_all(batch);
    std::fill(kernel.block_size, kernel.block_size + 3, 1);
    DeviceModule module;
    module.api = DeviceAPI::CUDA;
    module.name = "random";
    module.kernels = {kernel};
    if (is_cuda_source) {
        LinkableImage image;
        image.kind = CALOTYPE_CU;
        image.bytes = "extern \"C\" __device__ int nothing(int a) { return a; }\n";
        LinkableData linkable;
        linkable.name = "nothing";
        linkable.images = {image};
        linkable.lto = LtoMode::Require;
        module.linked.linkables = {linkable};
    }
    return module;
}

std::string cubin_of(const DeviceModule &module) {
    const Target target("x86-64-linux-cuda-cuda_capability_90-strict_float");
    for (const DeviceImage &image : compile_cuda_module(module, target).images) {
        if (image.kind == CALOTYPE_CUBIN) {
            return image.bytes;
        }
    }
    user_error << "no machine code was made: is there a CUDA toolkit?";
}

/// Of a seed, without its machine code; the batch keeps the expressions with a value.
calotype_test::RandomKernel kernel_of(uint32_t seed, test::RandomExprs &batch) {
    calotype_test::RandomKernel kernel;
    kernel.seed = seed;
    batch = test::random_exprs(seed, expressions);
    std::vector<Expr> defined;
    for (const Expr &e : batch.exprs) {
        test::Value value;
        if (test::defined_value(e, batch.values, &value)) {
            uint8_t bytes[test::slot_bytes] = {};
            test::write_value(value, bytes);
            const Type t = value.type;
            defined.push_back(e);
            kernel.results.push_back({uint32_t(t.is_float()), uint32_t(t.bits()),
                                      uint32_t(t.lanes()), to_string(e),
                                      std::string(bytes, bytes + t.bytes() * t.lanes())});
        }
    }
    batch.exprs = defined;
    kernel.values.resize(batch.values.size() * test::slot_bytes);
    size_t n = 0;
    for (const auto &[name, value] : batch.values) {
        test::write_value(value, reinterpret_cast<uint8_t *>(&kernel.values[n]));
        n += test::slot_bytes;
    }
    return kernel;
}

}  // namespace

std::string pack_kernels(uint32_t first, uint32_t count) {
    calotype_test::PackWriter pack;
    for (uint32_t seed = first; seed < first + count; seed++) {
        test::RandomExprs batch;
        calotype_test::RandomKernel kernel = kernel_of(seed, batch);
        for (const bool is_cuda_source : {false, true}) {
            kernel.half = is_cuda_source ? "CUDA C++" : "PTX";
            kernel.cubin = cubin_of(module_of(batch, is_cuda_source));
            write_kernel(pack, kernel);
        }
    }
    return pack.bytes;
}

}  // namespace calotype::internal

int main(int argc, char **argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: random_kernels FILE FIRST COUNT\n");
        return 1;
    }
    try {
        calotype::internal::write_file_atomically(
            argv[1], calotype::internal::pack_kernels(uint32_t(std::atoi(argv[2])),
                                                      uint32_t(std::atoi(argv[3]))));
    } catch (const std::exception &e) {
        std::fprintf(stderr, "error: %s\n", e.what());
        return 1;
    }
    return 0;
}
