// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "target/target.h"

namespace calotype::internal {

/// The first feature or processor in a target that no code for its architecture depends on, or an
/// empty text. Such a target stands for a machine, but nothing is compiled for it.
std::string word_without_code(const Target &target);

}  // namespace calotype::internal
