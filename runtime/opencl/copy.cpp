// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Between host memory and buffers: one call of the driver for each box of the plan
// (device/copy_plan.h). With the host at one end the copy is complete when it returns; between
// device copies of one context it is queued.
//
// What is in another context than that of the call is copied there, by a queue that is made for it,
// and between two contexts by way of the host: no command of OpenCL knows two.
#include "runtime/opencl/copy.h"

#include "runtime/abi/device_context.h"
#include "runtime/abi/errors.h"
#include "runtime/abi/runtime_opencl.h"
#include "runtime/device/copy_plan.h"
#include "runtime/device/host_allocation.h"
#include "runtime/host/not_copied.h"
#include "runtime/opencl/context.h"
#include "runtime/opencl/driver.h"
#include "runtime/opencl/errors.h"
#include "runtime/opencl/images.h"
#include "runtime/opencl/memory.h"

namespace calotype::runtime::opencl {

namespace {

/** The two ends of a copy, each in host memory or in a memory object. */
struct Ends {
    const DeviceScope &scope;
    cl_mem src_mem, dst_mem;  ///< null: host memory
    uint64_t src_offset, dst_offset;
    const uint8_t *src_host;
    uint8_t *dst_host;
};

cl_int enqueue_linear(const Ends &ends, const CopyBox &box) {
    const size_t from = size_t(int64_t(ends.src_offset) + box.src_offset);
    const size_t to = size_t(int64_t(ends.dst_offset) + box.dst_offset);
    const size_t bytes = size_t(box.width);
    cl_command_queue queue = queue_of(ends.scope);
    if (!ends.src_mem) {
        return cl().clEnqueueWriteBuffer(queue, ends.dst_mem, 0, to, bytes,
                                         ends.src_host + box.src_offset, 0, nullptr, nullptr);
    }
    if (!ends.dst_mem) {
        return cl().clEnqueueReadBuffer(queue, ends.src_mem, 0, from, bytes,
                                        ends.dst_host + box.dst_offset, 0, nullptr, nullptr);
    }
    return cl().clEnqueueCopyBuffer(queue, ends.src_mem, ends.dst_mem, from, to, bytes, 0, nullptr,
                                    nullptr);
}

cl_int enqueue_rect(const Ends &ends, const CopyBox &box) {
    const size_t from[3] = {size_t(int64_t(ends.src_offset) + box.src_offset), 0, 0};
    const size_t to[3] = {size_t(int64_t(ends.dst_offset) + box.dst_offset), 0, 0};
    const size_t zero[3] = {0, 0, 0};
    const size_t region[3] = {size_t(box.width), size_t(box.rows), size_t(box.slices)};
    const size_t src_row = size_t(box.src_pitch), src_slice = size_t(box.src_slice);
    const size_t dst_row = size_t(box.dst_pitch), dst_slice = size_t(box.dst_slice);
    cl_command_queue queue = queue_of(ends.scope);
    if (!ends.src_mem) {
        return cl().clEnqueueWriteBufferRect(queue, ends.dst_mem, 0, to, zero, region, dst_row,
                                             dst_slice, src_row, src_slice,
                                             ends.src_host + box.src_offset, 0, nullptr, nullptr);
    }
    if (!ends.dst_mem) {
        return cl().clEnqueueReadBufferRect(queue, ends.src_mem, 0, from, zero, region, src_row,
                                            src_slice, dst_row, dst_slice,
                                            ends.dst_host + box.dst_offset, 0, nullptr, nullptr);
    }
    return cl().clEnqueueCopyBufferRect(queue, ends.src_mem, ends.dst_mem, from, to, region,
                                        src_row, src_slice, dst_row, dst_slice, 0, nullptr,
                                        nullptr);
}

bool is_linear(const CopyBox &box) {
    return box.rows == 1 && box.slices == 1;
}

cl_int enqueue(const Ends &ends, const CopyBox &box) {
    return is_linear(box) ? enqueue_linear(ends, box) : enqueue_rect(ends, box);
}

/** The rows or slices of a box from one on, so many of them. */
CopyBox part_of(const CopyBox &box, int64_t first_slice, int64_t slices, int64_t first_row,
                int64_t rows) {
    CopyBox part = box;
    part.src_offset += first_slice * box.src_slice + first_row * box.src_pitch;
    part.dst_offset += first_slice * box.dst_slice + first_row * box.dst_pitch;
    part.slices = slices;
    part.rows = rows;
    if (slices == 1) {
        part.src_slice = part.src_pitch * rows;
        part.dst_slice = part.dst_pitch * rows;
    }
    return part;
}

/** NVIDIA's driver refuses boxes with less memory than a whole pitch behind the begin of their last
 * row: all other slices, all other rows, then that row. */
cl_int enqueue_last_row_apart(const Ends &ends, const CopyBox &box) {
    const int64_t z = box.slices - 1, y = box.rows - 1;
    cl_int error = CL_SUCCESS;
    if (z > 0) {
        error = enqueue(ends, part_of(box, 0, z, 0, box.rows));
    }
    if (error == CL_SUCCESS && y > 0) {
        error = enqueue(ends, part_of(box, z, 1, 0, y));
    }
    return error == CL_SUCCESS ? enqueue(ends, part_of(box, z, 1, y, 1)) : error;
}

cl_int enqueue_row_by_row(const Ends &ends, const CopyBox &box) {
    cl_int error = CL_SUCCESS;
    for (int64_t z = 0; z < box.slices && error == CL_SUCCESS; z++) {
        for (int64_t y = 0; y < box.rows && error == CL_SUCCESS; y++) {
            error = enqueue_linear(ends, part_of(box, z, 1, y, 1));
        }
    }
    return error;
}

int copy_box(const Ends &ends, const CopyBox &box) {
    const bool linear = is_linear(box);
    cl_int error = enqueue(ends, box);
    if (error == CL_INVALID_VALUE && !linear) {
        error = enqueue_last_row_apart(ends, box);
        error = error == CL_INVALID_VALUE ? enqueue_row_by_row(ends, box) : error;
    }
    if (error != CL_SUCCESS) {
        set_failure(describe_error(error, linear
                                              ? "copying to, from or between OpenCL buffers"
                                              : "copying boxes to, from or between OpenCL buffers")
                    << " for " << box.width * box.rows * box.slices << " bytes on "
                    << record_of(ends.scope).tools);
        return calotype_error_code_device_buffer_copy_failed;
    }
    return 0;
}

/** Memory on the host must not be touched after the copy has returned, whether it failed or not,
 * unless the caller has said that it does wait. */
int finish(const DeviceScope &scope, int code, bool waits) {
    if (!waits && code == 0) {
        return code;
    }
    const cl_int error = cl().clFinish(queue_of(scope));
    if (code == 0 && error != CL_SUCCESS) {
        set_failure(describe_error(error, "clFinish") << " on " << record_of(scope).tools);
        return calotype_error_code_device_buffer_copy_failed;
    }
    return code;
}

bool has_no_elements(const calotype_buffer_t &buf) {
    for (int d = 0; d < buf.dimensions; d++) {
        if (buf.dim[d].extent <= 0) {
            return true;
        }
    }
    return false;
}

bool has_end(const DeviceScope &scope, const calotype_buffer_t &buf, bool on_device) {
    if (on_device) {
        return check_context(scope, *memory_of(&buf)) == CALOTYPE_OK;
    }
    const bool is_there = buf.host || has_no_elements(buf);
    if (!is_there) {
        set_failure("the buffer has no host memory");
    }
    return is_there;
}

/** Where one end of a copy is worked with, if status() is CALOTYPE_OK: as the call says, or where
 * its memory is, after all kernels there. The driver may be given that context, which lasts as long
 * as the memory. */
class Place : NotCopied {
    DeviceScope scope;
    cl_command_queue own_queue = nullptr;
    calotype_status state = CALOTYPE_OK;

    void go_to(const DeviceMemory &memory) {
        ContextRecord *record = find_record(memory.context, memory.device);
        if (record) {
            state = finish_queues(*record);
            scope.extra = record;
        }
        cl_int error = CL_SUCCESS;
        own_queue = cl().clCreateCommandQueue(memory.context, memory.device, 0, &error);
        if (error != CL_SUCCESS) {
            state = explain(error, "clCreateCommandQueue");
        }
        scope.context = memory.context;
        scope.stream = own_queue;
    }

public:
    Place(const DeviceScope &call, const calotype_buffer_t &buf, bool on_device) : scope(call) {
        if (on_device && memory_of(&buf)->context != call.context) {
            go_to(*memory_of(&buf));
        }
    }
    ~Place() {
        if (own_queue) {
            cl().clFinish(own_queue);
            cl().clReleaseCommandQueue(own_queue);
        }
    }

    calotype_status status() const {
        return state;
    }
    const DeviceScope &get() const {
        return scope;
    }
    bool is_elsewhere() const {
        return own_queue;
    }
};

int copy_by_host(const DeviceScope &from, const calotype_buffer_t &src, const DeviceScope &to,
                 const calotype_buffer_t &dst) {
    calotype_buffer_t between = src;
    between.host = nullptr;
    int code = allocate_host_copy(to.user_context, &between);
    code = code ? code : copy_elements(from, src, true, between, false);
    code = code ? code : copy_elements(to, between, false, dst, true);
    free_host_copy(to.user_context, &between);
    return code;
}

int copy_between(void *user_context, const calotype_buffer_t *src, bool from_device,
                 const calotype_buffer_t *dst, bool to_device, bool waits = true) {
    Scope scope(user_context);
    if (!scope.is_open()) {
        return calotype_error_code_device_buffer_copy_failed;
    }
    const Place from(scope.get(), *src, from_device), to(scope.get(), *dst, to_device);
    if (from.status() || to.status()) {
        return calotype_error_code_device_buffer_copy_failed;
    }
    if (from_device && to_device && from.get().context != to.get().context) {
        return copy_by_host(from.get(), *src, to.get(), *dst);
    }
    const Place &place = from_device ? from : to;
    return copy_elements(place.get(), *src, from_device, *dst, to_device,
                         waits || place.is_elsewhere());
}

bool names_queue(const void *user_context) {
    const calotype_device_context *given = calotype_get_device_context(user_context);
    return given && given->stream;
}

bool is_ours(const calotype_device_interface_t *interface) {
    return interface == calotype_opencl_device_interface() ||
           interface == calotype_opencl_image_device_interface();
}

}  // namespace

int copy_elements(const DeviceScope &scope, const calotype_buffer_t &src, bool from_device,
                  const calotype_buffer_t &dst, bool to_device, bool waits) {
    if (!has_end(scope, src, from_device) || !has_end(scope, dst, to_device)) {
        return calotype_error_code_device_buffer_copy_failed;
    }
    // A thread that waits for the work of the context waits for the queues that are noted, which
    // are kept as long as modules are loaded.
    const bool is_between = from_device && to_device;
    if (is_between && note_queue(record_of(scope), queue_of(scope)) != CALOTYPE_OK) {
        return calotype_error_code_device_buffer_copy_failed;
    }
    waits = is_between ? record_of(scope).modules.load(std::memory_order_relaxed) == 0 : waits;
    const DeviceMemory none = {};
    const DeviceMemory &from = from_device ? *memory_of(&src) : none;
    const DeviceMemory &to = to_device ? *memory_of(&dst) : none;
    if (from.is_image || to.is_image) {
        const int code = copy_images(scope, src, from_device, dst, to_device);
        return is_between ? finish(scope, code, waits) : code;
    }
    CopyPlan plan;
    if (!plan_copy(src, dst, &plan)) {
        set_failure(Text() << "copies of " << src.dimensions << " dimensions, at most "
                           << CopyPlan::max_dimensions << " are supported");
        return calotype_error_code_device_buffer_copy_failed;
    }
    const Ends ends = {scope, from.mem, to.mem, from.offset, to.offset, src.host, dst.host};
    const auto copy = [&](const CopyBox &box) {
        return copy_box(ends, box);
    };
    return finish(scope, for_each_box(plan, INT64_MAX, copy), waits);
}

int copy(void *user_context, calotype_buffer_t *buf, bool to_device, bool waits) {
    return copy_between(user_context, buf, !to_device, buf, to_device,
                        waits || !names_queue(user_context));
}

int buffer_copy(void *user_context, calotype_buffer_t *src,
                const calotype_device_interface_t *dst_device_interface, calotype_buffer_t *dst) {
    const bool from_device = src->device && (src->device_dirty() || !src->host);
    const bool to_device = dst_device_interface != nullptr;
    const bool others = (from_device && !is_ours(src->device_interface)) ||
                        (to_device && !is_ours(dst_device_interface));
    if (others || (!from_device && !to_device)) {
        return calotype_error_code_incompatible_device_interface;
    }
    return copy_between(user_context, src, from_device, dst, to_device);
}

}  // namespace calotype::runtime::opencl
