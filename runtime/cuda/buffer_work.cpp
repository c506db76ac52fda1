// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/buffer_work.h"

#include "runtime/cuda/memory/memory.h"
#include "runtime/device/failure.h"

namespace calotype::runtime::cuda {

namespace {

constinit std::atomic<bool> are_others_expected{false};

/** The owner, if it is one that a call may be given without naming it. */
ContextInfo *own_owner(CUdeviceptr address) {
    ContextInfo *owner = owner_of_part(address);
    return owner && is_own(*owner) ? owner : nullptr;
}

calotype_status refuse(const DeviceScope &scope, CUdeviceptr address) {
    int device = -1;
    driver().cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address);
    Text text;
    text << "the memory of the buffer at " << reinterpret_cast<void *>(address)
         << " is on CUDA device " << device << ", and kernels on device " << scope.device
         << " cannot reach it; it is a part of a buffer or the application's, so it is not moved";
    return fail_with(CALOTYPE_E_INVALID, text);
}

}  // namespace

bool is_reachable(CUdeviceptr address) {
    CUdeviceptr same = 0;
    return driver().cuPointerGetAttribute(&same, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address) ==
           CUDA_SUCCESS;
}

BufferWork::BufferWork(void *user_context, CUdeviceptr address) {
    begin(user_context, address);
    if (state == CALOTYPE_OK) {
        choose_stream();
    }
}

BufferWork::~BufferWork() {
    if (is_entered) {
        leave(scope);
    }
    if (is_acquired) {
        release(scope);
    }
    if (used) {
        end_use(*used);
    }
}

void BufferWork::begin(void *user_context, CUdeviceptr address) {
    ContextInfo *owner = own_owner(address);
    is_acquired = owner && acquire_existing(user_context, &scope);
    if (owner && (!is_acquired || scope.device != owner->device->device)) {
        const FailureScope ignored;
        begin_in(*owner);
        if (state == CALOTYPE_OK) {
            return;
        }
    }
    begin_named(user_context);
}

void BufferWork::begin_named(void *user_context) {
    if (!is_acquired || !begin_use(context_info(scope), scope.context_uid)) {
        if (is_acquired) {
            release(scope);
        }
        state = acquire_and_use(user_context, &scope);
        is_acquired = state == CALOTYPE_OK;
    }
    if (is_acquired) {
        used = &context_info(scope);
        is_stream_named = scope.stream != nullptr;
        note_stream(context_info(scope), static_cast<CUstream>(scope.stream));
        state = enter(scope);
        is_entered = state == CALOTYPE_OK;
    }
}

void BufferWork::begin_in(ContextInfo &owner) {
    const DeviceScope found = {scope.user_context,
                               owner.handle.load(std::memory_order_relaxed),
                               owner.uid.load(std::memory_order_acquire),
                               nullptr,
                               owner.device->device,
                               &owner};
    const bool is_there = begin_use(owner, found.context_uid);
    state = is_there ? enter(found) : CALOTYPE_E_CONTEXT_LOST;
    if (state != CALOTYPE_OK) {
        if (is_there) {
            end_use(owner);
        }
        return;
    }
    if (is_acquired) {
        release(scope);
        is_acquired = false;
    }
    scope = found;
    used = &owner;
    is_entered = true;
}

/** Waiting for all work would break a capture, so while a stream is captured the default one is
 * used. */
void BufferWork::choose_stream() {
    CUstream stream = nullptr;
    if (is_stream_named) {
        return;
    }
    FailureScope failures;
    state = stream_after_all_work(context_info(scope), &stream);
    if (state == CALOTYPE_E_CAPTURE) {
        state = CALOTYPE_OK;
    } else {
        failures.pass_on();
    }
    scope.stream = stream;
}

calotype_status await_owner(const DeviceScope &scope, CUdeviceptr address) {
    ContextInfo *owner = own_owner(address);
    if (!owner || owner == scope.extra) {
        return CALOTYPE_OK;
    }
    const ContextUse use(*owner);
    CUstream stream = nullptr;
    if (!use.is_entered) {
        return CALOTYPE_OK;  // it has ended, and its work with it
    }
    const calotype_status status = stream_after_all_work(*owner, &stream);
    return status ? status : status_of(invoke(&Driver::cuStreamSynchronize, stream));
}

void expect_other_devices() {
    are_others_expected.store(true, std::memory_order_relaxed);
}

calotype_status locate(void *user_context, CUdeviceptr address, bool *is_here) {
    *is_here = true;
    if (is_in_only_context(user_context) && !are_others_expected.load(std::memory_order_relaxed)) {
        return CALOTYPE_OK;
    }
    const Call call(user_context);
    if (call.status() != CALOTYPE_OK) {
        return call.status();
    }
    const ContextInfo *owner = owner_of(address);
    if (owner == &call.context() || is_reachable(address)) {
        return CALOTYPE_OK;
    }
    *is_here = !owner;
    return owner ? CALOTYPE_OK : refuse(call.scope(), address);
}

CUcontext context_on_device_of(const ContextInfo &owner) {
    return is_own(owner) ? owner.handle.load(std::memory_order_relaxed)
                         : primary_context(owner.device->device, true);
}

}  // namespace calotype::runtime::cuda
