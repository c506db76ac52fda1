// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device copies of buffers: memory objects, parts of them, and what has been freed and is kept.
#pragma once

#include "runtime/abi/buffer.h"
#include "runtime/device/kernel_backend.h"
#include "runtime/opencl/errors.h"

namespace calotype::runtime::opencl {

/** What calotype_buffer_t::device points at. Each crop has one of its own, of the same memory. */
struct DeviceMemory {
    cl_mem mem;
    uint64_t offset;     ///< in bytes, of the element at the mins; not of images
    uint64_t size;       ///< of the whole memory object
    cl_context context;  ///< where it is, which lasts as long as it does
    cl_device_id device;
    bool is_owned;  ///< not wrapped, not a crop
    bool is_image;
    uint32_t origin[3];  ///< of images: the element at the mins
};

inline const DeviceMemory *memory_of(const calotype_buffer_t *buf) {
    return reinterpret_cast<const DeviceMemory *>(uintptr_t(buf->device));
}

/** For calotype_buffer_t::device; 0 with the cause set if there is no memory. */
uint64_t make_handle(const DeviceMemory &memory);
/** What the runtime has just allocated for a buffer. */
DeviceMemory describe_memory(const DeviceScope &scope, cl_mem mem, const calotype_buffer_t &buf);
/** Make it the buffer's, or release it; an error code. */
int give_memory(const DeviceMemory &memory, calotype_buffer_t *buf);

/** OK, or CALOTYPE_E_INVALID with the cause set if the memory belongs to another context. */
calotype_status check_context(const DeviceScope &scope, const DeviceMemory &memory);

/** @name Members of calotype_device_interface_impl_t */
/**@{*/
int locate(void *user_context, const calotype_buffer_t *buf, bool *is_here);
int device_malloc(void *user_context, calotype_buffer_t *buf);
int device_free(void *user_context, calotype_buffer_t *buf);
int make_part(void *user_context, const calotype_buffer_t *src, int slice_dim, int slice_pos,
              calotype_buffer_t *dst);
int wrap_native(void *user_context, calotype_buffer_t *buf, uint64_t handle);
int release_handle(void *user_context, calotype_buffer_t *buf);
/**@}*/

/** Free what is kept in all contexts. */
int release_kept_memory();
/** As KernelBackend has it. */
void free_kept_memory(uint64_t context_uid, bool has_driver);
/** What create() makes. Where there is no memory for it, what any context keeps for later is freed
 * first: contexts share their devices. Null on failure. */
template<typename Create>
cl_mem create_with_room(cl_int *error, Create create) {
    cl_mem mem = create();
    if (status_of(*error) == CALOTYPE_E_OOM && release_kept_memory() == 0) {
        mem = create();
    }
    return *error == CL_SUCCESS ? mem : nullptr;
}

}  // namespace calotype::runtime::opencl
