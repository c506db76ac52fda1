// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/buffer_work.h"

#include <new>
#include <stdlib.h>

#include "runtime/abi/errors.h"
#include "runtime/abi/memory.h"
#include "runtime/cuda/captures.h"
#include "runtime/device/failure.h"
#include "runtime/device/host_allocation.h"
#include "runtime/host/data/list.h"
#include "runtime/host/log.h"

namespace calotype::runtime::cuda {

namespace {

constexpr uintptr_t page = 4096;

/** Memory that was allocated here: whole pages from `start` on. */
struct LockedMemory {
    uint8_t *start;
    void *allocation;  ///< which has them
    bool is_locked;
    LockedMemory *next;
};

struct List {
    Mutex lock;
    LockedMemory *first = nullptr;

    void add(LockedMemory *memory) {
        LockGuard guard(lock);
        push(first, memory);
    }
    /** Out of the list: what begins there, or the first with null. */
    LockedMemory *take(const uint8_t *start) {
        LockGuard guard(lock);
        return take_first(first, [=](const LockedMemory &m) { return !start || m.start == start; });
    }
};
/** `stuck`: freed, but the driver does not unlock it, as after a kernel that failed. */
constinit List in_use, stuck;

bool lock_pages(uint8_t *start, size_t bytes) {
    const AllowedInCaptures allowed;
    const CUresult code = driver().cuMemHostRegister(start, bytes, CU_MEMHOSTREGISTER_PORTABLE);
    if (code != CUDA_SUCCESS && is_logged(LogTopic::memory)) {
        Text line;
        log_line(LogTopic::memory, line << uint64_t(bytes)
                                        << " bytes of host memory are not page-locked: CUDA error ("
                                        << int(code) << ')');
    }
    return code == CUDA_SUCCESS;
}

/** Also where the driver or the context has gone, and the lock with it. */
bool unlock_pages(uint8_t *start) {
    if (!find_driver(false)) {
        return true;
    }
    const AllowedInCaptures allowed;
    const CUresult code = driver().cuMemHostUnregister(start);
    return code == CUDA_SUCCESS || code == CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED ||
           code == CUDA_ERROR_DEINITIALIZED;
}

void give_back(void *user_context, LockedMemory *memory) {
    if (memory->is_locked && !unlock_pages(memory->start)) {
        stuck.add(memory);
        return;
    }
    calotype_free(user_context, memory->allocation);
    free(memory);
}

LockedMemory *new_memory(void *user_context, size_t bytes) {
    auto *memory = static_cast<LockedMemory *>(malloc(sizeof(LockedMemory)));
    void *allocation = memory ? calotype_malloc(user_context, bytes + page) : nullptr;
    if (!allocation) {
        free(memory);
        return fail_with(nullptr, Text()
                                      << "out of host memory for " << uint64_t(bytes) << " bytes");
    }
    const uintptr_t start = (reinterpret_cast<uintptr_t>(allocation) + page - 1) / page * page;
    return new (memory)
        LockedMemory{reinterpret_cast<uint8_t *>(start), allocation, false, nullptr};
}

}  // namespace

int allocate_locked(const Call &call, calotype_buffer_t *buf) {
    void *user_context = call.scope().user_context;
    const size_t bytes = (bytes_to_allocate(*buf) + page - 1) / page * page;
    if (LockedMemory *memory = stuck.take(nullptr)) {
        give_back(user_context, memory);
    }
    LockedMemory *memory = new_memory(user_context, bytes);
    if (!memory) {
        return calotype_error_code_out_of_memory;
    }
    memory->is_locked = lock_pages(memory->start, bytes);
    buf->host = memory->start + bytes_before_origin(*buf);
    in_use.add(memory);
    return 0;
}

void free_locked(void *user_context, calotype_buffer_t *buf) {
    LockedMemory *memory = buf->host ? in_use.take(buf->host - bytes_before_origin(*buf)) : nullptr;
    buf->host = nullptr;
    if (memory) {
        give_back(user_context, memory);
    }
}

}  // namespace calotype::runtime::cuda
