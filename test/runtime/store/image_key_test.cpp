// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the key of an image depends on, and what it does not.
#include <functional>
#include <set>

#include "store_fixture.h"

using namespace calotype::runtime;
using namespace calotype_test;

namespace {

using ImageKey = StoreTest;

TEST_F(ImageKey, IsTheSameInEveryProcess) {
    EXPECT_EQ(hex(key_of(module)), hex(key));
    ModuleUnderTest same("another name");
    same.add_image(CALOTYPE_PTX, 80, 0, "kernels");
    same.desc.uid.b[0] = 7;
    EXPECT_EQ(hex(key_of(same)), hex(key));
}

TEST_F(ImageKey, DependsOnAllThatMakesTheBytes) {
    std::set<std::string> keys = {hex(key)};
    const auto differs = [&](const char *what,
                             const std::function<void(ModuleUnderTest &)> &change) {
        ModuleUnderTest changed;
        changed.add_image(CALOTYPE_PTX, 80, 0, "kernels");
        changed.desc.uid.b[0] = 7;
        change(changed);
        EXPECT_TRUE(keys.insert(hex(key_of(changed))).second) << what;
    };
    static const calotype_reloc reloc = {"table", 8, 4, nullptr};
    differs("uid", [](ModuleUnderTest &m) { m.desc.uid.b[31] = 1; });
    differs("abi", [](ModuleUnderTest &m) { m.desc.abi++; });
    differs("debug", [](ModuleUnderTest &m) { m.desc.flags = CALOTYPE_MOD_DEBUG; });
    differs("lines", [](ModuleUnderTest &m) { m.desc.flags = CALOTYPE_MOD_LINEINFO; });
    differs("registers", [](ModuleUnderTest &m) { m.desc.max_registers = 64; });
    differs("optimisation", [](ModuleUnderTest &m) { m.desc.opt_level = 1; });
    differs("one more image", [](ModuleUnderTest &m) { m.add_image(CALOTYPE_CUBIN, 80, 0, ""); });
    differs("reloc", [](ModuleUnderTest &m) { m.desc.relocs = &reloc, m.desc.n_relocs = 1; });
    differs("linkable", [](ModuleUnderTest &m) { m.add_linkable("a", CALOTYPE_PTX, 80, ""); });
    differs("its kind", [](ModuleUnderTest &m) { m.add_linkable("a", CALOTYPE_LTOIR, 80, ""); });
    differs("its architecture",
            [](ModuleUnderTest &m) { m.add_linkable("a", CALOTYPE_PTX, 90, ""); });
    differs("its flags", [](ModuleUnderTest &m) {
        m.add_linkable("a", CALOTYPE_PTX, 80, "", CALOTYPE_LK_LTO_NEVER);
    });
    for (const DeviceArch &other :
         {make_arch(89), make_arch(90, 0), make_arch(90, 'a', "nvJitLink 13.1"),
          make_arch(90, 'a', "driver 13000")}) {
        arch = other;
        EXPECT_TRUE(keys.insert(hex(key_of(module))).second) << other.sm << other.toolchain;
    }
}

TEST_F(ImageKey, TakesASaltFromTheEnvironment) {
    setenv("CT_KERNEL_CACHE_SALT", "try 2", 1);
    const std::string salted = hex(key_of(module));
    unsetenv("CT_KERNEL_CACHE_SALT");
    EXPECT_NE(salted, hex(key));
    EXPECT_EQ(hex(key_of(module)), hex(key));
}

TEST_F(ImageKey, ALinkablesNameAndCallbacksDoNotMatter) {
    ModuleUnderTest a, b;
    a.add_linkable("a", CALOTYPE_PTX, 80, "");
    b.add_linkable("b", CALOTYPE_PTX, 80, "", CALOTYPE_LK_THREADSAFE);
    EXPECT_EQ(hex(key_of(a)), hex(key_of(b)));
}

}  // namespace
