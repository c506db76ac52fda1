// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory objects and copies.
#include <cstring>

#include "harness/fake_opencl/functions.h"

using namespace calotype_test;

FAKE_CL cl_mem clCreateBuffer(cl_context handle, cl_bitfield, size_t size, void *, cl_int *error) {
    FAKE_ENTER_OBJECT(clCreateBuffer, error);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    auto *context = find<FakeContext>(handle, Kind::context);
    if (!context) {
        return no_object<cl_mem>(error, CL_INVALID_CONTEXT);
    }
    if (size == 0) {
        return no_object<cl_mem>(error, CL_INVALID_BUFFER_SIZE);
    }
    return handle_of<cl_mem>(add_memory(context, size, error));
}

FAKE_CL cl_int clReleaseMemObject(cl_mem mem) {
    FAKE_ENTER(clReleaseMemObject);
    return release(mem, Kind::mem, CL_INVALID_MEM_OBJECT);
}

FAKE_CL cl_int clGetMemObjectInfo(cl_mem handle, cl_uint what, size_t room, void *out,
                                  size_t *needed) {
    FAKE_ENTER(clGetMemObjectInfo);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    const auto *mem = find<FakeMem>(handle, Kind::mem);
    if (!mem) {
        return CL_INVALID_MEM_OBJECT;
    }
    const size_t size = mem->bytes.size();
    switch (what) {
    case CL_MEM_SIZE:
        return answer(&size, sizeof size, room, out, needed);
    case CL_MEM_TYPE:
        return answer(&mem->type, sizeof mem->type, room, out, needed);
    default:
        return CL_INVALID_VALUE;
    }
}

namespace {

/** One end of a copy: the first byte, and how many there are. */
struct End {
    uint8_t *bytes;
    size_t size;
    const size_t *origin;
    size_t row, slice;
};

bool find_end(cl_mem handle, End *end) {
    auto *mem = find<FakeMem>(handle, Kind::mem);
    if (mem && mem->type != CL_MEM_OBJECT_BUFFER) {
        fake_state().misuses++;
        return false;
    }
    if (mem) {
        end->bytes = mem->bytes.data();
        end->size = mem->bytes.size();
    }
    return mem != nullptr;
}

End host_end(const void *pointer, const size_t *origin, size_t row, size_t slice) {
    return {static_cast<uint8_t *>(const_cast<void *>(pointer)), SIZE_MAX, origin, row, slice};
}

/** Pitches as the standard wants them; its own words for 0 are not used here. */
bool are_pitches_valid(const End &end, const size_t *region) {
    return end.row >= region[0] && end.slice >= region[1] * end.row && end.slice % end.row == 0;
}

cl_int copy_rect(const End &from, const End &to, const size_t *region) {
    if (!are_pitches_valid(from, region) || !are_pitches_valid(to, region)) {
        fake_state().misuses++;
        return CL_INVALID_VALUE;
    }
    for (size_t z = 0; z < region[2]; z++) {
        for (size_t y = 0; y < region[1]; y++) {
            const size_t f = (from.origin[2] + z) * from.slice + (from.origin[1] + y) * from.row +
                             from.origin[0];
            const size_t t =
                (to.origin[2] + z) * to.slice + (to.origin[1] + y) * to.row + to.origin[0];
            if (f + region[0] > from.size || t + region[0] > to.size) {
                fake_state().misuses++;
                return CL_INVALID_VALUE;
            }
            memmove(to.bytes + t, from.bytes + f, region[0]);
        }
    }
    return CL_SUCCESS;
}

cl_int copy_linear(End from, size_t from_offset, End to, size_t to_offset, size_t size) {
    const size_t from_origin[3] = {from_offset, 0, 0}, to_origin[3] = {to_offset, 0, 0};
    const size_t region[3] = {size, 1, 1};
    from.origin = from_origin;
    to.origin = to_origin;
    from.row = from.slice = to.row = to.slice = size;
    return copy_rect(from, to, region);
}

}  // namespace

FAKE_CL cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem mem, cl_bool, size_t offset,
                                   size_t size, void *pointer, cl_uint, const cl_event *,
                                   cl_event *) {
    FAKE_ENTER(clEnqueueReadBuffer);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    End from = {};
    if (!is_queue(queue) || !find_end(mem, &from)) {
        return CL_INVALID_MEM_OBJECT;
    }
    return copy_linear(from, offset, host_end(pointer, nullptr, 0, 0), 0, size);
}

FAKE_CL cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem mem, cl_bool, size_t offset,
                                    size_t size, const void *pointer, cl_uint, const cl_event *,
                                    cl_event *) {
    FAKE_ENTER(clEnqueueWriteBuffer);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    End to = {};
    if (!is_queue(queue) || !find_end(mem, &to)) {
        return CL_INVALID_MEM_OBJECT;
    }
    return copy_linear(host_end(pointer, nullptr, 0, 0), 0, to, offset, size);
}

FAKE_CL cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem src, cl_mem dst,
                                   size_t src_offset, size_t dst_offset, size_t size, cl_uint,
                                   const cl_event *, cl_event *) {
    FAKE_ENTER(clEnqueueCopyBuffer);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    End from = {}, to = {};
    if (!is_queue(queue) || !find_end(src, &from) || !find_end(dst, &to)) {
        return CL_INVALID_MEM_OBJECT;
    }
    return copy_linear(from, src_offset, to, dst_offset, size);
}

FAKE_CL cl_int clEnqueueReadBufferRect(cl_command_queue queue, cl_mem mem, cl_bool,
                                       const size_t *mem_origin, const size_t *host_origin,
                                       const size_t *region, size_t mem_row, size_t mem_slice,
                                       size_t host_row, size_t host_slice, void *pointer, cl_uint,
                                       const cl_event *, cl_event *) {
    FAKE_ENTER(clEnqueueReadBufferRect);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    End from = {nullptr, 0, mem_origin, mem_row, mem_slice};
    if (!is_queue(queue) || !find_end(mem, &from)) {
        return CL_INVALID_MEM_OBJECT;
    }
    return copy_rect(from, host_end(pointer, host_origin, host_row, host_slice), region);
}

FAKE_CL cl_int clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem mem, cl_bool,
                                        const size_t *mem_origin, const size_t *host_origin,
                                        const size_t *region, size_t mem_row, size_t mem_slice,
                                        size_t host_row, size_t host_slice, const void *pointer,
                                        cl_uint, const cl_event *, cl_event *) {
    FAKE_ENTER(clEnqueueWriteBufferRect);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    End to = {nullptr, 0, mem_origin, mem_row, mem_slice};
    if (!is_queue(queue) || !find_end(mem, &to)) {
        return CL_INVALID_MEM_OBJECT;
    }
    return copy_rect(host_end(pointer, host_origin, host_row, host_slice), to, region);
}

FAKE_CL cl_int clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem src, cl_mem dst,
                                       const size_t *src_origin, const size_t *dst_origin,
                                       const size_t *region, size_t src_row, size_t src_slice,
                                       size_t dst_row, size_t dst_slice, cl_uint, const cl_event *,
                                       cl_event *) {
    FAKE_ENTER(clEnqueueCopyBufferRect);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    End from = {nullptr, 0, src_origin, src_row, src_slice};
    End to = {nullptr, 0, dst_origin, dst_row, dst_slice};
    if (!is_queue(queue) || !find_end(src, &from) || !find_end(dst, &to)) {
        return CL_INVALID_MEM_OBJECT;
    }
    return copy_rect(from, to, region);
}
