/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The C interface, as a C99 program sees it: that this compiles is the test; layout_test.cpp
 * compares what it returns with what C++ sees. */
#include "runtime/runtime.h"

#include <string.h>

size_t c99_layout(size_t *out, size_t capacity) {
    const size_t values[] = {
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
    const size_t count = sizeof values / sizeof values[0];
    memcpy(out, values, (count < capacity ? count : capacity) * sizeof values[0]);
    return count;
}

int c99_round_trip(void) {
    calotype_dimension_t dim = {0, 4, 1, 0};
    int32_t data[4] = {1, 2, 3, 4};
    calotype_buffer_t buf;
    memset(&buf, 0, sizeof buf);
    buf.host = (uint8_t *)data;
    buf.type.code = calotype_type_int;
    buf.type.bits = 32;
    buf.type.lanes = 1;
    buf.dimensions = 1;
    buf.dim = &dim;
    return calotype_copy_to_host(NULL, &buf);
}
