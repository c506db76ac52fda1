// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where and in which order a call works with the device copy of a buffer that is there already.
//
// The call's context is used, and its stream if it names one: then the application orders. A call
// that names no stream is done after all work of the context. Memory of another device, which the
// call's context cannot reach, is worked with in the primary context of that device if the buffer
// was allocated there; that is also used where the call's own would first have to be made.
#pragma once

#include "runtime/abi/buffer.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/context_table.h"
#include "runtime/host/not_copied.h"

namespace calotype::runtime::cuda {

/** A call works with the memory at an address while this lives, if status() is CALOTYPE_OK. */
class BufferWork : NotCopied {
public:
    BufferWork(void *user_context, CUdeviceptr address);
    ~BufferWork();

    calotype_status status() const {
        return state;
    }
    /** Its context is current; its stream is the one to work on. */
    const DeviceScope &get_scope() const {
        return scope;
    }
    /** Whether the call has named the stream, so that the application orders its work. */
    bool names_stream() const {
        return is_stream_named;
    }

private:
    void begin(void *user_context, CUdeviceptr address);
    void begin_named(void *user_context);
    void begin_in(ContextInfo &owner);
    void choose_stream();

    DeviceScope scope = {};
    calotype_status state = CALOTYPE_OK;
    ContextInfo *used = nullptr;  ///< whose end waits for this work
    bool is_acquired = false, is_entered = false, is_stream_named = false;
};

/** Wait for the work of the context in which the memory is, if that is another one of the runtime's
 * than that of the scope. */
calotype_status await_owner(const DeviceScope &scope, CUdeviceptr address);

/** Whether kernels in the current context can use the memory. */
bool is_reachable(CUdeviceptr address);
/** Whether kernels of a call can use the memory. False and CALOTYPE_OK: it is another device's, and
 * the runtime can move it. */
calotype_status locate(void *user_context, CUdeviceptr address, bool *is_here);
/** Memory of other devices than those of known contexts is used from now on. */
void expect_other_devices();

/** A context of the owner's device that may be given to the driver: the owner itself if the runtime
 * retained it, else the primary one. Null on failure. */
CUcontext context_on_device_of(const ContextInfo &owner);

/** Give the buffer host memory, locked in the call's context for all contexts. Where the driver
 * refuses to lock it, it is ordinary memory. 0 or an error code, with the failure kept. */
int allocate_locked(const Call &call, calotype_buffer_t *buf);
/** Free what allocate_locked() gave, once its copies are done. */
void free_locked(void *user_context, calotype_buffer_t *buf);

enum class Side { Host, Device };

/** Queue copies on the scope's stream, whose context is current, from and to the sides of the
 * buffers that are said. `waits`: until they are done, which cannot be captured. Device copies that
 * are not the scope's device's are reached peer to peer. */
calotype_status copy_elements(const DeviceScope &scope, const calotype_buffer_t &src, Side from,
                              const calotype_buffer_t &dst, Side to, bool waits);

}  // namespace calotype::runtime::cuda
