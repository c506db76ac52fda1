// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the application is told of the cache's slow steps.
#pragma once

#include "runtime/abi/kernel_cache.h"

namespace calotype {
namespace runtime {

/** A stage that began at `begin_ns` ends now. The lock is not held. */
void trace(calotype_stage stage, uint64_t context_uid, const calotype_uid &uid, uint64_t begin_ns,
           calotype_status status);

}  // namespace runtime
}  // namespace calotype
