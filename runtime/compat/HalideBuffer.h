// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Halide::Runtime::Buffer is calotype::Runtime::Buffer.
#pragma once

#ifdef HALIDE_RUNTIME_BUFFER_CHECK_INDICES
#define CALOTYPE_RUNTIME_BUFFER_CHECK_INDICES
#endif

#include "../buffer.h"
#include "HalideRuntime.h"

#define has_static_halide_type has_static_calotype_type
#define static_halide_type static_calotype_type
