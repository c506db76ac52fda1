// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random expressions of all node kinds and types: kernels on an OpenCL device against the
// interpreter. All values are in one buffer of bytes, all results in another.
#include <gtest/gtest.h>

#include "codegen/opencl/kernel_text.h"
#include "codegen/opencl/raw_opencl.h"
#include "harness/random_exprs.h"
#include "ir/printer.h"

namespace calotype::internal {
namespace {

DeviceModule kernel_of(const test::RandomExprs &batch) {
    return one_kernel({in_buffer("values", UInt(8)), out_buffer("out", UInt(8))},
                      test::store_all(batch));
}

void check(uint32_t seed, int &compared) {
    test::RandomExprs batch = test::random_exprs(seed, 40);
    std::vector<test::Value> expected;
    std::vector<Expr> defined;
    for (const Expr &e : batch.exprs) {
        test::Value value;
        if (test::defined_value(e, batch.values, &value)) {
            defined.push_back(e);
            expected.push_back(value);
        }
    }
    batch.exprs = defined;
    std::vector<uint8_t> values(batch.values.size() * test::slot_bytes),
        out(batch.exprs.size() * test::slot_bytes);
    size_t n = 0;
    for (const auto &[name, value] : batch.values) {
        test::write_value(value, &values[test::slot_bytes * n++]);
    }
    std::string text = opencl_text(kernel_of(batch), "x86-64-linux-opencl-cl_doubles-strict_float");
    ASSERT_EQ(test::run_opencl(text, "k",
                               {test::RawArgument::bytes(values), test::RawArgument::bytes(out)}),
              "")
        << text;
    for (size_t i = 0; i < batch.exprs.size(); i++) {
        test::Value got = test::read_value(batch.exprs[i].type(), &out[test::slot_bytes * i]);
        EXPECT_TRUE(got == expected[i])
            << "seed " << seed << ": " << batch.exprs[i] << "\ngives " << test::to_string(got)
            << ", not " << test::to_string(expected[i]);
    }
    compared += int(batch.exprs.size());
}

TEST(RandomKernels, EqualInterpreted) {
    if (!test::have_opencl() || !test::opencl_has("cl_khr_fp64")) {
        GTEST_SKIP() << "no OpenCL device with float64 on this machine";
    }
    int compared = 0;
    for (uint32_t seed = 301; seed <= 306; seed++) {
        check(seed, compared);
    }
    EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace calotype::internal
