// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which order memory is freed by calls that name no stream. What they free may be in use on
// streams that other calls have named and that may not be there any more, so no stream is asked:
// the driver records an event after all work of the context, for which a stream of the runtime's
// waits. Drivers before 12.5 cannot do that, so there the free waits for the work itself.
#pragma once

#include "runtime/cuda/context.h"

namespace calotype {
namespace runtime {
namespace cuda {

/** A stream on which what is done is after all that was queued in the context, which is current.
 * CALOTYPE_E_CAPTURE: a stream of the context is being captured. */
calotype_status stream_to_free_on(ContextInfo &info, CUstream *stream);
/** Nobody uses it any more, since the identity of the context has ended. */
void end_free_stream(ContextInfo &info, bool has_driver);

/** Whether nobody may wait for all work of the context: one of its streams is being captured, which
 * its default stream tells. */
bool is_any_captured(const ContextInfo &info);

/** The end of a use that `users` counts, and the wait for all of them. */
void end_use(ContextInfo &info);
void await_users(ContextInfo &info);

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
