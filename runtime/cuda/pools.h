// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pool that a context has its device memory from, and who makes it.
#pragma once

#include "runtime/cuda/context.h"

namespace calotype {
namespace runtime {
namespace cuda {

/** Make the pool now, unless there is one. */
CUresult make_pool(KnownContext &context);
/** Whether the call need not wait for a pool that is not there: a thread makes it, which the first
 * call starts, or there will be none. False: make_pool(). */
bool can_do_without_pool(const Call &call);
/** Until no thread makes it. */
void await_pool(KnownContext &context);
/** Whether a thread makes it. */
bool is_pool_in_the_making(const KnownContext &context);
/** No piece of it may be in use. */
void destroy_pool(KnownContext &context);

/** What the driver refuses to a thread while others capture is allowed, and leaves their captures
 * alone: calls for memory wait for nothing that is captured. */
class AllowedInCaptures {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

    void exchange() {
        driver().cuThreadExchangeStreamCaptureMode(&mode);
    }

public:
    AllowedInCaptures() {
        exchange();
    }
    ~AllowedInCaptures() {
        exchange();
    }
    AllowedInCaptures(const AllowedInCaptures &) = delete;
};

/** How much memory is kept for later. */
inline uint64_t most_kept(const KnownContext &context) {
    return context.device->memory / 8;
}
/** How much may wait for all work of the context. */
inline uint64_t most_parked(const KnownContext &context) {
    return context.device->memory / 64;
}

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
