// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of the elements that two buffers have in common.
#pragma once

#include "runtime/abi/buffer.h"
#include "runtime/cuda/context.h"

namespace calotype {
namespace runtime {
namespace cuda {

enum class Side { Host, Device };

/** Queue copies on the scope's stream, whose context is current, from and to the sides of the
 * buffers that are said. `waits`: until they are done, which cannot be captured. Device copies that
 * are not the scope's device's are reached peer to peer. */
calotype_status copy_elements(const DeviceScope &scope, const calotype_buffer_t &src, Side from,
                              const calotype_buffer_t &dst, Side to, bool waits);

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
