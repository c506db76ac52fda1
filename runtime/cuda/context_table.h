// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contexts that calls have named, and the identity of each.
//
// The driver is asked about a context only with a handle that the current call was given or that
// the runtime itself retained. An identity ends when the context is released or told lost; from
// then on nothing is asked about its handle, until a call names it again. Then the driver's own
// number (from 12.0 on) tells whether it still is the same context: it gets a new identity, and
// keeps what is known of its memory. Without that number it is taken for another context.
//
// Records are type-stable: that of a context that has ended serves a later one. A thread may look
// at one without a lock and see by its identity whether it is the right one.
#pragma once

#include "runtime/cuda/context.h"
#include "runtime/host/not_copied.h"

namespace calotype::runtime::cuda {

/** The driver's number of a context; CUDA_ERROR_NOT_SUPPORTED if it gives none. */
CUresult driver_number(CUcontext context, uint64_t *number);

/** A record and the identity that it had when it was found, never 0: another thread may end it, and
 * the record may serve another context, at any time. */
struct KnownContext {
    ContextInfo *info = nullptr;
    uint64_t uid = 0;
};

/** The record of a context that a call has named, made if need be. number 0: the driver gives none.
 * A context that had the same handle before has ended. */
calotype_status find_or_add(CUcontext context, uint64_t number, KnownContext *known);
/** Null if no context has that identity. */
ContextInfo *find_by_uid(uint64_t uid);
/** Whether any context has an identity. */
bool has_any_context();
/** The driver has been replaced: all have ended. */
void end_all_contexts();
/** Records that there are, in use or not; with one alone, all memory is in that context. */
int context_records();

/** The context lives while this does, if it is there, and is current: whoever ends it waits. Only
 * for one that the runtime retained or that the call names. */
class ContextUse : NotCopied {
    ContextInfo &info;
    DeviceScope scope = {};

public:
    const bool is_entered;

    explicit ContextUse(ContextInfo &info);
    ~ContextUse();

private:
    bool begin();
};

/** Count a use, which the end of the context waits for; false: that identity has ended. */
bool begin_use(ContextInfo &info, uint64_t uid);
/** The end of one, and the wait for all of them. */
void end_use(ContextInfo &info);
void await_users(ContextInfo &info);

}  // namespace calotype::runtime::cuda
