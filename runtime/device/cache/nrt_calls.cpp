// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The public functions of the device runtime. A source of its own, because it names the one kind of
// device that has heaps, for contexts in which nothing has been loaded yet.
#include "runtime/abi/nrt.h"

#include "runtime/abi/device_context.h"
#include "runtime/abi/runtime_cuda.h"
#include "runtime/device/cache/kernel_cache.h"
#include "runtime/device/failure.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace {

/** What is to be done in the context of the call, and whether there was one with a heap. */
struct Request {
    FunctionRef<calotype_status(ContextState &context, const DeviceScope &scope)> act;
    bool is_done = false;
    const char *without_heap = nullptr;  ///< the back end of such a context
};

/** False: the context has been lost, and its record may be that of another. */
bool begin_use(ContextState &context, uint64_t uid) {
    LockGuard guard(kernel_cache.lock);
    const bool is_there = context.uid == uid && !context.lost;
    context.users += is_there;
    return is_there;
}

void end_use(ContextState &context) {
    LockGuard guard(kernel_cache.lock);
    context.users--;
}

calotype_status do_in(const Call &call, Request &request) {
    if (!call.backend->heap) {
        request.without_heap = call.backend->name;
        return CALOTYPE_OK;
    }
    request.is_done = true;
    ContextState *context = find_or_create_context(call);
    if (!context) {
        return fail(CALOTYPE_E_OOM, CALOTYPE_ST_NRT, nullptr, "no memory for one more context");
    }
    if (!begin_use(*context, call.scope.context_uid)) {
        return fail(CALOTYPE_E_CONTEXT_LOST, CALOTYPE_ST_NRT, nullptr, "the context has been lost");
    }
    const FailureScope failures;
    calotype_status status = call.backend->enter(call.scope);
    if (status == CALOTYPE_OK) {
        status = request.act(*context, call.scope);
        call.backend->leave(call.scope);
    }
    end_use(*context);
    return status ? fail(Failure{.status = status, .stage = CALOTYPE_ST_NRT}) : CALOTYPE_OK;
}

calotype_status run(void *user_context, Request request) {
    const calotype_status status =
        for_each_backend(user_context, [&](const Call &call) { return do_in(call, request); });
    if (request.is_done) {
        return status;
    }
    const calotype_device_context *given = calotype_get_device_context(user_context);
    if (request.without_heap && given && given->context) {
        return fail(CALOTYPE_E_INVALID, CALOTYPE_ST_NRT, nullptr,
                    Text() << "kernels of " << request.without_heap << " cannot allocate memory");
    }
    Call call;
    const KernelBackend &cuda = *backend_of(calotype_cuda_device_interface());
    const calotype_status found = begin_call(user_context, cuda, nullptr, &call);
    return found == CALOTYPE_OK ? do_in(call, request) : found;
}

}  // namespace

CALOTYPE_WEAK calotype_status calotype_nrt_set_heap(void *user_context, uint64_t bytes) {
    const auto set = [&](ContextState &context, const DeviceScope &) {
        return set_nrt_heap(context, bytes);
    };
    return run(user_context, {set});
}

CALOTYPE_WEAK calotype_status calotype_nrt_enable_stats(void *user_context, int on) {
    const auto enable = [&](ContextState &context, const DeviceScope &scope) {
        return enable_nrt_stats(context, scope, on != 0);
    };
    return run(user_context, {enable});
}

CALOTYPE_WEAK calotype_status calotype_nrt_read(void *user_context, calotype_nrt_stats *stats) {
    if (!stats || stats->size < sizeof *stats) {
        return fail(CALOTYPE_E_INVALID, CALOTYPE_ST_NRT, nullptr,
                    Text() << "the size of the statistics is " << (stats ? stats->size : 0)
                           << ", must be " << uint32_t(sizeof *stats));
    }
    calotype_nrt_memsys sum = {};
    const auto read = [&](ContextState &context, const DeviceScope &scope) {
        return read_nrt_stats(context, scope, &sum);
    };
    const calotype_status status = run(user_context, {read});
    if (status == CALOTYPE_OK) {
        *stats = {uint32_t(sizeof *stats),
                  1,
                  sum.alloc,
                  sum.free_,
                  sum.mi_alloc,
                  sum.mi_free,
                  sum.alloc_bytes,
                  sum.free_bytes,
                  sum.failed};
    }
    return status;
}

CALOTYPE_WEAK calotype_status calotype_nrt_reset(void *user_context) {
    const auto reset = [](ContextState &context, const DeviceScope &scope) {
        return reset_nrt_stats(context, scope);
    };
    return run(user_context, {reset});
}
