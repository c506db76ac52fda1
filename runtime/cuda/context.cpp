// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A warm acquire costs one call of the driver, for the identity of the context: only the driver
// knows whether one was destroyed or reset, and it must be asked. A launch of what is held costs
// none, since the hold says that the context is there.
#include "runtime/cuda/context.h"

#include "runtime/abi/device_context.h"
#include "runtime/abi/errors.h"
#include "runtime/abi/runtime_cuda.h"
#include "runtime/cuda/context_table.h"
#include "runtime/cuda/memory/allocators.h"
#include "runtime/cuda/memory/memory.h"
#include "runtime/device/failure.h"
#include "runtime/host/weak.h"

namespace calotype::runtime::cuda {

namespace {

struct Primary {
    std::atomic<CUcontext> context{nullptr};
    std::atomic<int> retains{0};
};
constinit Primary primaries[max_devices];

/** What a thread met last, so that the next acquire need not search. */
struct LastFound {
    ContextInfo *info;
    CUcontext context;
    uint64_t number, uid;
};
constinit thread_local LastFound last_found = {nullptr, nullptr, 0, 0};
/** One bit for each enter() that has not ended: whether it pushed the context. */
thread_local uint64_t pushed;

/** Whether the record still is that of what the thread met last. */
bool is_current(const LastFound &last_found) {
    return last_found.info &&
           last_found.info->uid.load(std::memory_order_acquire) == last_found.uid;
}

/** Fill in `last_found` for a context that a call has named. */
calotype_status meet(CUcontext context) {
    uint64_t number = 0;
    const CUresult code = driver_number(context, &number);
    if (code != CUDA_SUCCESS && code != CUDA_ERROR_NOT_SUPPORTED) {
        note_failure("cuCtxGetId", code);
        return status_of(code);
    }
    if (last_found.context == context && last_found.number == number && is_current(last_found)) {
        return CALOTYPE_OK;
    }
    last_found = {};
    KnownContext known;
    const calotype_status status = find_or_add(context, number, &known);
    if (status == CALOTYPE_OK) {
        last_found = {known.info, context, number, known.uid};
    }
    return status;
}

/** Whether a primary context is still what was retained. */
bool is_still_there(CUcontext context) {
    uint64_t number = 0;
    const CUresult code = driver_number(context, &number);
    return code == CUDA_SUCCESS || code == CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace

CUcontext primary_context(int ordinal, bool create) {
    Primary &primary = primaries[ordinal];
    CUcontext before = primary.context.load(std::memory_order_acquire);
    if (before && is_still_there(before)) {
        return before;
    }
    const DeviceInfo *info = create ? device_info(ordinal) : nullptr;
    if (!info) {
        return nullptr;
    }
    CUcontext context = nullptr;
    if (invoke(&Driver::cuDevicePrimaryCtxRetain, &context, info->device) != CUDA_SUCCESS) {
        primary.context.compare_exchange_strong(before, nullptr);
        return nullptr;
    }
    // Two threads may retain it at once; each one is given back with the context.
    primary.retains.fetch_add(1, std::memory_order_relaxed);
    primary.context.store(context, std::memory_order_release);
    return context;
}

namespace {

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
    return 0;
}

CUstream stream_asked_for(const calotype_device_context *given) {
    return given ? static_cast<CUstream>(given->stream) : nullptr;
}

int default_get_stream(void *user_context, CUctx_st *context, CUstream_st **stream) {
    *stream = stream_asked_for(calotype_get_device_context(user_context));
    return 0;
}

constinit Hook<calotype_cuda_acquire_context_t> acquire_hook(default_acquire_context);
constinit Hook<calotype_cuda_release_context_t> release_hook(default_release_context);
constinit Hook<calotype_cuda_get_stream_t> stream_hook(default_get_stream);

}  // namespace

}  // namespace calotype::runtime::cuda

// The public functions, of which an application may have its own: these are what they are if not.
extern "C" {
static int acquire_through_hook(void *user_context, CUctx_st **context, bool create) {
    return calotype::runtime::cuda::acquire_hook.get()(user_context, context, create);
}
static int release_through_hook(void *user_context) {
    return calotype::runtime::cuda::release_hook.get()(user_context);
}
static int stream_through_hook(void *user_context, CUctx_st *context, CUstream_st **stream) {
    return calotype::runtime::cuda::stream_hook.get()(user_context, context, stream);
}
}
CALOTYPE_WEAK_ALIAS(acquire_through_hook)
int calotype_cuda_acquire_context(void *user_context, CUctx_st **context, bool create);
CALOTYPE_WEAK_ALIAS(release_through_hook)
int calotype_cuda_release_context(void *user_context);
CALOTYPE_WEAK_ALIAS(stream_through_hook)
int calotype_cuda_get_stream(void *user_context, CUctx_st *context, CUstream_st **stream);

namespace calotype::runtime::cuda {

namespace {

enum class Hooks { not_known, standard, replaced };
constinit std::atomic<Hooks> hooks{Hooks::not_known};
constinit Mutex hooks_lock;

/** One at a time, so that what is kept is what the last one saw. */
Hooks look_at_hooks() {
    LockGuard lock(hooks_lock);
    const bool are_standard = acquire_hook.get() == default_acquire_context &&
                              release_hook.get() == default_release_context &&
                              stream_hook.get() == default_get_stream &&
                              calotype_cuda_acquire_context == acquire_through_hook &&
                              calotype_cuda_release_context == release_through_hook &&
                              calotype_cuda_get_stream == stream_through_hook;
    const Hooks found = are_standard ? Hooks::standard : Hooks::replaced;
    hooks.store(found, std::memory_order_release);
    return found;
}

/** Whether nobody has replaced anything, so that nothing need be called to find context and stream.
 */
inline bool are_hooks_standard() {
    const Hooks known = hooks.load(std::memory_order_acquire);
    return (known == Hooks::not_known ? look_at_hooks() : known) == Hooks::standard;
}

calotype_status note_hook_failure(const char *hook, int code) {
    return fail_with(CALOTYPE_E_DEVICE, Text() << hook << " answers with code " << code);
}

/** Whether what the user context names is of another kind of device. */
bool is_of_another_api(const calotype_device_context *given) {
    return given && given->device_interface &&
           given->device_interface != calotype_cuda_device_interface();
}

const calotype_device_context *given_context(const void *user_context) {
    return user_context ? calotype_get_device_context(user_context) : nullptr;
}

/** With the standard hooks: the context that a call asks for, if it is made already. */
inline CUcontext context_asked_for(void *user_context, const calotype_device_context *given) {
    if (is_of_another_api(given)) {
        return nullptr;
    }
    if (given && given->context) {
        return static_cast<CUcontext>(given->context);
    }
    const int ordinal = chosen_device(user_context);
    return ordinal < 0 ? nullptr : primaries[ordinal].context.load(std::memory_order_acquire);
}

/** The context that this thread met last, if it is asked for once more and is the same still. */
inline bool acquire_again(const Driver &driver, void *user_context, DeviceScope *scope) {
    const calotype_device_context *given = given_context(user_context);
    const CUcontext context = context_asked_for(user_context, given);
    const LastFound &last = last_found;
    unsigned long long number = 0;
    if (!context || context != last.context || !driver.cuCtxGetId ||
        driver.cuCtxGetId(context, &number) != CUDA_SUCCESS || number != last.number ||
        !is_current(last)) {
        return false;
    }
    scope->user_context = user_context;
    scope->context = context;
    scope->context_uid = last.uid;
    scope->stream = stream_asked_for(given);
    scope->device = last.info->device->device;
    scope->extra = last.info;
    return true;
}

/** After the context was acquired. */
calotype_status fill_scope(void *user_context, CUcontext context, DeviceScope *scope) {
    CUstream stream = nullptr;
    if (int code = calotype_cuda_get_stream(user_context, context, &stream)) {
        return note_hook_failure("calotype_cuda_get_stream", code);
    }
    const calotype_status status = meet(context);
    if (status == CALOTYPE_OK) {
        ContextInfo *info = last_found.info;
        *scope = {user_context, context, last_found.uid, stream, info->device->device, info};
    }
    return status;
}

}  // namespace

__attribute__((cold, noinline)) static calotype_status acquire_anew(void *user_context,
                                                                    DeviceScope *scope) {
    if (is_of_another_api(calotype_get_device_context(user_context))) {
        return fail_with(CALOTYPE_E_INVALID, "the context of the call is not one of CUDA");
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

__attribute__((flatten)) calotype_status acquire(void *user_context, DeviceScope *scope) {
    const Driver *driver = find_driver();
    if (!driver) {
        return CALOTYPE_E_DEVICE;
    }
    return are_hooks_standard() && acquire_again(*driver, user_context, scope)
               ? CALOTYPE_OK
               : acquire_anew(user_context, scope);
}

bool is_asked_for(void *user_context, const DeviceScope &held, CUstream *stream) {
    const calotype_device_context *given = given_context(user_context);
    *stream = stream_asked_for(given);
    return are_hooks_standard() && context_asked_for(user_context, given) == held.context;
}

calotype_status acquire_held(void *user_context, const DeviceScope &held, DeviceScope *scope) {
    CUstream stream = nullptr;
    if (!is_asked_for(user_context, held, &stream)) {
        return acquire(user_context, scope);
    }
    *scope = held;
    scope->user_context = user_context;
    scope->stream = stream;
    return CALOTYPE_OK;
}

void release(const DeviceScope &scope) {
    if (!are_hooks_standard()) {
        calotype_cuda_release_context(scope.user_context);
    }
}

calotype_status enter(const DeviceScope &scope) {
    const CUcontext context = static_cast<CUcontext>(scope.context);
    CUcontext current = nullptr;
    if (driver().cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == context) {
        pushed <<= 1;
        return CALOTYPE_OK;
    }
    const CUresult code = invoke(&Driver::cuCtxPushCurrent, context);
    if (code == CUDA_SUCCESS) {
        pushed = pushed << 1 | 1;
    }
    return status_of(code);
}

void leave(const DeviceScope &scope) {
    if (pushed & 1) {
        CUcontext popped;
        driver().cuCtxPopCurrent(&popped);
    }
    pushed >>= 1;
}

bool acquire_existing(void *user_context, DeviceScope *scope) {
    CUcontext context = nullptr;
    const Driver *driver = find_driver(false);
    if (driver && are_hooks_standard() && acquire_again(*driver, user_context, scope)) {
        return true;
    }
    if (!driver || is_of_another_api(given_context(user_context)) ||
        calotype_cuda_acquire_context(user_context, &context, false) != 0) {
        return false;
    }
    const FailureScope ignored;
    const bool is_there = context && fill_scope(user_context, context, scope) == CALOTYPE_OK;
    if (!is_there) {
        calotype_cuda_release_context(user_context);
    }
    return is_there;
}

bool is_in_only_context(void *user_context) {
    return context_records() == 1 && are_hooks_standard() && last_found.info &&
           context_asked_for(user_context, given_context(user_context)) == last_found.context;
}

bool has_context(void *user_context) {
    CUcontext context = nullptr;
    if (is_of_another_api(given_context(user_context))) {
        return true;  // which acquire() refuses
    }
    if (!find_driver(false) || calotype_cuda_acquire_context(user_context, &context, false) != 0) {
        return false;
    }
    calotype_cuda_release_context(user_context);
    return context != nullptr;
}

bool is_alive(uint64_t context_uid) {
    return find_driver(false) && find_by_uid(context_uid);
}

bool is_own(const ContextInfo &info) {
    return primaries[info.device->device].context.load(std::memory_order_acquire) ==
           info.handle.load(std::memory_order_relaxed);
}

bool is_own_context(uint64_t context_uid) {
    const ContextInfo *info = find_by_uid(context_uid);
    return info && is_own(*info);
}

ContextInfo &context_info(const DeviceScope &scope) {
    return *static_cast<ContextInfo *>(scope.extra);
}

void release_if_primary(const DeviceInfo &info, void *context) {
    Primary &primary = primaries[info.device];
    CUcontext expected = static_cast<CUcontext>(context);
    if (!primary.context.compare_exchange_strong(expected, nullptr)) {
        return;  // the application's
    }
    for (int n = primary.retains.exchange(0); n > 0; n--) {
        driver().cuDevicePrimaryCtxRelease(info.device);
    }
}

void forget_devices() {
    for (Primary &primary : primaries) {
        primary.context.store(nullptr);
        primary.retains.store(0);
    }
    end_all_contexts();
    forget_pools();
    forget_device_infos();
}

calotype_status acquire_and_use(void *user_context, DeviceScope *scope) {
    calotype_status status = acquire(user_context, scope);
    while (status == CALOTYPE_OK && !begin_use(context_info(*scope), scope->context_uid)) {
        release(*scope);
        status = acquire(user_context, scope);
    }
    return status;
}

Call::Call(void *user_context) {
    state = acquire_and_use(user_context, &current);
    if (state != CALOTYPE_OK) {
        return;
    }
    note_stream(context(), stream());
    state = enter(current);
    acquired = state == CALOTYPE_OK;
    if (!acquired) {
        end_use(context());
        release(current);
    }
}

Call::~Call() {
    if (acquired) {
        leave(current);
        end_use(context());
        release(current);
    }
}

}  // namespace calotype::runtime::cuda

using namespace calotype::runtime;

CALOTYPE_WEAK int calotype_cuda_acquire_current_context(void *user_context, CUctx_st **context,
                                                        bool create) {
    const calotype_device_context *given = calotype_get_device_context(user_context);
    const bool is_named = given && given->context;
    *context = nullptr;
    if (!is_named && cuda::find_driver(create) &&
        cuda::driver().cuCtxGetCurrent(context) == cuda::CUDA_SUCCESS && *context) {
        return 0;
    }
    return cuda::default_acquire_context(user_context, context, create);
}

CALOTYPE_WEAK int calotype_cuda_get_per_thread_stream(void *user_context, CUctx_st *context,
                                                      CUstream_st **stream) {
    const int code = cuda::default_get_stream(user_context, context, stream);
    *stream = *stream ? *stream : cuda::per_thread_stream();
    return code;
}

CALOTYPE_WEAK calotype_cuda_acquire_context_t
calotype_set_cuda_acquire_context(calotype_cuda_acquire_context_t acquire) {
    const auto before = cuda::acquire_hook.set(acquire);
    cuda::look_at_hooks();
    return before;
}

CALOTYPE_WEAK calotype_cuda_release_context_t
calotype_set_cuda_release_context(calotype_cuda_release_context_t release) {
    const auto before = cuda::release_hook.set(release);
    cuda::look_at_hooks();
    return before;
}

CALOTYPE_WEAK calotype_cuda_get_stream_t
calotype_set_cuda_get_stream(calotype_cuda_get_stream_t get) {
    const auto before = cuda::stream_hook.set(get);
    cuda::look_at_hooks();
    return before;
}
