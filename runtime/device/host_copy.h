// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copying elements between the host copies of two buffers.
#pragma once

#include "runtime/abi/buffer.h"

namespace calotype {
namespace runtime {

/** Copy the elements at coordinates that both buffers have. They have the same number of dimensions
 * and elements of the same size, and do not overlap in memory. */
void copy_common_elements(const calotype_buffer_t &src, const calotype_buffer_t &dst);

}  // namespace runtime
}  // namespace calotype
