// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random expressions of all node kinds and types as kernels, which must assemble.
#include <gtest/gtest.h>

#include "codegen/nvptx/device_module.h"
#include "harness/random_exprs.h"

namespace calotype::internal {

namespace {

/// All values are in one buffer of bytes, all results in another.
DeviceKernel kernel_of(const test::RandomExprs &batch) {
    DeviceKernel k;
    k.name = "k";
    k.args = {input("values", UInt(8)), output("out", UInt(8))};
    k.body = test::store_all(batch);
    return k;
}

TEST(RandomKernels, Assemble) {
    if (assembled_architectures().empty()) {
        GTEST_SKIP() << "no CUDA toolkit on this machine";
    }
    for (uint32_t seed = 1; seed <= 25; seed++) {
        PtxOptions options;
        options.sm = seed % 2 ? 120 : 90;
        options.libdevice = seed % 3 == 0;
        if (seed % 4 == 0) {
            options.features = {Target::StrictFloat};
        }
        expect_assembles(kernel_of(test::random_exprs(seed, 20)), options);
    }
}

}  // namespace

}  // namespace calotype::internal
