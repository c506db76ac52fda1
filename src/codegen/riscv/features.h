// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Target features as attributes of LLVM's RISC-V back end.
#pragma once

#include <string>

#include "target/target.h"

namespace calotype::internal {

/// The attributes of a RISC-V target: "+m,+a,+f,+d,+c,+v,+zvl256b".
std::string riscv_features(const Target &target);

}  // namespace calotype::internal
