// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which stores inside of Atomic are updates, and which of them no back end may take for plain stores.
#include <gtest/gtest.h>

#include "arith/atomic_update.h"
#include "codegen/emit.h"
#include "codegen/opencl/device_source.h"
#include "harness/expect_error.h"
#include "ir/parser.h"
#include "unit/codegen/kernel.h"

namespace calotype::internal {
namespace {

const char *const by_halves =
    "f[ramp(0, 1, 4)] = concat(f[ramp(0, 1, 2)], f[ramp(2, 1, 2)]) + broadcast(1, 4)";

bool is_update(const std::string &text) {
    const Stmt s = parse_stmt(text);
    return replaced_value(s.as<Store>()).defined();
}

TEST(AtomicUpdate, ReadsTheElement) {
    EXPECT_TRUE(is_update("f[i] = max(f[i] * 3, g[i])"));
    EXPECT_TRUE(is_update("f[let a = g[i] in a * a] = 1 + f[let b = g[i] in b * b]"));
    EXPECT_TRUE(is_update("f[ramp(i, 2, 4)] = f[ramp(i, 2, 4)] + f[ramp(i + 1, 2, 4)]"));
}

TEST(AtomicUpdate, IsNoneOfWhatIsElsewhere) {
    EXPECT_FALSE(is_update("f[i] = g[i]"));
    EXPECT_FALSE(is_update("f[i * 2 - m] = f[j * 2 + 1 - m]"));
    EXPECT_FALSE(is_update("f[ramp(i, 2, 4)] = f[ramp(i + 3, 4, 4)]"));
    EXPECT_FALSE(is_update("f[i] = f[i + 1]"));
}

TEST(AtomicUpdate, OfAnotherFormIsRefused) {
    for (const std::string text :
         {by_halves, "f[i] = f[j] + 1", "f[ramp(i, 2, 4)] = f[ramp(i + 2, 2, 4)]",
          "f[ramp(ramp(i, 1, 2), broadcast(s, 2), 2)] = f[ramp(i, 1, 4)]"}) {
        EXPECT_INTERNAL_ERROR_CONTAINING(is_update(text),
                                         " may read what it replaces in a form that is not an "
                                         "update: ")
            << text;
    }
}

TEST(AtomicUpdate, OfAnotherFormIsRefusedByBackEnds) {
    const Stmt body = parse_stmt(std::string("atomic f {") + by_halves + "}");
    const LoweredModule function = one_function({pointer_argument("f")}, body);
    DeviceModule kernels;
    kernels.kernels.emplace_back();
    KernelArgument f;
    f.name = "f";
    f.type = Int(32);
    f.is_buffer = f.read = f.written = true;
    kernels.kernels[0] = {"k", {f}, body};
    const char *const message = "the atomic update of f at ramp(0, 1, 4) may read";
    EXPECT_INTERNAL_ERROR_CONTAINING(load_module(function, runnable_targets()[0]), message);
    EXPECT_INTERNAL_ERROR_CONTAINING(c_source_text(function, Target("x86-64-linux")), message);
    EXPECT_INTERNAL_ERROR_CONTAINING(
        device_source(kernels, Target("x86-64-linux-opencl"), Dialect::OpenCL), message);
}

}  // namespace
}  // namespace calotype::internal
