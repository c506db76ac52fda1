// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device code of the device runtime, compiled for the processor, with a heap of the test's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/abi/nrt.h"

#define CALOTYPE_NRT_DEVICE
#include "runtime/nrt/calotype_nrt.cuh"

extern "C" calotype_nrt_memsys *TheMSys;

namespace nrt_on_host {

/// No plans, no counts; what was freed and kept for checks is given back.
void reset_heap();
/// The nth allocation from now (1: the next) gives nothing.
void fail_allocation(int nth);
long live_blocks();
long traps();

}  // namespace nrt_on_host
