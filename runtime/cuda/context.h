// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices and contexts as the runtime knows them: which context a call works in, and who it is.
#pragma once

#include <atomic>

#include "runtime/abi/device_interface.h"
#include "runtime/cuda/driver.h"
#include "runtime/device/kernel_backend.h"
#include "runtime/host/sync.h"

namespace calotype {
namespace runtime {
namespace cuda {

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

/** A context that was met (known_contexts.h). */
struct KnownContext {
    std::atomic<uint64_t> uid{0};  ///< 0: that of none at present
    std::atomic<CUcontext> context{nullptr};
    const DeviceInfo *device = nullptr;
    Mutex pool_lock;                          ///< for making it
    std::atomic<CUmemoryPool> pool{nullptr};  ///< null until it is ready (pools.h)
    std::atomic<uint64_t> pool_keeps{0};      ///< its release threshold
    Word pool_state{0};
    std::atomic<uint64_t> early_bytes{0};   ///< that did not wait for the pool
    std::atomic<uint64_t> parked_bytes{0};  ///< freed, but streams may use them
    std::atomic<int> pieces{0};             ///< of memory that are the context's
    std::atomic<bool> has_streams{false};   ///< calls have named some
    std::atomic<bool> is_lost{false};
    std::atomic<KnownContext *> next{nullptr};
    KnownContext *next_free = nullptr;
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
calotype_status acquire_held(void *user_context, const DeviceScope &held, DeviceScope *scope);
void release(const DeviceScope &scope);
calotype_status enter(const DeviceScope &scope);
void leave(const DeviceScope &scope);
bool is_alive(void *context, uint64_t context_uid);
void forget_context(uint64_t context_uid);

KnownContext &known_context(const DeviceScope &scope);
/** The default streams, 0 to 2, are those of the current context. */
inline bool names_its_context(CUstream stream) {
    return reinterpret_cast<uintptr_t>(stream) > 2;
}
/** Work of the call goes to the stream, which what others free is to wait for. */
inline void note_stream(KnownContext &context, CUstream stream) {
    if (names_its_context(stream) && !context.has_streams.load(std::memory_order_relaxed)) {
        context.has_streams.store(true, std::memory_order_relaxed);
    }
}

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

/** A call works in its context while this lives, if status() is CALOTYPE_OK. Starts with a clean
 * failure text. */
class Call {
public:
    explicit Call(void *user_context);
    ~Call();
    Call(const Call &) = delete;
    Call &operator=(const Call &) = delete;

    calotype_status status() const {
        return state;
    }
    const DeviceScope &scope() const {
        return current;
    }
    KnownContext &context() const {
        return known_context(current);
    }
    CUstream stream() const {
        return static_cast<CUstream>(current.stream);
    }

private:
    DeviceScope current = {};
    calotype_status state;
    bool acquired = false;
};

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
