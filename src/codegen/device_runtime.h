// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device runtime (runtime/nrt) as a linkable: what the generator links into modules whose
// kernels or linkables allocate device memory on their own.
#pragma once

#include "ir/linkable.h"

namespace calotype::internal {

/// Its code in every form that was built with the compiler; no images if none was: the build had
/// no compiler for CUDA C++. That for debugging checks what it is given, and traps.
LinkableData device_runtime_linkable(bool is_for_debugging);

}  // namespace calotype::internal
