// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices and contexts as the runtime knows them: which context a call works in, and its
// identity.
#pragma once

#include <atomic>

#include "runtime/abi/device_interface.h"
#include "runtime/cuda/driver.h"
#include "runtime/device/kernel_backend.h"
#include "runtime/host/not_copied.h"
#include "runtime/host/sync.h"

namespace calotype::runtime::cuda {

/** What a device can do. Filled once and never given back. */
struct DeviceInfo {
    CUdevice device;
    int sm;  ///< 90 for compute capability 9.0
    int multiprocessors;
    int max_shared, max_shared_opt_in;  ///< bytes a block; the latter only where asked for
    int max_threads, max_block[3], max_grid[3];
    int max_registers;
    int max_pitch;
    bool has_pools;
    uint64_t memory;
    char name[128];
};

constexpr int max_devices = 64;

/** A context that calls have named (context_table.h). */
struct ContextInfo {
    std::atomic<uint64_t> uid{0};  ///< its identity; 0: it has ended
    std::atomic<CUcontext> handle{nullptr};
    std::atomic<uint64_t> number{0};     ///< the driver's, 0 if it gives none
    std::atomic<bool> is_ending{false};  ///< what the runtime has in it is being given back
    const DeviceInfo *device = nullptr;
    std::atomic<bool> has_streams{false};  ///< calls have named some
    /// A call was captured, and none has asked for memory outside of a capture since: one may go on
    /// that the driver does not tell of, and what waits for all work would break it.
    std::atomic<bool> may_be_captured{false};
    std::atomic<int> pieces{0};  ///< of memory that were allocated here
    FutexWord users{0};  ///< threads that use what follows, or the context though nobody named it
    /** For frees and copies that name no stream (memory/stream_order.cpp), made when they are first
     * needed. */
    std::atomic<CUstream> ordered_stream{nullptr};
    std::atomic<CUevent> ordering_event{nullptr};
    ContextInfo *next = nullptr;
};

/** Number `ordinal`, or null with the failure kept. */
const DeviceInfo *device_info(int ordinal);
/** The number of the device that the settings say, or -1 with the failure kept. Needs a driver. */
int chosen_device(void *user_context);
/** A device of that number, or the one that seems fastest for a negative one. */
int device_of_number(int wanted);
/** The one that seems fastest, once that is known; negative before. */
extern std::atomic<int> largest_device;

/** KernelBackend's functions of these names. */
calotype_status acquire(void *user_context, DeviceScope *scope);
/** Whether the call is for that context, as far as that is known without asking the driver; and the
 * stream of the call. */
bool is_asked_for(void *user_context, const DeviceScope &held, CUstream *stream);
calotype_status acquire_held(void *user_context, const DeviceScope &held, DeviceScope *scope);
void release(const DeviceScope &scope);
calotype_status enter(const DeviceScope &scope);
void leave(const DeviceScope &scope);
bool has_context(void *user_context);
bool is_alive(uint64_t context_uid);
bool is_own_context(uint64_t context_uid);

ContextInfo &context_info(const DeviceScope &scope);
/** Whether it is a primary context that the runtime has retained. */
bool is_own(const ContextInfo &info);
/** The handle of every thread's own default stream. */
inline CUstream per_thread_stream() {
    return reinterpret_cast<CUstream>(uintptr_t(2));
}
/** The default streams, 0 to 2, are those of the current context. */
inline bool names_its_context(CUstream stream) {
    return reinterpret_cast<uintptr_t>(stream) > 2;
}
/** Work of the call goes to the stream, which what others free is to wait for. */
inline void note_stream(ContextInfo &context, CUstream stream) {
    if (names_its_context(stream) && !context.has_streams.load(std::memory_order_relaxed)) {
        context.has_streams.store(true, std::memory_order_relaxed);
    }
}

/** The scope of a call if its context is there already; false if not, without a failure. Nothing is
 * made and nothing retained; end it with release(). */
bool acquire_existing(void *user_context, DeviceScope *scope);
/** Whether there is one context alone, and the call works in it. May say no though it is so; asks
 * no driver. */
bool is_in_only_context(void *user_context);

/** The primary context of the device. Resetting the device destroys it, so it is retained anew
 * if it does not answer. Null if it was not retained yet and `create` is false, or on failure. */
CUcontext primary_context(int ordinal, bool create);
/** Give up the context if it is the device's primary one that was retained; the driver then
 * destroys it unless others use it. */
void release_if_primary(const DeviceInfo &device, void *context);
/** Forget everything about devices and contexts: the driver has been replaced. */
void forget_devices();
/** The part of that in devices.cpp. */
void forget_device_infos();

inline int chosen_device(void *user_context) {
    const int wanted = calotype_get_gpu_device(user_context);
    const int largest = largest_device.load(std::memory_order_relaxed);
    return wanted < 0 && largest >= 0 ? largest : device_of_number(wanted);
}

/** acquire(), and the context does not end before end_use(). One that another thread has released
 * meanwhile has another identity when it is named once more. */
calotype_status acquire_and_use(void *user_context, DeviceScope *scope);

/** A call works in its context, which does not end, while this lives, if status() is CALOTYPE_OK.
 */
class Call : NotCopied {
public:
    explicit Call(void *user_context);
    ~Call();

    calotype_status status() const {
        return state;
    }
    const DeviceScope &scope() const {
        return current;
    }
    ContextInfo &context() const {
        return context_info(current);
    }
    CUstream stream() const {
        return static_cast<CUstream>(current.stream);
    }

private:
    DeviceScope current = {};
    calotype_status state;
    bool acquired = false;
};

}  // namespace calotype::runtime::cuda
