// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device code on the processor: what is counted, aligned, freed, and when.
#include "runtime/nrt/on_host.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace nrt_on_host;

static_assert(sizeof(NRT_MemInfo) == 40 && offsetof(NRT_MemInfo, refct) == 0 &&
                  offsetof(NRT_MemInfo, dtor) == 8 && offsetof(NRT_MemInfo, dtor_info) == 16 &&
                  offsetof(NRT_MemInfo, data) == 24 && offsetof(NRT_MemInfo, size) == 32,
              "the layout that libraries were compiled with");
static_assert(sizeof(calotype_nrt_memsys) == 64);

struct Call {
    void *data;
    size_t size;
    void *info;
};
std::vector<Call> calls;
void note_call(void *data, size_t size, void *info) {
    calls.push_back({data, size, info});
}

class NrtDevice : public ::testing::Test {
protected:
    calotype_nrt_memsys memsys = {};

    NrtDevice() {
        reset_heap();
        calls.clear();
        memsys.enabled = 1;
        TheMSys = &memsys;
    }
    ~NrtDevice() override {
        EXPECT_EQ(0, live_blocks());
        EXPECT_EQ(0, traps());
        reset_heap();
        TheMSys = nullptr;
    }
    /// "alloc free mi_alloc mi_free"
    std::string counts() const {
        return std::to_string(memsys.alloc) + " " + std::to_string(memsys.free_) + " " +
               std::to_string(memsys.mi_alloc) + " " + std::to_string(memsys.mi_free);
    }
};

TEST_F(NrtDevice, RawMemoryIsCounted) {
    void *a = NRT_Allocate(100), *b = NRT_Allocate_External(0);
    EXPECT_EQ(0u, reinterpret_cast<size_t>(a) % 16);
    EXPECT_EQ(0u, reinterpret_cast<size_t>(b) % 16);
    memset(a, 1, 100);
    EXPECT_EQ("2 0 0 0", counts());
    EXPECT_EQ(100u, memsys.alloc_bytes);
    NRT_Free(a);
    NRT_Free(b);
    NRT_Free(nullptr);
    EXPECT_EQ("2 2 0 0", counts());
    EXPECT_EQ(100u, memsys.free_bytes);
    EXPECT_EQ(0u, memsys.failed);
}

TEST_F(NrtDevice, WhatIsNotThereIsCountedApart) {
    fail_allocation(1);
    EXPECT_EQ(nullptr, NRT_Allocate(8));
    fail_allocation(1);
    EXPECT_EQ(nullptr, NRT_MemInfo_alloc(8));
    // More than can be: the heap is not asked.
    EXPECT_EQ(nullptr, NRT_Allocate(~size_t(0)));
    EXPECT_EQ(nullptr, NRT_Allocate(~size_t(0) - 15));
    EXPECT_EQ(nullptr, NRT_MemInfo_alloc_aligned(~size_t(0) - 40, 1024));
    EXPECT_EQ("0 0 0 0", counts());
    EXPECT_EQ(5u, memsys.failed);
    EXPECT_EQ(0u, memsys.alloc_bytes);
}

TEST_F(NrtDevice, ReallocateKeepsWhatFits) {
    char *p = static_cast<char *>(NRT_Reallocate(nullptr, 10));
    memcpy(p, "123456789", 10);
    p = static_cast<char *>(NRT_Reallocate(p, 1000));
    EXPECT_STREQ("123456789", p);
    p = static_cast<char *>(NRT_Reallocate(p, 4));
    EXPECT_EQ(0, memcmp(p, "1234", 4));
    fail_allocation(1);
    EXPECT_EQ(nullptr, NRT_Reallocate(p, 100));
    EXPECT_EQ(0, memcmp(p, "1234", 4));
    EXPECT_EQ("3 2 0 0", counts());
    NRT_Free(p);
    EXPECT_EQ(1014u, memsys.alloc_bytes);
    EXPECT_EQ(1014u, memsys.free_bytes);
}

TEST_F(NrtDevice, ObjectsAndTheirPayloadAreOneBlock) {
    for (int i = 0; i < 10; i++) {
        NRT_decref(NRT_MemInfo_alloc_aligned(100, 64));
    }
    EXPECT_EQ("10 10 10 10", counts());
    EXPECT_EQ(10u * (40 + 100 + 64 - 1), memsys.alloc_bytes);
    EXPECT_EQ(memsys.alloc_bytes, memsys.free_bytes);
}

TEST_F(NrtDevice, TheLastReferenceEndsAnObject) {
    NRT_MemInfo *mi = NRT_MemInfo_alloc_dtor(24, note_call);
    void *data = NRT_MemInfo_data(mi);
    EXPECT_EQ(1u, NRT_MemInfo_refcount(mi));
    EXPECT_EQ(24u, NRT_MemInfo_size(mi));
    EXPECT_EQ(data, NRT_MemInfo_data_fast(mi));
    EXPECT_EQ(nullptr, NRT_MemInfo_external_allocator(mi));
    NRT_incref(mi);
    EXPECT_EQ(2u, NRT_MemInfo_refcount(mi));
    NRT_decref(mi);
    EXPECT_TRUE(calls.empty());
    NRT_decref(mi);
    ASSERT_EQ(1u, calls.size());
    EXPECT_EQ(data, calls[0].data);
    EXPECT_EQ(24u, calls[0].size);
    EXPECT_EQ(nullptr, calls[0].info);
    EXPECT_EQ("1 1 1 1", counts());
}

TEST_F(NrtDevice, NullIsNoObject) {
    NRT_incref(nullptr);
    NRT_decref(nullptr);
    NRT_MemInfo_destroy(nullptr);
    NRT_dealloc(nullptr);
    NRT_Check(nullptr);
    EXPECT_EQ(~size_t(0), NRT_MemInfo_refcount(nullptr));
    EXPECT_EQ("0 0 0 0", counts());
}

TEST_F(NrtDevice, DestructorsGetTheirInfo) {
    int payload = 0, info = 0;
    NRT_decref(NRT_MemInfo_new(&payload, sizeof payload, note_call, &info));
    ASSERT_EQ(1u, calls.size());
    EXPECT_EQ(&payload, calls[0].data);
    EXPECT_EQ(sizeof payload, calls[0].size);
    EXPECT_EQ(&info, calls[0].info);
    EXPECT_EQ("1 1 1 1", counts());
    fail_allocation(1);
    EXPECT_EQ(nullptr, NRT_MemInfo_new(&payload, sizeof payload, note_call, &info));
}

TEST_F(NrtDevice, AnEmbeddedObjectGoesWithItsBlock) {
    struct Embedding {
        NRT_MemInfo mi;
        int payload;
    };
    Embedding *e = static_cast<Embedding *>(NRT_Allocate(sizeof(Embedding)));
    e->payload = 42;
    NRT_MemInfo_init(&e->mi, &e->payload, 0, note_call, nullptr);
    EXPECT_EQ(42, e->payload);
    NRT_decref(&e->mi);
    EXPECT_EQ(1u, calls.size());
    EXPECT_EQ("1 1 1 1", counts());
}

TEST_F(NrtDevice, ReplaceablePayloadsAreBlocksOfTheirOwn) {
    for (int i = 0; i < 5; i++) {
        NRT_decref(NRT_MemInfo_new_varsize(100));
    }
    EXPECT_EQ("10 10 5 5", counts());
    NRT_MemInfo *mi = NRT_MemInfo_new_varsize_dtor(100, note_call);
    void *data = NRT_MemInfo_data(mi);
    NRT_decref(mi);
    ASSERT_EQ(1u, calls.size());
    EXPECT_EQ(data, calls[0].data);
    EXPECT_EQ(100u, calls[0].size);
    EXPECT_EQ(nullptr, calls[0].info);
    EXPECT_EQ("12 12 6 6", counts());
}

TEST_F(NrtDevice, NothingIsLeftIfEitherAllocationFails) {
    for (int nth : {1, 2}) {
        fail_allocation(nth);
        EXPECT_EQ(nullptr, NRT_MemInfo_new_varsize(64));
        EXPECT_EQ(0, live_blocks());
        fail_allocation(nth);
        EXPECT_EQ(nullptr, NRT_MemInfo_new_varsize_dtor(64, note_call));
        EXPECT_EQ(0, live_blocks());
    }
    EXPECT_TRUE(calls.empty());
    EXPECT_EQ("2 2 0 0", counts());
    EXPECT_EQ(4u, memsys.failed);
}

TEST_F(NrtDevice, PayloadsAreReplaced) {
    NRT_MemInfo *mi = NRT_MemInfo_new_varsize(4);
    memcpy(NRT_MemInfo_data(mi), "abc", 4);
    char *data = static_cast<char *>(NRT_MemInfo_varsize_realloc(mi, 8));
    EXPECT_STREQ("abc", data);
    EXPECT_EQ(data, NRT_MemInfo_data(mi));
    EXPECT_EQ(8u, NRT_MemInfo_size(mi));
    // The old one stays the caller's.
    void *fresh = NRT_MemInfo_varsize_alloc(mi, 16);
    EXPECT_EQ(fresh, NRT_MemInfo_data(mi));
    EXPECT_EQ(16u, NRT_MemInfo_size(mi));
    NRT_MemInfo_varsize_free(mi, data);
    EXPECT_EQ(fresh, NRT_MemInfo_data(mi));
    // A failure changes nothing.
    fail_allocation(1);
    EXPECT_EQ(nullptr, NRT_MemInfo_varsize_alloc(mi, 32));
    fail_allocation(1);
    EXPECT_EQ(nullptr, NRT_MemInfo_varsize_realloc(mi, 32));
    EXPECT_EQ(fresh, NRT_MemInfo_data(mi));
    EXPECT_EQ(16u, NRT_MemInfo_size(mi));
    // Freed before the object is, a payload is not freed again.
    NRT_MemInfo_varsize_free(mi, fresh);
    EXPECT_EQ(nullptr, NRT_MemInfo_data(mi));
    NRT_decref(mi);
    EXPECT_EQ("4 4 1 1", counts());
}

TEST_F(NrtDevice, Alignments) {
    for (unsigned align = 1; align <= 1024; align++) {
        for (size_t size : {size_t(0), size_t(1), size_t(100)}) {
            NRT_MemInfo *mi = NRT_MemInfo_alloc_aligned(size, align);
            char *data = static_cast<char *>(NRT_MemInfo_data(mi));
            ASSERT_EQ(0u, reinterpret_cast<size_t>(data) % align);
            memset(data, 1, size);  // all in the block: the address sanitizer looks
            ASSERT_GE(data, reinterpret_cast<char *>(mi + 1));
            ASSERT_LE(data + size, reinterpret_cast<char *>(mi + 1) + size + align - 1);
            NRT_decref(mi);
        }
    }
    NRT_MemInfo *mi = NRT_MemInfo_alloc_aligned(8, 0);
    memset(NRT_MemInfo_data(mi), 1, 8);
    NRT_decref(mi);
    for (NRT_MemInfo *(*alloc)(size_t) : {NRT_MemInfo_alloc, NRT_MemInfo_alloc_safe}) {
        mi = alloc(1);
        EXPECT_EQ(0u, reinterpret_cast<size_t>(NRT_MemInfo_data(mi)) % 16);
        NRT_decref(mi);
    }
}

unsigned char first_seen, last_seen;
void look(void *data, size_t size, void *info) {
    note_call(data, size, info);
    first_seen = static_cast<unsigned char *>(data)[0];
    last_seen = static_cast<unsigned char *>(data)[size - 1];
}

TEST_F(NrtDevice, SafeObjectsShowTheirState) {
    NRT_MemInfo *mi = NRT_MemInfo_alloc_dtor_safe(300, look);
    unsigned char *data = static_cast<unsigned char *>(NRT_MemInfo_data(mi));
    EXPECT_EQ(0xcb, data[0]);
    EXPECT_EQ(0xcb, data[255]);
    data[0] = 1;
    data[299] = 2;
    NRT_decref(mi);
    EXPECT_EQ(1u, calls.size());
    EXPECT_EQ(1, first_seen);
    EXPECT_EQ(2, last_seen);
    mi = NRT_MemInfo_alloc_safe_aligned(3, 128);
    data = static_cast<unsigned char *>(NRT_MemInfo_data(mi));
    EXPECT_EQ(0u, reinterpret_cast<size_t>(data) % 128);
    EXPECT_EQ(0xcb, data[2]);
    // The destructor of safe ones fills before the block goes.
    mi->dtor(mi->data, mi->size, mi->dtor_info);
    EXPECT_EQ(0xde, data[2]);
    NRT_MemInfo_destroy(mi);
    EXPECT_EQ("2 2 2 2", counts());
}

TEST_F(NrtDevice, NothingIsCountedWhileStatisticsAreOff) {
    memsys.enabled = 0;
    NRT_decref(NRT_MemInfo_new_varsize(8));
    fail_allocation(1);
    EXPECT_EQ(nullptr, NRT_Allocate(8));
    EXPECT_EQ("0 0 0 0", counts());
    EXPECT_EQ(0u, memsys.failed + memsys.alloc_bytes + memsys.free_bytes);
    memsys.enabled = 1;
    NRT_decref(NRT_MemInfo_new_varsize(8));
    EXPECT_EQ("2 2 1 1", counts());
    TheMSys = nullptr;  // where the host has set nothing
    NRT_decref(NRT_MemInfo_new_varsize(8));
    EXPECT_EQ("2 2 1 1", counts());
}

void count_end(void *, size_t, void *info) {
    static_cast<std::atomic<uint32_t> *>(info)->fetch_add(1, std::memory_order_relaxed);
}

TEST_F(NrtDevice, EveryObjectEndsOnceWhoeverIsLast) {
    constexpr size_t n = 1000000;
    for (int holders : {2, 8, 16}) {
        memsys = {};
        memsys.enabled = 1;
        std::vector<std::atomic<uint32_t>> ends(n);
        std::vector<NRT_MemInfo *> objects(n);
        for (size_t i = 0; i < n; i++) {
            objects[i] = NRT_MemInfo_new(nullptr, 0, count_end, &ends[i]);
            for (int h = 1; h < holders; h++) {
                NRT_incref(objects[i]);
            }
        }
        std::vector<std::thread> threads;
        for (int h = 0; h < holders; h++) {
            threads.emplace_back([&] {
                for (NRT_MemInfo *mi : objects) {
                    NRT_decref(mi);
                }
            });
        }
        for (std::thread &thread : threads) {
            thread.join();
        }
        size_t wrong = 0;
        for (const std::atomic<uint32_t> &end : ends) {
            wrong += end != 1;
        }
        EXPECT_EQ(0u, wrong) << holders << " holders";
        EXPECT_EQ("1000000 1000000 1000000 1000000", counts());
    }
}

}  // namespace
