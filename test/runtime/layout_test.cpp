// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layout of the structures that generated code and applications share.
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "runtime/runtime.h"

extern "C" size_t c99_layout(size_t *out, size_t capacity);
extern "C" int c99_round_trip(void);

namespace {

TEST(Layout, OfTheBufferIsTheUsualOne) {
    static_assert(sizeof(void *) == 8, "the numbers below are for 64 bits");
    EXPECT_EQ(0u, offsetof(calotype_buffer_t, device));
    EXPECT_EQ(8u, offsetof(calotype_buffer_t, device_interface));
    EXPECT_EQ(16u, offsetof(calotype_buffer_t, host));
    EXPECT_EQ(24u, offsetof(calotype_buffer_t, flags));
    EXPECT_EQ(32u, offsetof(calotype_buffer_t, type));
    EXPECT_EQ(36u, offsetof(calotype_buffer_t, dimensions));
    EXPECT_EQ(40u, offsetof(calotype_buffer_t, dim));
    EXPECT_EQ(48u, offsetof(calotype_buffer_t, padding));
    EXPECT_EQ(56u, sizeof(calotype_buffer_t));
}

TEST(Layout, OfTypeAndDimensionIsTheUsualOne) {
    EXPECT_EQ(0u, offsetof(calotype_type_t, code));
    EXPECT_EQ(1u, offsetof(calotype_type_t, bits));
    EXPECT_EQ(2u, offsetof(calotype_type_t, lanes));
    EXPECT_EQ(4u, sizeof(calotype_type_t));
    EXPECT_EQ(0u, offsetof(calotype_dimension_t, min));
    EXPECT_EQ(4u, offsetof(calotype_dimension_t, extent));
    EXPECT_EQ(8u, offsetof(calotype_dimension_t, stride));
    EXPECT_EQ(12u, offsetof(calotype_dimension_t, flags));
    EXPECT_EQ(16u, sizeof(calotype_dimension_t));
    EXPECT_EQ(0x00042002u, calotype_type_t(calotype_type_float, 32, 4).as_u32());
}

TEST(Layout, OfMetadataIsTheUsualOne) {
    EXPECT_EQ(8u, sizeof(calotype_scalar_value_t));
    EXPECT_EQ(64u, sizeof(calotype_filter_argument_t));
    EXPECT_EQ(32u, sizeof(calotype_filter_metadata_t));
    EXPECT_EQ(16u * sizeof(void *), sizeof(calotype_device_interface_t));
    EXPECT_EQ(28u, sizeof(calotype_trace_packet_t));
}

TEST(Layout, IsTheSameInC) {
    std::vector<size_t> c(64);
    c.resize(c99_layout(c.data(), c.size()));
    const std::vector<size_t> cpp = {
        sizeof(calotype_buffer_t),
        offsetof(calotype_buffer_t, device),
        offsetof(calotype_buffer_t, device_interface),
        offsetof(calotype_buffer_t, host),
        offsetof(calotype_buffer_t, flags),
        offsetof(calotype_buffer_t, type),
        offsetof(calotype_buffer_t, dimensions),
        offsetof(calotype_buffer_t, dim),
        offsetof(calotype_buffer_t, padding),
        sizeof(calotype_dimension_t),
        sizeof(calotype_type_t),
        sizeof(calotype_scalar_value_t),
        sizeof(calotype_filter_argument_t),
        sizeof(calotype_filter_metadata_t),
        sizeof(calotype_device_interface_t),
        sizeof(calotype_parallel_task_t),
        sizeof(calotype_trace_event_t),
        sizeof(calotype_trace_packet_t),
        sizeof(calotype_profiler_instance_state),
        sizeof(calotype_semaphore_t),
    };
    EXPECT_EQ(cpp, c);
    EXPECT_EQ(0, c99_round_trip());
}

TEST(TypeOf, KnowsTheArithmeticTypes) {
    EXPECT_EQ(calotype_type_t(calotype_type_uint, 1), calotype_type_of<bool>());
    EXPECT_EQ(calotype_type_t(calotype_type_int, 8), calotype_type_of<int8_t>());
    EXPECT_EQ(calotype_type_t(calotype_type_uint, 16), calotype_type_of<const uint16_t>());
    EXPECT_EQ(calotype_type_t(calotype_type_int, 64), calotype_type_of<int64_t>());
    EXPECT_EQ(calotype_type_t(calotype_type_float, 32), calotype_type_of<float>());
    EXPECT_EQ(calotype_type_t(calotype_type_float, 64), calotype_type_of<double>());
    EXPECT_EQ(calotype_type_t(calotype_type_handle, 64), calotype_type_of<const char *>());
}

}  // namespace
