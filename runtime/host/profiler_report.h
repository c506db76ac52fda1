// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writing what the profiler found, as text or as JSON.
#pragma once

#include "runtime/abi/profiler.h"

namespace calotype::runtime {

/** Print all pipelines that have run: as JSON to the file that CT_PROFILER_JSON_OUTPUT names, else
 * as text through calotype_print. The state's lock must be held. */
void report_profile(void *user_context, const calotype_profiler_state &state);

}  // namespace calotype::runtime
