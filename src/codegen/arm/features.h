// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Target features as attributes of LLVM's AArch64 back end.
#pragma once

#include <string>

#include "target/target.h"

namespace calotype::internal {

/// The attributes of an ARM target with implied features set: "+neon,+v8.2a,+dotprod,...".
std::string arm_features(const Target &target);

}  // namespace calotype::internal
