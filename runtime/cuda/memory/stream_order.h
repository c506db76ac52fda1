// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which order frees and copies are done by calls that name no stream. The memory may be in use
// on streams that other calls have named and that may not be there any more, so no stream is asked:
// the driver records an event after all work of the context, for which a stream of the runtime's
// waits. Drivers before 12.5 cannot do that, so there the call waits for the work itself.
#pragma once

#include "runtime/cuda/context.h"

namespace calotype {
namespace runtime {
namespace cuda {

/** A stream on which what is done is after all that was queued in the context, which is current.
 * CALOTYPE_E_CAPTURE: a stream of the context is being captured. */
calotype_status stream_after_all_work(ContextInfo &info, CUstream *stream);
/** Destroy stream and event of a context whose identity has ended. */
void end_ordered_stream(ContextInfo &info, bool has_driver);

/** Whether a stream of the context is being captured, so that waiting for all its work would break
 * that. Its default stream tells. */
bool is_any_captured(const ContextInfo &info);

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
