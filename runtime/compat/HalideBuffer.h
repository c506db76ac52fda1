// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Halide::Runtime::Buffer is calotype::Runtime::Buffer.
#pragma once

#if defined(HALIDE_RUNTIME_BUFFER_CHECK_INDICES) && HALIDE_RUNTIME_BUFFER_CHECK_INDICES &&         \
    !defined(CALOTYPE_RUNTIME_BUFFER_CHECK_INDICES)
#define CALOTYPE_RUNTIME_BUFFER_CHECK_INDICES
#endif
#ifdef HALIDE_RUNTIME_BUFFER_ALLOCATION_ALIGNMENT
#define CALOTYPE_RUNTIME_BUFFER_ALLOCATION_ALIGNMENT HALIDE_RUNTIME_BUFFER_ALLOCATION_ALIGNMENT
#endif

#include "../buffer.h"
#include "HalideRuntime.h"

#define has_static_halide_type has_static_calotype_type
#define static_halide_type static_calotype_type
