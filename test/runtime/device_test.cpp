// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device-neutral functions on a fake device: dirty bits, double calls, and every failure.
#include <gtest/gtest.h>

#include <regex>

#include "capture.h"
#include "fake_device.h"
#include "harness/processes.h"
#include "runtime/buffer.h"

namespace {

using calotype::Runtime::Buffer;
using calotype_test::fake_device;
using calotype_test::fake_device_memory;
using calotype_test::fake_device_state;
using calotype_test::other_fake_device;

class Device : public ::testing::Test {
protected:
    calotype_test::CaptureErrors errors;
    int data[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    calotype_dimension_t dim[2] = {{0, 4, 1}, {0, 3, 4}};
    calotype_buffer_t buf = {};

    Device() {
        fake_device_state() = {};
        buf.host = reinterpret_cast<uint8_t *>(data);
        buf.type = calotype_type_of<int>();
        buf.dimensions = 2;
        buf.dim = dim;
    }
    ~Device() override {
        EXPECT_EQ(0, fake_device_state().live);
        EXPECT_EQ(0u, errors.count());
    }

    static int calls(const char *name) {
        return fake_device_state().calls[name];
    }
    static void fail(const char *name) {
        fake_device_state().failing = name;
    }
    void expect_failure(int code, int returned, const std::string &text) {
        EXPECT_EQ(code, returned);
        EXPECT_EQ(text, errors.take());
        fail("");
    }
    int *on_device() const {
        return reinterpret_cast<int *>(fake_device_memory(buf));
    }
};

TEST_F(Device, CopiesThereAndBackAsTheDirtyBitsSay) {
    buf.set_host_dirty();
    EXPECT_EQ(0, calotype_copy_to_device(nullptr, &buf, fake_device()));
    EXPECT_EQ(0u, buf.flags);
    EXPECT_EQ(7, on_device()[7]);
    EXPECT_EQ(0, calotype_copy_to_device(nullptr, &buf, nullptr));
    EXPECT_EQ(1, calls("copy_to_device"));

    on_device()[7] = 70;
    EXPECT_EQ(0, calotype_copy_to_host(nullptr, &buf));
    EXPECT_EQ(7, data[7]);
    buf.set_device_dirty();
    EXPECT_EQ(0, calotype_copy_to_host(nullptr, &buf));
    EXPECT_EQ(70, data[7]);
    EXPECT_EQ(0u, buf.flags);
    EXPECT_EQ(1, calls("copy_to_host"));
    EXPECT_EQ(0, calotype_device_free(nullptr, &buf));
    EXPECT_EQ(0u, buf.device);
    EXPECT_EQ(nullptr, buf.device_interface);
}

TEST_F(Device, AllocatesAndFreesOnce) {
    EXPECT_EQ(0, calotype_device_malloc(nullptr, &buf, fake_device()));
    EXPECT_EQ(0, calotype_device_malloc(nullptr, &buf, fake_device()));
    EXPECT_EQ(1, calls("device_malloc"));
    EXPECT_EQ(0, calotype_device_sync(nullptr, &buf));
    EXPECT_EQ(0, calotype_device_sync_global(nullptr, fake_device()));
    EXPECT_EQ(2, calls("device_sync"));
    EXPECT_EQ(0, calotype_device_free(nullptr, &buf));
    EXPECT_EQ(0, calotype_device_free(nullptr, &buf));
    EXPECT_EQ(1, calls("device_free"));
    calotype_device_release(nullptr, fake_device());
    EXPECT_EQ(1, calls("device_release"));
}

TEST_F(Device, MovesFromOneDeviceToAnother) {
    buf.set_host_dirty();
    calotype_copy_to_device(nullptr, &buf, fake_device());
    on_device()[3] = 33;
    buf.set_device_dirty();
    EXPECT_EQ(0, calotype_copy_to_device(nullptr, &buf, other_fake_device()));
    EXPECT_EQ(other_fake_device(), buf.device_interface);
    EXPECT_EQ(33, on_device()[3]);
    EXPECT_EQ(33, data[3]);
    expect_failure(-42, calotype_device_malloc(nullptr, &buf, fake_device()),
                   "buffer is on another device interface");
    calotype_device_free(nullptr, &buf);
}

TEST_F(Device, SharesAnAllocationWithTheHost) {
    buf.host = nullptr;
    EXPECT_EQ(0, calotype_device_and_host_malloc(nullptr, &buf, fake_device()));
    EXPECT_NE(nullptr, buf.host);
    EXPECT_EQ(buf.host, fake_device_memory(buf));
    EXPECT_EQ(0, calotype_device_and_host_free(nullptr, &buf));
    EXPECT_EQ(nullptr, buf.host);
}

/// Memory that the buffer has is the application's: it would be freed with what is allocated here.
TEST_F(Device, SharesNothingWithMemoryThatIsThere) {
    uint8_t *const host = buf.host;
    expect_failure(-16, calotype_device_and_host_malloc(nullptr, &buf, fake_device()),
                   "device allocation failed: the buffer has memory already");
    EXPECT_EQ(host, buf.host);
    EXPECT_EQ(0, calls("host_malloc"));
    buf.host = nullptr;
    EXPECT_EQ(0, calotype_device_malloc(nullptr, &buf, fake_device()));
    expect_failure(-16, calotype_device_and_host_malloc(nullptr, &buf, fake_device()),
                   "device allocation failed: the buffer has memory already");
    expect_failure(-42, calotype_device_and_host_malloc(nullptr, &buf, other_fake_device()),
                   "buffer is on another device interface");
    EXPECT_EQ(0, calotype_device_free(nullptr, &buf));
    buf.host = host;
}

TEST_F(Device, WrapsNativeHandles) {
    int memory[12] = {};
    const uint64_t handle = reinterpret_cast<uint64_t>(memory);
    EXPECT_EQ(0, calotype_device_wrap_native(nullptr, &buf, handle, fake_device()));
    expect_failure(-32, calotype_device_wrap_native(nullptr, &buf, handle, fake_device()),
                   "wrapping a native device handle failed");
    buf.set_host_dirty();
    calotype_copy_to_device(nullptr, &buf, fake_device());
    EXPECT_EQ(11, memory[11]);
    EXPECT_EQ(0, calotype_device_detach_native(nullptr, &buf));
    EXPECT_EQ(0u, buf.device);
    EXPECT_EQ(0, calotype_device_detach_native(nullptr, &buf));
    EXPECT_EQ(1, calls("release_handle"));
}

TEST_F(Device, CropsAndSlices) {
    buf.set_host_dirty();
    calotype_copy_to_device(nullptr, &buf, fake_device());
    calotype_dimension_t crop_dim[2] = {{1, 2, 1}, {2, 1, 4}};
    calotype_buffer_t crop = buf;
    crop.device = 0;
    crop.device_interface = nullptr;
    crop.dim = crop_dim;
    EXPECT_EQ(0, calotype_device_crop(nullptr, &buf, &crop));
    EXPECT_EQ(9, *reinterpret_cast<int *>(fake_device_memory(crop)));
    expect_failure(-41, calotype_device_crop(nullptr, &buf, &crop),
                   "cropping a device allocation failed");
    EXPECT_EQ(0, calotype_device_release_crop(nullptr, &crop));
    EXPECT_EQ(0u, crop.device);

    calotype_buffer_t slice = crop;
    slice.dimensions = 1;
    EXPECT_EQ(0, calotype_device_slice(nullptr, &buf, 1, 2, &slice));
    EXPECT_EQ(9, *reinterpret_cast<int *>(fake_device_memory(slice)));
    calotype_device_release_crop(nullptr, &slice);

    fake_device_state().crops_supported = false;
    expect_failure(-40, calotype_device_crop(nullptr, &buf, &crop),
                   "device does not support cropping");
    calotype_device_free(nullptr, &buf);
    EXPECT_EQ(0, calotype_device_crop(nullptr, &buf, &crop));  // nothing to crop
}

TEST_F(Device, PartsLieInTheWhole) {
    calotype_device_malloc(nullptr, &buf, fake_device());
    calotype_dimension_t part_dim[2] = {{0, 4, 1}, {0, 3, 4}};
    calotype_buffer_t part = buf;
    part.device = 0;
    part.device_interface = nullptr;
    part.dim = part_dim;
    const std::string failed = "cropping a device allocation failed: ";
    const std::tuple<int, int, int, const char *> crops[] = {
        {0, -1, 2, "dimension 0 of the part is -1 to 0, that of the whole 0 to 3"},
        {0, 3, 2, "dimension 0 of the part is 3 to 4, that of the whole 0 to 3"},
        {1, 0, 4, "dimension 1 of the part is 0 to 3, that of the whole 0 to 2"},
        {1, INT32_MAX, INT32_MAX,
         "dimension 1 of the part is 2147483647 to 4294967293, that of the whole 0 to 2"}};
    for (const auto &[d, min, extent, text] : crops) {
        const calotype_dimension_t good = part_dim[d];
        part_dim[d].min = min;
        part_dim[d].extent = extent;
        expect_failure(-41, calotype_device_crop(nullptr, &buf, &part), failed + text);
        part_dim[d] = good;
    }
    part_dim[0] = {100, 0, 1};  // has no elements
    EXPECT_EQ(0, calotype_device_crop(nullptr, &buf, &part));
    EXPECT_EQ(0, calotype_device_release_crop(nullptr, &part));
    expect_failure(-41, calotype_device_slice(nullptr, &buf, 0, 0, &part),
                   failed + "dimensions of the part: 2, must be 1");
    part.dimensions = 1;
    expect_failure(-41, calotype_device_crop(nullptr, &buf, &part),
                   failed + "dimensions of the part: 1, must be 2");
    for (int d : {7, -1}) {
        expect_failure(-41, calotype_device_slice(nullptr, &buf, d, 0, &part),
                       failed + "a slice at dimension " + std::to_string(d) + " of 2");
    }
    for (int at : {4, -1}) {
        expect_failure(-41, calotype_device_slice(nullptr, &buf, 0, at, &part),
                       failed + "a slice at " + std::to_string(at) +
                           " of dimension 0, which is 0 to 3");
    }
    part_dim[0] = {1, 3, 4};
    expect_failure(-41, calotype_device_slice(nullptr, &buf, 0, 3, &part),
                   "cropping a device allocation failed: dimension 0 of the part is 1 to 3, that "
                   "of the whole 0 to 2");
    EXPECT_EQ(0u, part.device);
    calotype_device_free(nullptr, &buf);
}

TEST_F(Device, CopiesBetweenBuffers) {
    int other_data[12] = {};
    calotype_buffer_t other = buf;
    other.host = reinterpret_cast<uint8_t *>(other_data);

    EXPECT_EQ(0, calotype_buffer_copy(nullptr, &buf, nullptr, &other));  // host to host
    EXPECT_EQ(11, other_data[11]);
    EXPECT_TRUE(other.host_dirty());
    EXPECT_EQ(0, calls("buffer_copy"));

    other.set_host_dirty(false);
    EXPECT_EQ(0, calotype_buffer_copy(nullptr, &buf, fake_device(), &other));  // to a device
    EXPECT_TRUE(other.device_dirty());
    reinterpret_cast<int *>(fake_device_memory(other))[5] = 55;

    EXPECT_EQ(0, calotype_buffer_copy(nullptr, &other, nullptr, &buf));  // from it
    EXPECT_EQ(55, data[5]);

    buf.set_host_dirty(false);
    data[5] = 5;
    EXPECT_EQ(0, calotype_buffer_copy(nullptr, &other, other_fake_device(), &buf));  // to another
    EXPECT_TRUE(buf.device_dirty());
    EXPECT_EQ(55, on_device()[5]);
    EXPECT_EQ(55, other_data[5]);  // by way of the host
    calotype_device_free(nullptr, &buf);
    calotype_device_free(nullptr, &other);
}

TEST_F(Device, CopiesOnlyWhatBothHave) {
    int small[4] = {-1, -1, -1, -1};
    calotype_dimension_t small_dim[2] = {{3, 2, 1}, {2, 2, 2}};
    calotype_buffer_t dst = buf;
    dst.host = reinterpret_cast<uint8_t *>(small);
    dst.dim = small_dim;
    EXPECT_EQ(0, calotype_buffer_copy(nullptr, &buf, nullptr, &dst));
    EXPECT_EQ(11, small[0]);
    EXPECT_EQ(-1, small[1]);
    EXPECT_EQ(-1, small[2]);
    EXPECT_EQ(-1, small[3]);
}

TEST_F(Device, RefusesCopiesThatMakeNoSense) {
    calotype_buffer_t other = buf;
    other.dimensions = 1;
    expect_failure(-43, calotype_buffer_copy(nullptr, &buf, nullptr, &other),
                   "destination of copy has 1 dimension, must have 2");
    other = buf;
    other.type = calotype_type_of<uint8_t>();
    expect_failure(-3, calotype_buffer_copy(nullptr, &buf, nullptr, &other),
                   "destination of copy has type uint8, must be int32");
    other = buf;
    other.host = nullptr;
    expect_failure(-34, calotype_buffer_copy(nullptr, &buf, nullptr, &other),
                   "host pointer of destination is null, but the pipeline uses it on the host");
}

TEST_F(Device, ReportsWhatABackEndCannotDo) {
    fail("device_malloc");
    expect_failure(-16, calotype_device_malloc(nullptr, &buf, fake_device()),
                   "device allocation failed");
    EXPECT_EQ(nullptr, buf.device_interface);
    uint8_t *const host = buf.host;
    buf.host = nullptr;
    fail("host_malloc");
    expect_failure(-16, calotype_device_and_host_malloc(nullptr, &buf, fake_device()),
                   "device allocation failed");
    buf.host = host;
    fail("wrap_native");
    expect_failure(-32, calotype_device_wrap_native(nullptr, &buf, 1, fake_device()),
                   "wrapping a native device handle failed");

    calotype_device_malloc(nullptr, &buf, fake_device());
    buf.set_host_dirty();
    fail("copy_to_device");
    expect_failure(-15, calotype_copy_to_device(nullptr, &buf, nullptr),
                   "copy to the device failed");
    EXPECT_TRUE(buf.host_dirty());
    buf.set_host_dirty(false);
    buf.set_device_dirty();
    fail("copy_to_host");
    expect_failure(-14, calotype_copy_to_host(nullptr, &buf), "copy to the host failed");
    EXPECT_TRUE(buf.device_dirty());
    fail("device_sync");
    expect_failure(-17, calotype_device_sync(nullptr, &buf), "device synchronisation failed");
    calotype_buffer_t other = buf;
    other.device = 0;
    other.device_interface = nullptr;
    other.flags = 0;
    fail("buffer_copy");
    expect_failure(-39, calotype_buffer_copy(nullptr, &buf, nullptr, &other),
                   "copy between devices failed");
    fail("device_free");
    expect_failure(-18, calotype_device_free(nullptr, &buf), "freeing a device allocation failed");
    EXPECT_EQ(0u, buf.device);
}

TEST_F(Device, RefusesBuffersThatContradictThemselves) {
    expect_failure(-38, calotype_copy_to_host(nullptr, nullptr),
                   "buffer given to calotype_copy_to_host is null");
    expect_failure(-19, calotype_copy_to_device(nullptr, &buf, nullptr),
                   "buffer has no device interface");
    expect_failure(-19, calotype_device_sync(nullptr, &buf), "buffer has no device interface");
    calotype_buffer_t bad = buf;
    bad.device = 1;
    expect_failure(-19, calotype_device_free(nullptr, &bad), "buffer has no device interface");
    bad = buf;
    bad.device_interface = fake_device();
    expect_failure(-36, calotype_device_free(nullptr, &bad),
                   "device interface without a device allocation");
    bad = buf;
    bad.set_host_dirty();
    bad.set_device_dirty();
    expect_failure(-37, calotype_copy_to_host(nullptr, &bad), "host and device are both dirty");
}

int releases;

TEST(DeviceOptions, PoolsAreEmptiedWhenReuseEnds) {
    static calotype_device_allocation_pool pool = {[](void *) { return ++releases, 0; }, nullptr};
    releases = 0;
    calotype_register_device_allocation_pool(&pool);
    calotype_register_device_allocation_pool(&pool);  // it is registered already
    EXPECT_FALSE(calotype_can_reuse_device_allocations(nullptr));
    EXPECT_EQ(0, calotype_reuse_device_allocations(nullptr, true));
    EXPECT_TRUE(calotype_can_reuse_device_allocations(nullptr));
    EXPECT_EQ(0, releases);
    EXPECT_EQ(0, calotype_reuse_device_allocations(nullptr, false));
    EXPECT_EQ(1, releases);
}

TEST(DeviceOptions, DeviceIsWhatWasSet) {
    calotype_set_gpu_device(3);
    EXPECT_EQ(3, calotype_get_gpu_device(nullptr));
    calotype_set_gpu_device(-1);
    EXPECT_EQ(-1, calotype_get_gpu_device(nullptr));
}

TEST_F(Device, TheLogTellsOfDeviceCopies) {
    static std::string seen;
    seen.clear();
    calotype_set_custom_print([](void *, const char *text) { seen += text; });
    calotype_set_log("memory");
    buf.set_host_dirty();
    EXPECT_EQ(0, calotype_copy_to_device(nullptr, &buf, fake_device()));
    buf.set_device_dirty();
    EXPECT_EQ(0, calotype_copy_to_host(nullptr, &buf));
    EXPECT_EQ(0, calotype_device_free(nullptr, &buf));
    calotype_set_log("");
    calotype_set_custom_print(nullptr);
    std::string expected;
    for (const char *what :
         {"allocated", "copied to the device", "copied to the host", "freeing"}) {
        expected += "calotype memory: " + std::string(what) + " 48 bytes at #\n";
    }
    EXPECT_EQ(expected, std::regex_replace(seen, std::regex("at [^\n]*"), "at #"));
}

/// In a process whose environment says it.
TEST(DeviceOptions, OneProcess) {
    if (!calotype_test::is_process_of_test()) {
        GTEST_SKIP() << "is a part of DeviceIsWhatTheEnvironmentSays";
    }
    calotype_test::process_report() << calotype_get_gpu_device(nullptr);
}

/// Read whole: a number from -1, or one that no device has.
TEST(DeviceOptions, DeviceIsWhatTheEnvironmentSays) {
    const std::pair<const char *, const char *> settings[] = {
        {"", "-1"},
        {"-1", "-1"},
        {"0", "0"},
        {"2147483646", "2147483646"},
        {"abc", "2147483647"},
        {"-2", "2147483647"},
        {"1x", "2147483647"},
        {"1.5", "2147483647"},
        {"2147483648", "2147483647"},
        {"99999999999999999999", "2147483647"}};
    calotype_test::Processes processes;
    for (const auto &[setting, number] : settings) {
        EXPECT_EQ(number, processes.run("DeviceOptions.OneProcess",
                                        {std::string("CT_GPU_DEVICE=") + setting}))
            << setting;
    }
}

}  // namespace
