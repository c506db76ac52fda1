// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random expressions of all node kinds and types as kernels, which must assemble.
#include <gtest/gtest.h>

#include "codegen/nvptx/device_module.h"
#include "harness/random_exprs.h"
#include "ir/constants.h"

namespace calotype::internal {

namespace {

constexpr int slot = 256;  // bytes for one value

/// The lanes at the slot, in elements of the type.
Expr slot_index(Type t, int number) {
    Expr first = make_const(Int(32), number * slot / t.bytes());
    return t.is_scalar() ? first : Ramp::make(first, make_one(Int(32)), t.lanes());
}

/// All values are in one buffer of bytes, all results in another.
DeviceKernel kernel_of(const test::RandomExprs &batch) {
    Stmt body;
    for (size_t i = batch.exprs.size(); i-- > 0;) {
        Type t = batch.exprs[i].type();
        Stmt store = Store::make("out", batch.exprs[i], slot_index(t, int(i)),
                                 const_true(t.lanes()), Alignment());
        body = Block::make(store, body);
    }
    int n = 0;
    for (const auto &[name, value] : batch.values) {
        Type t = value.type;
        Expr load = Load::make(t, "values", slot_index(t, n++), const_true(t.lanes()), Alignment());
        body = LetStmt::make(name, load, body);
    }
    DeviceKernel k;
    k.name = "k";
    k.args = {input("values", UInt(8)), output("out", UInt(8))};
    k.body = body;
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
