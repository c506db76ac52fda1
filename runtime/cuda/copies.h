// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of the elements that two buffers have in common.
#pragma once

#include "runtime/abi/buffer.h"
#include "runtime/cuda/context.h"

namespace calotype {
namespace runtime {
namespace cuda {

enum class Side { Host, Device };

/** Queue copies on the call's stream, from and to the sides of the buffers that are said. Where one
 * is the host's, wait until they are done; that cannot be captured. */
calotype_status copy_elements(const Call &call, const calotype_buffer_t &src, Side from,
                              const calotype_buffer_t &dst, Side to);

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
