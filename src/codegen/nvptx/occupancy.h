// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Occupancy: the number of blocks of a kernel that a multiprocessor runs at a time.
#pragma once

#include "codegen/device_code.h"

namespace calotype::internal {

/// Fills in blocks_per_sm, occupancy_percent and limited_by from f.sm, f.registers,
/// f.static_shared_bytes and f.threads; leaves them alone if one of these is not known.
/// `dynamic_shared` bytes are added by the launch.
void fill_occupancy(KernelFacts &f, int dynamic_shared = 0);

}  // namespace calotype::internal
