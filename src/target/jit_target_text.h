// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The target for pipelines compiled in process, as environment variables name it.
#pragma once

#include "target/target.h"

namespace calotype::internal {

/// The target that get_jit_target_from_environment() gives (driver/device_interface.cpp), without a look at
/// the device.
Target read_jit_target();

}  // namespace calotype::internal
