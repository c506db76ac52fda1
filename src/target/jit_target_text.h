// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The target for pipelines compiled in process, as environment variables name it.
#pragma once

#include <string>

#include "target/target.h"

namespace calotype::internal {

/// The target that get_jit_target_from_environment() gives (driver/device_interface.cpp), without a look at
/// the device.
Target read_jit_target();

/// The same for who asks again and again: the variable is read each time, its text parsed where it has changed.
class JitTargetVariable {
public:
    Target read();

private:
    bool is_read_ = false;
    std::string text_;
    Target target_;
};

/// Whether a target says which compute capability a device has.
bool names_cuda_capability(const Target &target);
/// The feature of the highest compute capability that a device of this one (as 90 for 9.0) has, which is
/// 90a for that one alone; FeatureEnd if it is below all.
Target::Feature cuda_feature_of_device(int capability);

}  // namespace calotype::internal
