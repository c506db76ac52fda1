// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device that pipelines of this process run on, as targets say it.
#pragma once

#include "target/target.h"

namespace calotype::internal {

/// A target of this process that says cuda alone means the device that kernels will run on, so that
/// they are made for its capability. Where there is none, what fails is the run, with the runtime's
/// error.
Target with_capability_of_device(const Target &target);

}  // namespace calotype::internal
