// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contexts that were met, by identity. The address of a context may be that of one that is
// gone, so it is known by a number: the driver's own from 12.0 on, before that one that we count up
// whenever we are told of a loss.
//
// Records are type-stable: that of a context that has gone serves a later one, so there are never
// many more than there were contexts at a time. A thread may look at one without a lock and see by
// its identity whether it is the right one.
#pragma once

#include "runtime/cuda/context.h"

namespace calotype {
namespace runtime {
namespace cuda {

/** The driver's identity of a context; CUDA_ERROR_NOT_SUPPORTED if it gives none. */
CUresult driver_identity(CUcontext context, uint64_t *uid);

/** The same of a context that nobody has just named. It may have been destroyed without a word, and
 * a driver that is asked about it reads memory that it has freed: not if the system has taken that
 * back. */
CUresult remembered_identity(CUcontext context, uint64_t *uid);

/** The record of a context with that identity, made if need be. uid 0: the driver gives no
 * identities. */
calotype_status find_or_add(CUcontext context, uint64_t uid, KnownContext **known);
/** Null if there is none that is not lost. */
KnownContext *find_by_uid(uint64_t uid);
/** The driver has been replaced: all are lost. */
void lose_all_contexts();
/** For tests: records that there are, in use or not. */
int context_records();

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
