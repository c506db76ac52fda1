// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contexts that ended without a release: the application says so, or a later context has taken the
// address of one. Nothing is asked of the driver.
#include "runtime/device/cache/nrt.h"
#include "runtime/device/cache/release.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace calotype::runtime {

/** Its record, kept in use; null if there is none. */
static ContextState *use_context(uint64_t uid) {
    LockGuard guard(kernel_cache.lock);
    ContextState *context = find_context(uid);
    if (context) {
        context->users++;
    }
    return context;
}

calotype_status on_context_lost(uint64_t uid) {
    ThreadBlock *me = this_thread();
    if (!me) {
        return fail_without_block();
    }
    ContextState *context = use_context(uid);
    if (!context) {
        return CALOTYPE_OK;
    }
    // First, so that calls which name the context from now on get another identity.
    context->backend->end_context(uid, false);
    TeardownList victims;
    {
        LockGuard guard(kernel_cache.lock);
        if (!context->lost) {
            context->lost = true;
            take_ready(*context, *me, victims);
            drop_failed(*context);
        }
    }
    drop_holds(*context, false);
    const calotype_status torn =
        tear_down(*context, victims, CALOTYPE_R_CONTEXT_LOST, nullptr, *me);
    end_nrt(*context, nullptr, false);
    LockGuard guard(kernel_cache.lock);
    context->users--;
    return torn;
}

}  // namespace calotype::runtime

CALOTYPE_WEAK calotype_status calotype_context_lost(uint64_t ctx_uid) {
    return on_context_lost(ctx_uid);
}
