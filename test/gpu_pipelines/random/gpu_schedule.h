// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A random GPU schedule for a random program: every stage mapped to a kernel or into one.
#pragma once

#include "gpu_pipelines/random/draw.h"

namespace calotype::test {

/// Gives what features were drawn; Funcs that it makes become the program's. Not every schedule drawn is legal: that is
/// seen when it is compiled, or when it asks for more than a device has.
Features random_gpu_schedule(GpuProgram &program, uint64_t seed, Directives &directives);

}  // namespace calotype::test
