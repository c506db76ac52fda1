// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions that need both a Target and the IR: expressions that ask about the target, known when
// the pipeline is lowered. The members of Target that take a Type or a DeviceAPI are defined in the
// same source.
#pragma once

#include "ir/expr.h"
#include "target/target.h"

namespace calotype {

/// Bools that are true if code is compiled for the architecture, for the system, with the feature.
Expr target_arch_is(Target::Arch arch);
Expr target_os_is(Target::OS os);
Expr target_has_feature(Target::Feature feature);

}  // namespace calotype
