// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the kernel cache sees of the store: hits, misses, and that nothing damaged ever comes out.
#include <cstring>

#include "store_fixture.h"

using namespace calotype::runtime;
using namespace calotype_test;

namespace {

using ImageStore = StoreTest;

TEST_F(ImageStore, KeepsAnImage) {
    EXPECT_EQ(find(key), "none");
    EXPECT_EQ(counted(), "hits 0 misses 1 writes 0 corrupt 0 evictions 0");
    store(key, payload);
    EXPECT_EQ(counted(), "hits 0 misses 0 writes 1 corrupt 0 evictions 0");
    EXPECT_EQ(find(key), payload);
    EXPECT_EQ(counted(), "hits 1 misses 0 writes 0 corrupt 0 evictions 0");
    EXPECT_TRUE(exists(path_of(key)));
    struct stat status;
    ASSERT_EQ(stat(dir.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(ImageStore, KeepsOnlyWhatIsWorthIt) {
    store(key, payload, false);
    store(key, "");
    EXPECT_EQ(counted(), "hits 0 misses 0 writes 0 corrupt 0 evictions 0");
    EXPECT_FALSE(exists(dir));
}

TEST_F(ImageStore, NeverKeepsWhatIsOfThisSession) {
    store(key, payload);
    module.desc.flags = CALOTYPE_MOD_SESSION_DEPENDENT;
    EXPECT_EQ(find(key), "none");
    remove(path_of(key).c_str());
    store(key, payload);
    EXPECT_FALSE(exists(path_of(key)));
    module.desc.flags = 0;
    module.add_linkable("rng", CALOTYPE_PTX, 80, "ptx", CALOTYPE_LK_SESSION_DEPENDENT);
    store(key, payload);
    EXPECT_FALSE(exists(path_of(key)));
    EXPECT_EQ(counted(), "hits 0 misses 0 writes 1 corrupt 0 evictions 0");
}

// S36: each byte of the header and some of the payload, one bit flipped.
TEST_F(ImageStore, S36AFlippedBitAnywhereIsNoticed) {
    store(key, payload);
    const std::string good = read_file(path_of(key));
    counted();
    for (size_t at = 0; at < good.size(); at++) {
        std::string bad = good;
        bad[at] = char(bad[at] ^ (1 << (at % 8)));
        write_file(path_of(key), bad);
        ASSERT_EQ(find(key), "none") << at;
        ASSERT_FALSE(exists(path_of(key))) << at;
        ASSERT_EQ(counted(), "hits 0 misses 1 writes 0 corrupt 1 evictions 0") << at;
    }
    store(key, payload);
    EXPECT_EQ(find(key), payload);
    EXPECT_EQ(counted(), "hits 1 misses 0 writes 1 corrupt 0 evictions 0");
}

TEST_F(ImageStore, S36CutOffAtAnyLengthIsNoticed) {
    store(key, payload);
    const std::string good = read_file(path_of(key));
    counted();
    for (size_t size = 0; size < good.size(); size++) {
        write_file(path_of(key), good.substr(0, size));
        ASSERT_EQ(find(key), "none") << size;
        ASSERT_EQ(counted(), "hits 0 misses 1 writes 0 corrupt 1 evictions 0") << size;
    }
    write_file(path_of(key), good + "x");
    EXPECT_EQ(find(key), "none");
    write_file(path_of(key), good);
    EXPECT_EQ(find(key), payload);
}

TEST_F(ImageStore, S36AnotherKeyInside) {
    store(key, payload);
    const std::string other = read_file(path_of(key));
    calotype_uid wrong = key;
    wrong.b[31] ^= 1;
    write_file(path_of(wrong), other);
    EXPECT_EQ(find(wrong), "none");
    EXPECT_FALSE(exists(path_of(wrong)));
    EXPECT_EQ(find(key), payload);
    EXPECT_EQ(counted(), "hits 1 misses 1 writes 1 corrupt 1 evictions 0");
}

// The digest is right, yet it is not for this device or of this version.
TEST_F(ImageStore, S36SoundButForAnotherArchitecture) {
    const DeviceArch mine = arch;
    for (const DeviceArch &other : {make_arch(80), make_arch(90, 0), make_arch(90, 'a', "x")}) {
        arch = other;
        store(key, payload);
        arch = mine;
        EXPECT_EQ(find(key), "none");
        EXPECT_EQ(counted(), "hits 0 misses 1 writes 1 corrupt 1 evictions 0");
    }
}

TEST_F(ImageStore, S36OtherByteOrderOrSchema) {
    store(key, payload);
    const std::string good = read_file(path_of(key));
    for (const char *schema : {"\0\0\0\2", "\1\0\0\0", "\3\0\0\0", "\0\0\0\0"}) {
        std::string bad = good;
        memcpy(bad.data() + 4, schema, 4);
        write_file(path_of(key), bad);
        EXPECT_EQ(find(key), "none");
    }
    std::string lower_case = good;
    memcpy(lower_case.data(), "cko1", 4);
    write_file(path_of(key), lower_case);
    EXPECT_EQ(find(key), "none");
}

TEST_F(ImageStore, SaysWhatItDoes) {
    static std::string seen;
    seen.clear();
    calotype_set_custom_print([](void *, const char *text) { seen += text; });
    calotype_set_log("store");
    module.desc.name = "blur";
    find(key);
    store(key, payload);
    find(key);
    write_file(path_of(key), "x");
    find(key);
    calotype_set_log("");
    calotype_set_custom_print(nullptr);
    const std::string begin = "calotype store: ", end = " blur, key " + hex(key).substr(0, 8);
    EXPECT_EQ(begin + "no image of" + end + ": not there\n" + begin + "wrote" + end + "\n" + begin +
                  "found" + end + "\n" + begin + "no image of" + end + ": size\n",
              seen);
}

// A store of the application.

struct MapStore {
    std::string bytes;
    bool full = false, there = false;
    int gets = 0, puts = 0, dels = 0, frees = 0;
};

calotype_store make_store(MapStore &map) {
    calotype_store store = {};
    store.size = sizeof store;
    store.self = &map;
    store.get = [](void *self, const calotype_uid *, void **bytes, size_t *n) {
        MapStore &m = *static_cast<MapStore *>(self);
        m.gets++;
        *bytes = m.bytes.data();
        *n = m.bytes.size();
        return m.there ? 0 : 1;
    };
    store.put = [](void *self, const calotype_uid *, const void *bytes, size_t n) {
        MapStore &m = *static_cast<MapStore *>(self);
        m.puts++;
        m.there = !m.full;
        m.bytes.assign(static_cast<const char *>(bytes), n);
        return m.full ? 1 : 0;
    };
    store.del = [](void *self, const calotype_uid *) {
        MapStore &m = *static_cast<MapStore *>(self);
        m.dels++;
        m.there = false;
        return 0;
    };
    store.free_bytes = [](void *self, void *) {
        static_cast<MapStore *>(self)->frees++;
    };
    return store;
}

TEST_F(ImageStore, OneOfTheApplication) {
    MapStore map;
    const calotype_store custom = make_store(map);
    ASSERT_EQ(calotype_set_store(&custom), CALOTYPE_OK);
    EXPECT_EQ(find(key), "none");
    store(key, payload);
    EXPECT_EQ(find(key), payload);
    EXPECT_EQ(counted(), "hits 1 misses 1 writes 1 corrupt 0 evictions 0");
    EXPECT_FALSE(exists(dir));
    // What comes out of it is verified as well.
    map.bytes[60] ^= 1;
    EXPECT_EQ(find(key), "none");
    EXPECT_EQ(counted(), "hits 0 misses 1 writes 0 corrupt 1 evictions 0");
    EXPECT_EQ(map.dels, 1);
    EXPECT_EQ(map.frees, 2);
    EXPECT_EQ(find(key), "none");
    EXPECT_EQ(map.frees, 2);
}

TEST_F(ImageStore, AFullOneIsNoError) {
    MapStore map;
    map.full = true;
    const calotype_store custom = make_store(map);
    ASSERT_EQ(calotype_set_store(&custom), CALOTYPE_OK);
    store(key, payload);
    EXPECT_EQ(find(key), "none");
    EXPECT_EQ(counted(), "hits 0 misses 1 writes 0 corrupt 0 evictions 0");
}

TEST_F(ImageStore, AnIncompleteOneIsRefused) {
    calotype_store custom = {};
    custom.size = sizeof custom;
    EXPECT_EQ(calotype_set_store(&custom), CALOTYPE_E_INVALID);
    MapStore map;
    custom = make_store(map);
    custom.size = 8;
    EXPECT_EQ(calotype_set_store(&custom), CALOTYPE_E_INVALID);
}

}  // namespace
