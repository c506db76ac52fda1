// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How much host memory pipelines have at a time.
#pragma once

#include <cstdint>

namespace calotype {
namespace run {

/** From now on every allocation of pipelines is counted. */
void track_memory();

/** The most bytes that were allocated at a time. */
uint64_t most_memory();

}  // namespace run
}  // namespace calotype
