// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/host_allocation.h"

#include "runtime/abi/errors.h"
#include "runtime/abi/memory.h"
#include "runtime/device/failure.h"
#include "runtime/host/text.h"

namespace calotype::runtime {

static bool has_elements(const calotype_buffer_t &buf) {
    for (int d = 0; d < buf.dimensions; d++) {
        if (buf.dim[d].extent <= 0) {
            return false;
        }
    }
    return true;
}

size_t bytes_to_allocate(const calotype_buffer_t &buf) {
    const size_t bytes = has_elements(buf) ? buf.size_in_bytes() : 0;
    return bytes ? bytes : 1;
}

int64_t bytes_before_origin(const calotype_buffer_t &buf) {
    return has_elements(buf) ? -buf.begin_offset() * buf.type.bytes() : 0;
}

int64_t bytes_to_part(const calotype_buffer_t &whole, const calotype_buffer_t &part, int slice_dim,
                      int slice_pos) {
    int64_t elements = 0;
    for (int d = 0, of_part = 0; d < whole.dimensions; d++) {
        const int32_t begin = d == slice_dim ? slice_pos : part.dim[of_part++].min;
        elements += (int64_t(begin) - whole.dim[d].min) * whole.dim[d].stride;
    }
    return elements * whole.type.bytes();
}

int allocate_host_copy(void *user_context, calotype_buffer_t *buf) {
    if (buf->host) {
        return 0;
    }
    const size_t bytes = bytes_to_allocate(*buf);
    void *memory = calotype_malloc(user_context, bytes);
    if (!memory) {
        return fail_with(calotype_error_code_out_of_memory,
                         Text() << "out of host memory for " << uint64_t(bytes) << " bytes");
    }
    buf->host = static_cast<uint8_t *>(memory) + bytes_before_origin(*buf);
    return 0;
}

void free_host_copy(void *user_context, calotype_buffer_t *buf) {
    if (buf->host) {
        calotype_free(user_context, buf->host - bytes_before_origin(*buf));
        buf->host = nullptr;
    }
}

}  // namespace calotype::runtime
