// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runtime::Buffer with device copies: who frees them and when, on a fake device.
#include <gtest/gtest.h>

#include "fake_device.h"
#include "runtime/buffer.h"

namespace {

using calotype::Runtime::Buffer;
using calotype::Runtime::BufferDeviceOwnership;
using calotype_test::fake_device;
using calotype_test::fake_device_memory;
using calotype_test::fake_device_state;

class BufferOnDevice : public ::testing::Test {
protected:
    BufferOnDevice() {
        fake_device_state() = {};
    }
    ~BufferOnDevice() override {
        EXPECT_EQ(0, fake_device_state().live);
    }
    static Buffer<int> make() {
        Buffer<int> b(4, 3);
        b.fill([](int x, int y) { return x + 10 * y; });
        b.copy_to_device(fake_device());
        return b;
    }
    template<typename B>
    static int *on_device(const B &b) {
        return reinterpret_cast<int *>(fake_device_memory(*b.raw_buffer()));
    }
};

TEST_F(BufferOnDevice, CopiesBothWays) {
    Buffer<int> b = make();
    EXPECT_TRUE(b.has_device_allocation());
    EXPECT_FALSE(b.host_dirty());
    on_device(b)[0] = 99;
    b.set_device_dirty();
    EXPECT_EQ(0, b.copy_to_host());
    EXPECT_EQ(99, b(0, 0));
    EXPECT_EQ(0, b.device_sync());
    EXPECT_EQ(0, b.device_free());
    EXPECT_FALSE(b.has_device_allocation());
}

TEST_F(BufferOnDevice, LastCopyFrees) {
    Buffer<int> c;
    {
        Buffer<int> b = make();
        c = b;
        Buffer<int> d = std::move(b);
    }
    EXPECT_EQ(1, fake_device_state().live);
    EXPECT_EQ(11, on_device(c)[5]);
    c = Buffer<int>();
    EXPECT_EQ(0, fake_device_state().live);
}

TEST_F(BufferOnDevice, CropsKeepTheWholeAlive) {
    Buffer<int> crop;
    {
        Buffer<int> b = make();
        crop = b.cropped(0, 1, 2);
        EXPECT_EQ(BufferDeviceOwnership::Cropped, crop.device_ownership());
    }
    EXPECT_EQ(1, fake_device_state().live);
    EXPECT_EQ(1, on_device(crop)[0]);
    crop.crop(1, 2, 1);
    EXPECT_EQ(21, on_device(crop)[0]);
    EXPECT_EQ(21, crop(1, 2));
    Buffer<int> slice = crop.sliced(1, 2);
    crop.reset();
    EXPECT_EQ(1, fake_device_state().live);
    EXPECT_EQ(21, on_device(slice)[0]);
    slice.slice(0, 2);
    EXPECT_EQ(22, on_device(slice)[0]);
}

TEST_F(BufferOnDevice, CropsShareTheDirtyBit) {
    Buffer<int> b = make();
    b.set_device_dirty();
    on_device(b)[5] = 111;
    Buffer<int> crop = b.cropped(1, 1, 1);
    EXPECT_TRUE(crop.device_dirty());
    crop.copy_to_host();
    EXPECT_EQ(111, crop(1, 1));
    b.set_device_dirty(false);
}

TEST_F(BufferOnDevice, WrappedHandlesAreGivenBack) {
    int memory[12] = {};
    {
        Buffer<int> b(4, 3);
        EXPECT_EQ(0, b.device_wrap_native(fake_device(), reinterpret_cast<uint64_t>(memory)));
        Buffer<int> c = b;
        EXPECT_EQ(BufferDeviceOwnership::WrappedNative, c.device_ownership());
    }
    EXPECT_EQ(1, fake_device_state().calls["release_handle"]);
    Buffer<int> b(4, 3);
    b.device_wrap_native(fake_device(), reinterpret_cast<uint64_t>(memory));
    EXPECT_EQ(0, b.device_detach_native());
    EXPECT_EQ(2, fake_device_state().calls["release_handle"]);
}

TEST_F(BufferOnDevice, SharedAllocationsGoTogether) {
    {
        Buffer<int> b(nullptr, 4, 3);
        EXPECT_EQ(0, b.device_and_host_malloc(fake_device()));
        b(1, 1) = 5;
        EXPECT_EQ(5, on_device(b)[5]);
    }
    EXPECT_EQ(1, fake_device_state().calls["host_free"]);
    Buffer<int> b(nullptr, 4, 3);
    b.device_and_host_malloc(fake_device());
    EXPECT_EQ(0, b.device_and_host_free());
    EXPECT_EQ(nullptr, b.data());
}

TEST_F(BufferOnDevice, ViewsOfRawBuffersLeaveTheirDevicesAlone) {
    Buffer<int> b = make();
    {
        Buffer<int> view(*b.raw_buffer());
        Buffer<int> copy = view;
        EXPECT_EQ(BufferDeviceOwnership::Unmanaged, copy.device_ownership());
    }
    EXPECT_EQ(1, fake_device_state().live);
}

TEST_F(BufferOnDevice, DeallocateGivesUpOneSide) {
    Buffer<int> b = make();
    Buffer<int> c = b;
    b.device_deallocate();
    EXPECT_FALSE(b.has_device_allocation());
    EXPECT_EQ(11, b(1, 1));
    c.deallocate();
    EXPECT_EQ(nullptr, c.data());
    EXPECT_TRUE(c.has_device_allocation());
}

}  // namespace
