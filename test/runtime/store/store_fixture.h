// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A directory store of a test's own, an image to keep in it, and what the counters say.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "link_inputs.h"
#include "runtime/abi/hooks.h"
#include "runtime/device/image_store.h"
#include "runtime/device/store_dir.h"

namespace calotype_test {

class StoreTest : public testing::Test {
protected:
    std::string dir;
    ModuleUnderTest module;
    calotype::runtime::DeviceArch arch = make_arch(90);
    calotype::runtime::DeviceScope scope = {};
    calotype_uid key;
    const std::string payload = std::string("\177ELF some machine code\0and more", 31);
    calotype_stats before = {};

    void SetUp() override {
        std::string name = testing::TempDir() + "calotype_store_XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        dir = name + "/kernels";
        ASSERT_EQ(calotype_set_store_dir(dir.c_str(), 0, 0), CALOTYPE_OK);
        module.add_image(CALOTYPE_PTX, 80, 0, "kernels");
        module.desc.uid.b[0] = 7;
        key = key_of(module);
        before = stats();
    }
    void TearDown() override {
        calotype_set_store(nullptr);
        calotype_set_store_dir(nullptr, 0, 0);
        const std::string parent = dir.substr(0, dir.rfind('/'));
        EXPECT_EQ(system(("rm -rf '" + parent + "'").c_str()), 0);
    }
    calotype_uid key_of(ModuleUnderTest &m) {
        calotype_uid result;
        EXPECT_EQ(calotype::runtime::image_key(arch, m.get(), &result), CALOTYPE_OK);
        return result;
    }
    calotype_stats stats() {
        calotype_stats result = {};
        result.size = sizeof result;
        EXPECT_EQ(calotype_get_stats(0, &result), CALOTYPE_OK);
        return result;
    }
    /** "hits 1 misses 0 writes 0 corrupt 0 evictions 0", since the last call. */
    std::string counted() {
        const calotype_stats now = stats();
        const std::string text =
            "hits " + std::to_string(now.disk_hits - before.disk_hits) + " misses " +
            std::to_string(now.disk_misses - before.disk_misses) + " writes " +
            std::to_string(now.disk_writes - before.disk_writes) + " corrupt " +
            std::to_string(now.disk_corrupt - before.disk_corrupt) + " evictions " +
            std::to_string(now.disk_evictions - before.disk_evictions);
        before = now;
        return text;
    }
    void store(const calotype_uid &k, const std::string &bytes, bool persistable = true) {
        calotype::runtime::LoadableImage image = {};
        image.kind = CALOTYPE_CUBIN;
        image.bytes = bytes.data();
        image.size = bytes.size();
        image.persistable = persistable;
        image.was_linked = true;
        calotype::runtime::store_image(scope, arch, module.get(), k, image);
    }
    /** The bytes, or "none". */
    std::string find(const calotype_uid &k) {
        calotype::runtime::LoadableImage image = {};
        if (!calotype::runtime::find_stored_image(scope, arch, module.get(), k, &image)) {
            return "none";
        }
        EXPECT_TRUE(image.owned && image.was_linked && !image.was_built);
        EXPECT_EQ(image.kind, CALOTYPE_CUBIN);
        const std::string bytes(static_cast<const char *>(image.bytes), image.size);
        free(const_cast<void *>(image.bytes));
        return bytes;
    }
    static std::string hex(const calotype_uid &k) {
        std::string text;
        for (uint8_t byte : k.b) {
            text += "0123456789abcdef"[byte >> 4];
            text += "0123456789abcdef"[byte & 15];
        }
        return text;
    }
    std::string path_of(const calotype_uid &k) const {
        return dir + "/v1/" + hex(k).substr(0, 2) + "/" + hex(k).substr(2) + ".cko";
    }
    static bool exists(const std::string &path) {
        struct stat status;
        return lstat(path.c_str(), &status) == 0;
    }
    static std::string read_file(const std::string &path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    static void write_file(const std::string &path, const std::string &bytes) {
        std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    }
};

}  // namespace calotype_test
