// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of buffers of any shape, and buffers that are parts of others.
#include "runtime/conformance/conformance.h"

#include <cstring>
#include <map>
#include <random>

namespace calotype_test {

namespace {

/// A buffer of a random shape in memory of its own, with gaps.
class RandomBuffer {
public:
    std::vector<uint8_t> memory;
    std::vector<calotype_dimension_t> dim;
    calotype_buffer_t buf = {};

    RandomBuffer(std::mt19937 &random, int dimensions, int bytes) : dim(size_t(dimensions)) {
        const auto upto = [&](int n) {
            return int(random() % uint32_t(n + 1));
        };
        std::vector<int> order;
        for (int d = 0; d < dimensions; d++) {
            order.insert(order.begin() + upto(d), d);
            dim[size_t(d)].min = upto(20) - 10;
            dim[size_t(d)].extent = 1 + upto(5);
        }
        int stride = 1 + (upto(3) == 0);
        for (int d : order) {
            dim[size_t(d)].stride = upto(7) == 0 ? -stride : stride;
            stride *= dim[size_t(d)].extent + (upto(2) == 0);
        }
        finish(bytes);
    }
    RandomBuffer(std::vector<calotype_dimension_t> shape, int bytes) : dim(std::move(shape)) {
        finish(bytes);
    }
    void fill(uint32_t seed) {
        std::mt19937 random(seed);
        for (uint8_t &byte : memory) {
            byte = uint8_t(random());
        }
    }
    /// Address of each element by its coordinates.
    std::map<std::vector<int>, uint8_t *> elements() const {
        std::map<std::vector<int>, uint8_t *> all;
        std::vector<int> at;
        for (const calotype_dimension_t &d : dim) {
            at.push_back(d.min);
        }
        do {
            all[at] = buf.address_of(at.data());
        } while (advance(&at));
        return all;
    }

private:
    void finish(int bytes) {
        buf.type = calotype_type_t(calotype_type_uint, uint8_t(bytes * 8), 1);
        buf.dimensions = int(dim.size());
        buf.dim = dim.data();
        memory.resize(buf.size_in_bytes());
        buf.host = memory.data() - buf.begin_offset() * bytes;
    }
    bool advance(std::vector<int> *at) const {
        for (size_t d = 0; d < dim.size(); d++) {
            if (++(*at)[d] < dim[d].min + dim[d].extent) {
                return true;
            }
            (*at)[d] = dim[d].min;
        }
        return false;
    }
};

int bytes_of(std::mt19937 &random) {
    return 1 << random() % 4;
}

TEST_P(Conformance, RandomShapesThereAndBack) {
    for (uint32_t seed = 0; seed < 150; seed++) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        RandomBuffer a(random, int(random() % 6), bytes_of(random));
        a.fill(seed);
        const std::vector<uint8_t> before = a.memory;
        a.buf.set_host_dirty();
        ASSERT_EQ(0, calotype_copy_to_device(nullptr, &a.buf, interface)) << errors();
        a.fill(seed + 1000);
        std::vector<uint8_t> expected = a.memory;
        for (const auto &[at, address] : a.elements()) {
            const size_t offset = size_t(address - a.memory.data());
            memcpy(&expected[offset], &before[offset], size_t(a.buf.type.bytes()));
        }
        a.buf.set_device_dirty();
        ASSERT_EQ(0, calotype_copy_to_host(nullptr, &a.buf)) << errors();
        EXPECT_EQ(expected, a.memory) << "elements copied, gaps left alone";
        EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
    }
}

/// Copies what two random buffers have in common, from the side to the side that is said.
void copy_between(const calotype_device_interface_t *interface, uint32_t seed, bool from_device,
                  bool to_device) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const int dimensions = int(random() % 5), bytes = bytes_of(random);
    RandomBuffer a(random, dimensions, bytes), b(random, dimensions, bytes);
    for (int d = 0; d < dimensions; d++) {
        b.dim[size_t(d)].min = a.dim[size_t(d)].min + int(random() % 3) - 1;
    }
    a.fill(seed);
    b.fill(seed + 1000);
    auto expected = b.elements();
    std::map<std::vector<int>, std::vector<uint8_t>> values;
    const auto source = a.elements();
    for (const auto &[at, address] : expected) {
        const auto found = source.find(at);
        const uint8_t *from = found == source.end() ? address : found->second;
        values[at] = std::vector<uint8_t>(from, from + bytes);
    }
    a.buf.set_host_dirty();
    b.buf.set_host_dirty();
    ASSERT_EQ(0, calotype_copy_to_device(nullptr, &a.buf, interface));
    ASSERT_EQ(0, calotype_copy_to_device(nullptr, &b.buf, interface));
    a.buf.set_device_dirty(from_device);
    a.buf.set_host_dirty(!from_device);
    ASSERT_EQ(0, calotype_buffer_copy(nullptr, &a.buf, to_device ? interface : nullptr, &b.buf));
    ASSERT_EQ(to_device, b.buf.device_dirty());
    ASSERT_EQ(0, calotype_copy_to_host(nullptr, &b.buf));
    for (const auto &[at, address] : expected) {
        EXPECT_EQ(values[at], std::vector<uint8_t>(address, address + bytes));
    }
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
    EXPECT_EQ(0, calotype_device_free(nullptr, &b.buf));
}

TEST_P(Conformance, CopiesBetweenDevices) {
    for (uint32_t seed = 0; seed < 60; seed++) {
        copy_between(interface, seed, true, true);
    }
}

TEST_P(Conformance, CopiesFromHostToDevice) {
    for (uint32_t seed = 100; seed < 160; seed++) {
        copy_between(interface, seed, false, true);
    }
}

TEST_P(Conformance, CopiesFromDeviceToHost) {
    for (uint32_t seed = 200; seed < 260; seed++) {
        copy_between(interface, seed, true, false);
    }
}

/// What is written to a part of a device allocation shows in the whole, and nothing else.
TEST_P(Conformance, ACropIsAPartOfTheWhole) {
    RandomBuffer whole({{2, 7, 1}, {-3, 5, 8}, {0, 4, 50}}, 4);
    whole.fill(1);
    const std::vector<uint8_t> before = whole.memory;
    whole.buf.set_host_dirty();
    ASSERT_EQ(0, calotype_copy_to_device(nullptr, &whole.buf, interface));

    RandomBuffer part({{4, 3, 1}, {-1, 2, 8}, {1, 2, 50}}, 4);
    ASSERT_EQ(0, calotype_device_crop(nullptr, &whole.buf, &part.buf)) << errors();
    part.fill(2);
    part.buf.set_host_dirty();
    ASSERT_EQ(0, calotype_copy_to_device(nullptr, &part.buf, interface));
    EXPECT_EQ(0, calotype_device_release_crop(nullptr, &part.buf));

    whole.fill(3);
    whole.buf.set_device_dirty();
    ASSERT_EQ(0, calotype_copy_to_host(nullptr, &whole.buf));
    const auto changed = part.elements();
    for (const auto &[at, address] : whole.elements()) {
        const auto found = changed.find(at);
        const uint8_t *expected =
            found == changed.end() ? &before[size_t(address - whole.memory.data())] : found->second;
        EXPECT_EQ(0, memcmp(expected, address, 4));
    }
    EXPECT_EQ(0, calotype_device_free(nullptr, &whole.buf));
}

TEST_P(Conformance, ASliceIsAPartOfTheWhole) {
    RandomBuffer whole({{0, 5, 1}, {10, 4, 5}, {-1, 3, 20}}, 2);
    whole.fill(1);
    whole.buf.set_host_dirty();
    ASSERT_EQ(0, calotype_copy_to_device(nullptr, &whole.buf, interface));
    RandomBuffer slice({{0, 5, 1}, {-1, 3, 20}}, 2);
    ASSERT_EQ(0, calotype_device_slice(nullptr, &whole.buf, 1, 12, &slice.buf)) << errors();
    slice.buf.set_device_dirty();
    ASSERT_EQ(0, calotype_copy_to_host(nullptr, &slice.buf));
    for (const auto &[at, address] : slice.elements()) {
        const int where[] = {at[0], 12, at[1]};
        EXPECT_EQ(0, memcmp(whole.buf.address_of(where), address, 2));
    }
    EXPECT_EQ(0, calotype_device_release_crop(nullptr, &slice.buf));
    EXPECT_EQ(0, calotype_device_free(nullptr, &whole.buf));
}

TEST_P(Conformance, HostAndDeviceMemoryInOneGo) {
    calotype_dimension_t dim[2] = {{0, 10, 1}, {0, 3, 10}};
    calotype_buffer_t buf = {};
    buf.type = calotype_type_of<int>();
    buf.dimensions = 2;
    buf.dim = dim;
    ASSERT_EQ(0, calotype_device_and_host_malloc(nullptr, &buf, interface));
    ASSERT_NE(nullptr, buf.host);
    memset(buf.host, 5, buf.size_in_bytes());
    buf.set_host_dirty();
    EXPECT_EQ(0, calotype_copy_to_device(nullptr, &buf, interface));
    EXPECT_EQ(0, calotype_device_sync(nullptr, &buf));
    EXPECT_EQ(0, calotype_device_and_host_free(nullptr, &buf));
    EXPECT_EQ(nullptr, buf.host);
    EXPECT_EQ(0u, buf.device);
}

TEST_P(Conformance, WrapsANativeHandle) {
    RandomBuffer a({{0, 8, 1}}, 4), b({{0, 8, 1}}, 4);
    a.fill(1);
    a.buf.set_host_dirty();
    ASSERT_EQ(0, calotype_copy_to_device(nullptr, &a.buf, interface));
    ASSERT_EQ(
        0, calotype_device_wrap_native(nullptr, &b.buf, device->native_handle(&a.buf), interface))
        << errors();
    b.buf.set_device_dirty();
    EXPECT_EQ(0, calotype_copy_to_host(nullptr, &b.buf));
    EXPECT_EQ(a.memory, b.memory);
    EXPECT_EQ(0, calotype_device_detach_native(nullptr, &b.buf));
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
}

TEST_P(Conformance, ABufferWithoutElements) {
    calotype_dimension_t dim[2] = {{0, 0, 1}, {0, 3, 10}};
    calotype_buffer_t buf = {};
    uint8_t nothing = 0;
    buf.host = &nothing;
    buf.type = calotype_type_of<int>();
    buf.dimensions = 2;
    buf.dim = dim;
    buf.set_host_dirty();
    EXPECT_EQ(0, calotype_copy_to_device(nullptr, &buf, interface)) << errors();
    buf.set_device_dirty();
    EXPECT_EQ(0, calotype_copy_to_host(nullptr, &buf)) << errors();
    EXPECT_EQ(0, calotype_device_free(nullptr, &buf));
}

}  // namespace

}  // namespace calotype_test
