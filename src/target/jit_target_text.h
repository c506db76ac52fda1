// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The target for pipelines compiled in process, as environment variables name it.
#pragma once

#include "target/target.h"

namespace calotype::internal {

/// The target that get_jit_target_from_environment() gives (driver/device_interface.cpp), without a look at
/// the device.
Target read_jit_target();
/// Whether it says which compute capability a device has.
bool names_cuda_capability(const Target &target);
/// The feature of the highest compute capability that a device of this one (as 90 for 9.0) has, which is
/// 90a for that one alone; FeatureEnd if it is below all.
Target::Feature cuda_feature_of_device(int capability);

}  // namespace calotype::internal
