// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/opencl/memory.h"

#include <stdlib.h>

#include "runtime/abi/device_interface.h"
#include "runtime/abi/errors.h"
#include "runtime/device/host_allocation.h"
#include "runtime/host/data/atomic_flag.h"
#include "runtime/host/data/list.h"
#include "runtime/host/fork_mutex.h"
#include "runtime/opencl/context.h"
#include "runtime/opencl/driver.h"
#include "runtime/opencl/errors.h"

namespace calotype::runtime::opencl {

namespace {

/** A memory object that was freed while allocations are reused. Work on it may still be queued, so
 * only the same queue gets it again. */
struct Kept {
    cl_mem mem;
    uint64_t size;
    uint64_t context_uid;
    void *queue;
    Kept *next;
};
constinit ForkMutex kept_lock;
Kept *first_kept = nullptr;

calotype_device_allocation_pool pool = {};
constinit AtomicFlag pool_is_registered{false};

int release_pool(void *user_context) {
    return release_kept_memory();
}

/** Keep it for later; false if it should be freed. */
bool keep(const DeviceScope &scope, const DeviceMemory &memory) {
    auto *kept = static_cast<Kept *>(malloc(sizeof(Kept)));
    if (!kept) {
        return false;
    }
    if (!pool_is_registered.exchange(true)) {
        pool.release_unused = release_pool;
        calotype_register_device_allocation_pool(&pool);
    }
    *kept = {memory.mem, memory.size, scope.context_uid, scope.stream, nullptr};
    LockGuard lock(kept_lock);
    push(first_kept, kept);
    return true;
}

cl_mem take_kept(const DeviceScope &scope, uint64_t size) {
    LockGuard lock(kept_lock);
    Kept *kept = take_first(first_kept, [&](const Kept &k) {
        return k.size == size && k.context_uid == scope.context_uid && k.queue == scope.stream;
    });
    const cl_mem mem = kept ? kept->mem : nullptr;
    free(kept);
    return mem;
}

/** Out of the list, of a context or of all with 0. The driver is called without the lock. */
Kept *unlink_kept(uint64_t context_uid) {
    LockGuard lock(kept_lock);
    return take_all(first_kept, [=](const Kept &k) {
        return context_uid == 0 || k.context_uid == context_uid;
    });
}

cl_mem create_buffer(const DeviceScope &scope, uint64_t size, cl_int *error) {
    return create_with_room(error, [&] {
        return cl().clCreateBuffer(context_of(scope), CL_MEM_READ_WRITE, size, nullptr, error);
    });
}

int allocate(const DeviceScope &scope, uint64_t size, cl_mem *mem) {
    *mem = take_kept(scope, size);
    if (*mem) {
        return 0;
    }
    const uint64_t limit = record_of(scope).max_allocation;
    if (limit != 0 && size > limit) {
        set_failure(Text() << "the buffer has " << size << " bytes, the device allocates up to "
                           << limit << " at once");
        return calotype_error_code_device_malloc_failed;
    }
    cl_int error = CL_SUCCESS;
    *mem = create_buffer(scope, size, &error);
    if (*mem) {
        return 0;
    }
    set_failure(describe_error(error, "clCreateBuffer")
                << " for " << size << " bytes on " << record_of(scope).tools);
    return calotype_error_code_device_malloc_failed;
}

}  // namespace

uint64_t make_handle(const DeviceMemory &memory) {
    auto *handle = static_cast<DeviceMemory *>(malloc(sizeof(DeviceMemory)));
    if (!handle) {
        return fail_with(0, Text() << "out of host memory for the handle of a buffer of "
                                   << memory.size << " bytes");
    }
    *handle = memory;
    return uint64_t(reinterpret_cast<uintptr_t>(handle));
}

DeviceMemory describe_memory(const DeviceScope &scope, cl_mem mem, const calotype_buffer_t &buf) {
    DeviceMemory memory = {};
    memory.mem = mem;
    memory.offset = uint64_t(bytes_before_origin(buf));
    memory.size = bytes_to_allocate(buf);
    memory.context = context_of(scope);
    memory.device = record_of(scope).device;
    memory.is_owned = true;
    return memory;
}

int give_memory(const DeviceMemory &memory, calotype_buffer_t *buf) {
    buf->device = make_handle(memory);
    if (!buf->device) {
        cl().clReleaseMemObject(memory.mem);
        return calotype_error_code_device_malloc_failed;
    }
    return 0;
}

static cl_int free_all(Kept *kept, bool has_driver) {
    cl_int result = CL_SUCCESS;
    while (Kept *one = pop(kept)) {
        const cl_int error = has_driver ? cl().clReleaseMemObject(one->mem) : CL_SUCCESS;
        result = result == CL_SUCCESS ? error : result;
        free(one);
    }
    return result;
}

int release_kept_memory() {
    const cl_int result = free_all(unlink_kept(0), true);
    if (result != CL_SUCCESS) {
        explain(result, "clReleaseMemObject");
        return calotype_error_code_device_free_failed;
    }
    return 0;
}

void free_kept_memory(uint64_t context_uid, bool has_driver) {
    free_all(unlink_kept(context_uid), has_driver);
}

calotype_status check_context(const DeviceScope &scope, const DeviceMemory &memory) {
    if (memory.context == scope.context) {
        return CALOTYPE_OK;
    }
    return fail_with(CALOTYPE_E_INVALID,
                     "the buffer is in another OpenCL context than that of the call");
}

int locate(void *user_context, const calotype_buffer_t *buf, bool *is_here) {
    const DeviceMemory &memory = *memory_of(buf);
    Scope scope(user_context);
    if (!scope.is_open()) {
        return calotype_error_code_gpu_device_error;
    }
    *is_here = memory.context == scope.get().context;
    if (*is_here || memory.is_owned) {
        return 0;
    }
    return fail_with(calotype_error_code_gpu_device_error,
                     "the buffer is in another OpenCL context than that of the call; "
                     "it is a part of a "
                     "buffer or the application's, so it is not moved");
}

int device_malloc(void *user_context, calotype_buffer_t *buf) {
    Scope scope(user_context);
    if (!scope.is_open()) {
        return calotype_error_code_device_malloc_failed;
    }
    cl_mem mem = nullptr;
    const int code = allocate(scope.get(), bytes_to_allocate(*buf), &mem);
    return code ? code : give_memory(describe_memory(scope.get(), mem, *buf), buf);
}

int device_free(void *user_context, calotype_buffer_t *buf) {
    const DeviceMemory memory = *memory_of(buf);
    release_handle(user_context, buf);
    if (!memory.is_owned) {
        return 0;
    }
    if (!memory.is_image && calotype_can_reuse_device_allocations(user_context)) {
        Scope scope(user_context);
        if (scope.is_open() && scope.get().context == memory.context && keep(scope.get(), memory)) {
            return 0;
        }
    }
    // The driver waits with it until what is queued has run.
    const cl_int error = cl().clReleaseMemObject(memory.mem);
    if (error != CL_SUCCESS) {
        explain(error, "clReleaseMemObject");
        return calotype_error_code_device_free_failed;
    }
    return 0;
}

int make_part(void *user_context, const calotype_buffer_t *src, int slice_dim, int slice_pos,
              calotype_buffer_t *dst) {
    DeviceMemory part = *memory_of(src);
    part.offset += uint64_t(bytes_to_part(*src, *dst, slice_dim, slice_pos));
    part.is_owned = false;
    dst->device = make_handle(part);
    return dst->device ? 0 : calotype_error_code_device_crop_failed;
}

int wrap_native(void *user_context, calotype_buffer_t *buf, uint64_t handle) {
    Scope scope(user_context);
    if (!scope.is_open()) {
        return calotype_error_code_device_wrap_native_failed;
    }
    auto *mem = reinterpret_cast<cl_mem>(uintptr_t(handle));
    size_t size = 0;
    const cl_int error =
        mem ? cl().clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof size, &size, nullptr)
            : CL_INVALID_MEM_OBJECT;
    if (error != CL_SUCCESS) {
        explain(error, "clGetMemObjectInfo");
        return calotype_error_code_device_wrap_native_failed;
    }
    cl_uint kind = 0;
    cl().clGetMemObjectInfo(mem, CL_MEM_TYPE, sizeof kind, &kind, nullptr);
    if (kind != CL_MEM_OBJECT_BUFFER) {
        set_failure("the memory object is an image: wrap it by the interface of images");
        return calotype_error_code_device_wrap_native_failed;
    }
    if (size < bytes_to_allocate(*buf)) {
        set_failure(Text() << "the memory object has " << uint64_t(size) << " bytes, the buffer "
                           << bytes_to_allocate(*buf));
        return calotype_error_code_device_wrap_native_failed;
    }
    DeviceMemory memory = describe_memory(scope.get(), mem, *buf);
    memory.size = size;
    memory.is_owned = false;
    buf->device = make_handle(memory);
    return buf->device ? 0 : calotype_error_code_device_wrap_native_failed;
}

int release_handle(void *user_context, calotype_buffer_t *buf) {
    free(reinterpret_cast<void *>(uintptr_t(buf->device)));
    buf->device = 0;
    return 0;
}

}  // namespace calotype::runtime::opencl
