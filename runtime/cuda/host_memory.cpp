// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/host_memory.h"

#include <new>
#include <stdlib.h>

#include "runtime/abi/errors.h"
#include "runtime/abi/memory.h"
#include "runtime/cuda/captures.h"
#include "runtime/cuda/context_table.h"
#include "runtime/device/failure.h"
#include "runtime/device/host_allocation.h"
#include "runtime/host/log.h"

namespace calotype {
namespace runtime {
namespace cuda {

namespace {

constexpr uintptr_t page = 4096;

/** Memory that was allocated here: whole pages from `start` on. */
struct LockedMemory {
    uint8_t *start;
    void *allocation;    ///< which has them
    ContextInfo *owner;  ///< in which they are locked; null: they are not
    bool is_unlocking;   ///< by a thread that will look at is_freed
    bool is_freed;       ///< and goes as soon as it is not locked any more
    LockedMemory *next;
};
constinit Mutex list_lock;
LockedMemory *first = nullptr;  // with the lock held

template<typename Choice>
LockedMemory *find(Choice is_wanted) {
    LockedMemory *memory = first;
    while (memory && !is_wanted(*memory)) {
        memory = memory->next;
    }
    return memory;
}

void unlink(const LockedMemory *memory) {
    LockedMemory **link = &first;
    while (*link != memory) {
        link = &(*link)->next;
    }
    *link = memory->next;
}

void lock_pages(const Call &call, LockedMemory *memory, size_t bytes) {
    const AllowedInCaptures allowed;
    const CUresult code =
        driver().cuMemHostRegister(memory->start, bytes, CU_MEMHOSTREGISTER_PORTABLE);
    if (code == CUDA_SUCCESS) {
        memory->owner = &call.context();
    } else if (is_logged(LogTopic::memory)) {
        Text line;
        log_line(LogTopic::memory, line << uint64_t(bytes)
                                        << " bytes of host memory are not page-locked: CUDA error ("
                                        << int(code) << ')');
    }
}

/** With the lock held, but for the call of the driver. False: the owner is ending, and does it
 * itself. */
bool unlock_pages(LockedMemory *memory) {
    memory->is_unlocking = true;
    bool is_done = false;
    {
        const Unlocked unlocked(list_lock);
        const ContextUse use(*memory->owner);
        if (use.is_entered) {
            const AllowedInCaptures allowed;
            driver().cuMemHostUnregister(memory->start);
            is_done = true;
        }
    }
    memory->is_unlocking = false;
    memory->owner = is_done ? nullptr : memory->owner;
    return is_done;
}

/** Free what can go. A context of the application's is given to the driver only by a call that
 * names it. */
void collect(void *user_context, const ContextInfo *named) {
    LockGuard guard(list_lock);
    const auto can_go = [=](const LockedMemory &memory) {
        return memory.is_freed && !memory.is_unlocking &&
               (!memory.owner || memory.owner == named || is_own(*memory.owner));
    };
    while (LockedMemory *memory = find(can_go)) {
        if (memory->owner && !unlock_pages(memory)) {
            return;
        }
        unlink(memory);
        const Unlocked unlocked(list_lock);
        calotype_free(user_context, memory->allocation);
        free(memory);
    }
}

LockedMemory *new_memory(void *user_context, size_t bytes) {
    auto *memory = static_cast<LockedMemory *>(malloc(sizeof(LockedMemory)));
    void *allocation = memory ? calotype_malloc(user_context, bytes + page) : nullptr;
    if (!allocation) {
        free(memory);
        Text text;
        text << "out of host memory for " << uint64_t(bytes) << " bytes";
        set_failure(text.c_str());
        return nullptr;
    }
    const uintptr_t start = (reinterpret_cast<uintptr_t>(allocation) + page - 1) / page * page;
    return new (memory) LockedMemory{
        reinterpret_cast<uint8_t *>(start), allocation, nullptr, false, false, nullptr};
}

}  // namespace

int allocate_locked(const Call &call, calotype_buffer_t *buf) {
    void *user_context = call.scope().user_context;
    const size_t bytes = (bytes_to_allocate(*buf) + page - 1) / page * page;
    collect(user_context, &call.context());
    LockedMemory *memory = new_memory(user_context, bytes);
    if (!memory) {
        return calotype_error_code_out_of_memory;
    }
    lock_pages(call, memory, bytes);
    buf->host = memory->start + bytes_before_origin(*buf);
    LockGuard guard(list_lock);
    memory->next = first;
    first = memory;
    return 0;
}

void free_locked(void *user_context, calotype_buffer_t *buf) {
    const uint8_t *start = buf->host ? buf->host - bytes_before_origin(*buf) : nullptr;
    buf->host = nullptr;
    {
        LockGuard guard(list_lock);
        LockedMemory *memory =
            find([=](const LockedMemory &m) { return m.start == start && !m.is_freed; });
        if (!memory) {
            return;
        }
        memory->is_freed = true;
    }
    DeviceScope scope = {};
    const bool is_named = acquire_existing(user_context, &scope);
    collect(user_context, static_cast<const ContextInfo *>(scope.extra));
    if (is_named) {
        release(scope);
    }
    clear_failure();
}

static void unlock_each_in(const ContextInfo &info, bool has_driver) {
    LockGuard guard(list_lock);
    while (LockedMemory *memory = find([&](const LockedMemory &m) { return m.owner == &info; })) {
        const bool is_ours = !memory->is_unlocking;
        memory->is_unlocking = true;
        {
            const Unlocked unlocked(list_lock);
            if (is_ours && has_driver) {
                driver().cuMemHostUnregister(memory->start);
            }
            relax();
        }
        if (is_ours) {
            memory->is_unlocking = false;
            memory->owner = nullptr;
        }
    }
}

void unlock_all_in(const ContextInfo &info, bool has_driver) {
    unlock_each_in(info, has_driver);
    collect(nullptr, nullptr);
}

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
