// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The address of a context may be that of one that is gone, so a context is known by an identity:
// the driver's own number from 12.0 on, before that a number that we count up whenever we are told
// of a loss. A warm acquire costs one call of the driver, which is that for the identity.
#include "runtime/cuda/context.h"

#include <new>
#include <stdlib.h>

#include "runtime/abi/device_context.h"
#include "runtime/abi/errors.h"
#include "runtime/abi/runtime_cuda.h"
#include "runtime/device/failure.h"
#include "runtime/host/weak.h"

namespace calotype {
namespace runtime {
namespace cuda {

namespace {

constexpr int max_devices = 64;
/** Marks identities that are not the driver's. */
constexpr uint64_t our_own = uint64_t(1) << 63;

struct Primary {
    std::atomic<CUcontext> context{nullptr};
    int retains = 0;  ///< with the lock held
};
constinit Primary primaries[max_devices];
constinit Mutex primaries_lock;

constexpr int n_buckets = 64;
constinit std::atomic<KnownContext *> buckets[n_buckets];
constinit Mutex known_lock;   ///< for inserting
uint64_t own_identities = 0;  ///< counts up, with the lock held

/** What a thread met last, so that the next acquire need not search. */
thread_local KnownContext *recent;
/** The identity that the default acquire has just asked for, so that it is not asked for twice. */
struct Verified {
    CUcontext context;
    uint64_t uid;
};
thread_local Verified verified;
/** One bit for each enter() that has not ended: whether it pushed the context. */
thread_local uint64_t pushed;

std::atomic<KnownContext *> &bucket_of(uint64_t uid) {
    return buckets[uid % n_buckets];
}

KnownContext *find_by_uid(uint64_t uid) {
    KnownContext *known = bucket_of(uid).load(std::memory_order_acquire);
    while (known && (known->uid != uid || known->is_lost.load(std::memory_order_relaxed))) {
        known = known->next;
    }
    return known;
}

/** For drivers that give no identities. */
KnownContext *find_by_address(CUcontext context) {
    for (std::atomic<KnownContext *> &bucket : buckets) {
        for (KnownContext *known = bucket.load(std::memory_order_acquire); known;
             known = known->next) {
            if (known->context == context && !known->is_lost.load(std::memory_order_relaxed)) {
                return known;
            }
        }
    }
    return nullptr;
}

/** The driver's identity of a context; CUDA_ERROR_NOT_SUPPORTED if it gives none. */
CUresult driver_identity(CUcontext context, uint64_t *uid) {
    if (!driver().cuCtxGetId) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    unsigned long long id = 0;
    const CUresult code = driver().cuCtxGetId(context, &id);
    *uid = id ? id : our_own;
    return code;
}

CUresult device_of(CUcontext context, CUdevice *device) {
    CUresult code = note_failure("cuCtxPushCurrent", driver().cuCtxPushCurrent(context));
    if (code == CUDA_SUCCESS) {
        code = note_failure("cuCtxGetDevice", driver().cuCtxGetDevice(device));
        driver().cuCtxPopCurrent(&context);
    }
    return code;
}

/** With known_lock held. A uid of 0 stands for one of ours. */
calotype_status insert(CUcontext context, uint64_t uid, KnownContext **result) {
    CUdevice device = -1;
    if (CUresult code = device_of(context, &device)) {
        return status_of(code);
    }
    const DeviceInfo *info = device >= 0 && device < max_devices ? device_info(device) : nullptr;
    if (!info) {
        set_failure("the device of the context is not known");
        return CALOTYPE_E_DEVICE;
    }
    void *memory = malloc(sizeof(KnownContext));
    if (!memory) {
        set_failure("out of host memory");
        return CALOTYPE_E_OOM;
    }
    KnownContext *known = new (memory) KnownContext();
    known->context = context;
    known->uid = uid ? uid : our_own | ++own_identities;
    known->device = info;
    known->next = bucket_of(known->uid).load(std::memory_order_relaxed);
    bucket_of(known->uid).store(known, std::memory_order_release);
    *result = known;
    return CALOTYPE_OK;
}

/** uid 0: the driver gives no identities. */
calotype_status find_or_insert(CUcontext context, uint64_t uid, KnownContext **known) {
    *known = uid ? find_by_uid(uid) : find_by_address(context);
    if (*known) {
        return CALOTYPE_OK;
    }
    LockGuard lock(known_lock);
    *known = uid ? find_by_uid(uid) : find_by_address(context);
    return *known ? CALOTYPE_OK : insert(context, uid, known);
}

calotype_status know(CUcontext context, KnownContext **known) {
    uint64_t uid = 0;
    if (verified.context == context) {
        uid = verified.uid;
        verified = {};
    } else if (CUresult code = driver_identity(context, &uid)) {
        if (code != CUDA_ERROR_NOT_SUPPORTED) {
            note_failure("cuCtxGetId", code);
            return status_of(code);
        }
        uid = 0;
    }
    if (recent && uid && recent->uid == uid && !recent->is_lost.load(std::memory_order_relaxed)) {
        *known = recent;
        return CALOTYPE_OK;
    }
    const calotype_status status = find_or_insert(context, uid, known);
    recent = status == CALOTYPE_OK ? *known : nullptr;
    return status;
}

/** Whether a primary context is still what was retained. Remembers the identity. */
bool is_still_there(CUcontext context) {
    uint64_t uid = 0;
    const CUresult code = driver_identity(context, &uid);
    if (code == CUDA_SUCCESS) {
        verified = {context, uid};
    }
    return code == CUDA_SUCCESS || code == CUDA_ERROR_NOT_SUPPORTED;
}

/** The primary context of the device. Whoever resets a device destroys it, so it is retained anew
 * if it does not answer. Null if it was not retained yet and `create` is false, or on failure. */
CUcontext primary_context(int ordinal, bool create) {
    Primary &primary = primaries[ordinal];
    CUcontext context = primary.context.load(std::memory_order_acquire);
    if (context && is_still_there(context)) {
        return context;
    }
    if (!context && !create) {
        return nullptr;
    }
    const DeviceInfo *info = device_info(ordinal);
    if (!info) {
        return nullptr;
    }
    LockGuard lock(primaries_lock);
    context = primary.context.load(std::memory_order_relaxed);
    if (context && is_still_there(context)) {
        return context;
    }
    if (note_failure("cuDevicePrimaryCtxRetain",
                     driver().cuDevicePrimaryCtxRetain(&context, info->device)) != CUDA_SUCCESS) {
        primary.context.store(nullptr, std::memory_order_release);
        return nullptr;
    }
    primary.retains++;
    primary.context.store(context, std::memory_order_release);
    return context;
}

int default_acquire_context(void *user_context, CUctx_st **context, bool create) {
    *context = nullptr;
    if (!find_driver(create)) {
        return create ? calotype_error_code_gpu_device_error : 0;
    }
    const calotype_device_context *given = calotype_get_device_context(user_context);
    if (given && given->context) {
        *context = static_cast<CUcontext>(given->context);
        return 0;
    }
    const int ordinal = chosen_device(user_context);
    if (ordinal >= 0) {
        *context = primary_context(ordinal, create);
    }
    return *context || (ordinal >= 0 && !create) ? 0 : calotype_error_code_gpu_device_error;
}

int default_release_context(void *user_context) {
    (void)user_context;
    return 0;
}

int default_get_stream(void *user_context, CUctx_st *context, CUstream_st **stream) {
    (void)context;
    const calotype_device_context *given = calotype_get_device_context(user_context);
    *stream = given ? static_cast<CUstream>(given->stream) : nullptr;
    return 0;
}

constinit Hook<calotype_cuda_acquire_context_t> acquire_hook(default_acquire_context);
constinit Hook<calotype_cuda_release_context_t> release_hook(default_release_context);
constinit Hook<calotype_cuda_get_stream_t> stream_hook(default_get_stream);

calotype_status note_hook_failure(const char *hook, int code) {
    Text text;
    text << hook << " answers with code " << code;
    set_failure(text.c_str());
    return CALOTYPE_E_DEVICE;
}

/** Whether the user context names a context of another kind of device. */
bool is_of_another_api(void *user_context) {
    const calotype_device_context *given = calotype_get_device_context(user_context);
    return given && given->device_interface &&
           given->device_interface != calotype_cuda_device_interface();
}

/** After the context was acquired. */
calotype_status fill_scope(void *user_context, CUcontext context, DeviceScope *scope) {
    CUstream stream = nullptr;
    if (int code = calotype_cuda_get_stream(user_context, context, &stream)) {
        return note_hook_failure("calotype_cuda_get_stream", code);
    }
    KnownContext *known = nullptr;
    const calotype_status status = know(context, &known);
    if (status == CALOTYPE_OK) {
        *scope = {user_context, context, known->uid, stream, known->device->device, known};
    }
    return status;
}

}  // namespace

calotype_status acquire(void *user_context, DeviceScope *scope) {
    verified = {};
    if (!find_driver()) {
        return CALOTYPE_E_DEVICE;
    }
    if (is_of_another_api(user_context)) {
        set_failure("the context of the call is not one of CUDA");
        return CALOTYPE_E_INVALID;
    }
    CUcontext context = nullptr;
    const int code = calotype_cuda_acquire_context(user_context, &context, true);
    if (code != 0 || !context) {
        return note_hook_failure("calotype_cuda_acquire_context", code);
    }
    const calotype_status status = fill_scope(user_context, context, scope);
    if (status != CALOTYPE_OK) {
        calotype_cuda_release_context(user_context);
    }
    return status;
}

void release(const DeviceScope &scope) {
    calotype_cuda_release_context(scope.user_context);
}

calotype_status enter(const DeviceScope &scope) {
    const CUcontext context = static_cast<CUcontext>(scope.context);
    CUcontext current = nullptr;
    if (driver().cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == context) {
        pushed <<= 1;
        return CALOTYPE_OK;
    }
    const CUresult code = note_failure("cuCtxPushCurrent", driver().cuCtxPushCurrent(context));
    if (code == CUDA_SUCCESS) {
        pushed = pushed << 1 | 1;
    }
    return status_of(code);
}

void leave(const DeviceScope &scope) {
    (void)scope;
    if (pushed & 1) {
        CUcontext popped;
        driver().cuCtxPopCurrent(&popped);
    }
    pushed >>= 1;
}

bool is_alive(void *context, uint64_t context_uid) {
    if (!find_driver(false)) {
        return false;
    }
    uint64_t uid = 0;
    const CUresult code = driver_identity(static_cast<CUcontext>(context), &uid);
    if (code == CUDA_ERROR_NOT_SUPPORTED) {
        return find_by_uid(context_uid) != nullptr;
    }
    return code == CUDA_SUCCESS && uid == context_uid;
}

void forget_context(uint64_t context_uid) {
    if (KnownContext *known = find_by_uid(context_uid)) {
        // With the driver's identities there is nothing to confuse.
        if (!driver().cuCtxGetId) {
            known->is_lost.store(true);
        }
    }
}

KnownContext &known_context(const DeviceScope &scope) {
    return *static_cast<KnownContext *>(scope.extra);
}

bool is_capturing(const DeviceScope &scope, void *stream) {
    CUstream asked = static_cast<CUstream>(stream ? stream : scope.stream);
    // The default stream is that of the current context.
    if (!asked && enter(scope) != CALOTYPE_OK) {
        return false;
    }
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUresult code = driver().cuStreamIsCapturing(asked, &status);
    if (!asked) {
        leave(scope);
    }
    return code == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT ||
           (code == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE);
}

void release_primary_context(const DeviceInfo &info) {
    LockGuard lock(primaries_lock);
    Primary &primary = primaries[info.device];
    primary.context.store(nullptr, std::memory_order_release);
    for (; primary.retains > 0; primary.retains--) {
        driver().cuDevicePrimaryCtxRelease(info.device);
    }
}

void forget_devices() {
    {
        LockGuard lock(primaries_lock);
        for (Primary &primary : primaries) {
            primary.context.store(nullptr);
            primary.retains = 0;
        }
    }
    for (std::atomic<KnownContext *> &bucket : buckets) {
        for (KnownContext *known = bucket.load(); known; known = known->next) {
            known->is_lost.store(true);
        }
    }
    forget_device_infos();
}

Call::Call(void *user_context) {
    clear_failure();
    state = acquire(user_context, &current);
    if (state != CALOTYPE_OK) {
        return;
    }
    state = enter(current);
    acquired = state == CALOTYPE_OK;
    if (!acquired) {
        release(current);
    }
}

Call::~Call() {
    if (acquired) {
        leave(current);
        release(current);
    }
}

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype

using namespace calotype::runtime;

CALOTYPE_WEAK int calotype_cuda_acquire_context(void *user_context, CUctx_st **context,
                                                bool create) {
    return cuda::acquire_hook.get()(user_context, context, create);
}

CALOTYPE_WEAK int calotype_cuda_release_context(void *user_context) {
    return cuda::release_hook.get()(user_context);
}

CALOTYPE_WEAK int calotype_cuda_get_stream(void *user_context, CUctx_st *context,
                                           CUstream_st **stream) {
    return cuda::stream_hook.get()(user_context, context, stream);
}

CALOTYPE_WEAK calotype_cuda_acquire_context_t
calotype_set_cuda_acquire_context(calotype_cuda_acquire_context_t acquire) {
    return cuda::acquire_hook.set(acquire);
}

CALOTYPE_WEAK calotype_cuda_release_context_t
calotype_set_cuda_release_context(calotype_cuda_release_context_t release) {
    return cuda::release_hook.set(release);
}

CALOTYPE_WEAK calotype_cuda_get_stream_t
calotype_set_cuda_get_stream(calotype_cuda_get_stream_t get) {
    return cuda::stream_hook.set(get);
}
