// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments that are none, descriptors of other versions, hooks that answer what makes no sense:
// refused with a text, before anything is done.
#include <cstring>

#include "harness/fake_backend/fake_backend.h"
#include "harness/on_context.h"
#include "runtime/cache/fake_backend_driver.h"

namespace calotype_test {

class BadInput : public Scenario {
protected:
    static std::string last_error() {
        return calotype_last_error()->log;
    }
};

/// One whose other fields are not where they are looked for.
static calotype_module_desc skewed(const calotype_module_desc &desc, uint32_t abi, uint32_t size) {
    calotype_module_desc other = desc;
    other.abi = abi;
    other.size = size;
    other.device_interface =
        reinterpret_cast<const calotype_device_interface_t *(*)()>(uintptr_t(16));
    return other;
}

TEST_P(BadInput, DescriptorsOfOtherVersions) {
    void *context = driver->make_context();
    const auto *m = module("m");
    calotype_hold hold;
    calotype_uid key;
    for (bool warm : {false, true}) {
        const calotype_module_desc newer = skewed(*m, 7, sizeof newer);
        EXPECT_EQ(CALOTYPE_E_ABI, calotype_initialize_kernels(context, &newer, nullptr, &hold));
        EXPECT_EQ("version 7 of the descriptor, must be 1", last_error()) << warm;
        EXPECT_EQ(CALOTYPE_E_ABI, calotype_evict(on(context), &newer, 0));
        EXPECT_EQ(CALOTYPE_E_ABI, calotype_image_key(on(context), &newer, &key));
        EXPECT_EQ(CALOTYPE_E_ABI, calotype_forget(&newer));
        run(context, m);
    }
    EXPECT_EQ(1u, stats().hits);
    // The same code, but from an object of another version.
    calotype_module_desc same = *m;
    same.abi = 9;
    EXPECT_EQ(CALOTYPE_E_ABI, calotype_initialize_kernels(context, &same, nullptr, &hold));
    EXPECT_EQ("version 9 of the descriptor, must be 1", last_error());
    EXPECT_EQ(nullptr, hold.entry);
    EXPECT_EQ("1 1 0 0 0", counts());
}

TEST_P(BadInput, DescriptorsOfOtherSizes) {
    void *context = driver->make_context();
    const calotype_module_desc shorter = skewed(*module("m"), CALOTYPE_ABI_VERSION, 40);
    EXPECT_EQ(CALOTYPE_E_ABI, calotype_evict(on(context), &shorter, 0));
    const std::string least = std::to_string(sizeof shorter);
    EXPECT_EQ("the descriptor has 40 bytes, must have at least " + least, last_error());
    EXPECT_EQ(CALOTYPE_E_ABI, calotype_forget(&shorter));
    // What is behind the fields that this runtime knows is not its own.
    struct {
        calotype_module_desc desc;
        uint64_t more;
    } longer = {*module("longer"), 0};
    longer.desc.size = sizeof longer;
    run(context, &longer.desc);
    run(context, &longer.desc);
    EXPECT_EQ(1u, stats().hits);
}

TEST_P(BadInput, NoDescriptor) {
    void *context = driver->make_context();
    calotype_hold hold;
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_initialize_kernels(context, nullptr, nullptr, &hold));
    EXPECT_EQ("no module is given", last_error());
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_forget(nullptr));
    calotype_module_desc nowhere = *module("m");
    nowhere.device_interface = nullptr;
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_initialize_kernels(context, &nowhere, nullptr, &hold));
    EXPECT_EQ("the descriptor names no kind of device", last_error());
    EXPECT_STREQ("m", calotype_last_error()->module_name);
}

TEST_P(BadInput, Policies) {
    void *context = driver->make_context();
    calotype_hold held = hold(context, module("m"));
    for (int none : {-1, 3, 7}) {
        EXPECT_EQ(CALOTYPE_E_INVALID,
                  calotype_release_context(on(context), calotype_release_policy(none), 10));
        EXPECT_EQ("release policy " + std::to_string(uint32_t(none)) + ", must be 0 to 2",
                  last_error());
    }
    give_back(context, held);
    calotype_limits limits = {sizeof limits, calotype_policy(77), 0, 1, 0, 0};
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_set_limits(&limits));
    EXPECT_EQ("eviction policy 77, must be 0 to 2", last_error());
    EXPECT_EQ(CALOTYPE_OK, calotype_get_limits(&limits));
    EXPECT_EQ(CALOTYPE_POLICY_LRU, limits.policy);
    EXPECT_EQ(0u, limits.ctx_modules);
    EXPECT_EQ("1 1 0 0 0", counts());
}

TEST_P(BadInput, WhatCompileHooksAnswer) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "an enumeration of C holds any number, which the sanitizer refuses";
#endif
    struct Answer {
        void *image;
        size_t size;
        calotype_status status;
        const char *text;
    };
    const Answer answers[] = {
        {nullptr, 0, CALOTYPE_OK, "the compile hook answered no error, but no image"},
        {nullptr, 8, CALOTYPE_OK, "the compile hook answered no error, but no image"},
        {strdup("kernel k0"), 0, CALOTYPE_OK,
         "the compile hook answered no error, but an image of 0 bytes"},
        {nullptr, 0, calotype_status(4711), "the compile hook answered 4711, which is no status"},
        {nullptr, 0, calotype_status(-1),
         "the compile hook answered 4294967295, which is no status"},
    };
    void *context = driver->make_context();
    for (const Answer &answer : answers) {
        calotype_set_compile_hook(
            [](void *self, const calotype_module_desc *, uint32_t, char, void **image, size_t *size,
               char **) {
                const Answer &answer = *static_cast<const Answer *>(self);
                *image = answer.image;
                *size = answer.size;
                return answer.status;
            },
            const_cast<Answer *>(&answer), "test");
        const auto *m = module("m" + std::to_string(&answer - answers));
        calotype_hold hold;
        for (int i = 0; i < 2; i++) {  // it is remembered as what does not compile
            EXPECT_EQ(CALOTYPE_E_COMPILE, try_hold(context, m, &hold));
            EXPECT_NE(std::string::npos, last_error().find(answer.text)) << last_error();
        }
    }
    calotype_set_compile_hook(nullptr, nullptr, nullptr);
    EXPECT_EQ("5 0 0 0 0", counts());
    EXPECT_EQ(5u, stats().negative_hits);
}

TEST_P(BadInput, Stores) {
    calotype_store store = {};
    store.size = 4;
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_set_store(&store));
    EXPECT_EQ("calotype_store::size is less than that of the structure", last_error());
    store.size = sizeof store;
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_set_store(&store));
    EXPECT_EQ("calotype_store::get and calotype_store::put are needed", last_error());
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_set_store_dir("/tmp", 0, 99));
    EXPECT_EQ("store flags 99, must be 0 to 3", last_error());
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_set_store_dir(std::string(5000, 'x').c_str(), 0, 0));
    EXPECT_EQ("the path of the store directory has 5000 characters, at most 3999", last_error());
}

INSTANTIATE_TEST_SUITE_P(FakeBackend, BadInput, ::testing::Values(make_fake_backend_driver));

}  // namespace calotype_test
