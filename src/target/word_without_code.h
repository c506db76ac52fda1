// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "target/target.h"

namespace calotype::internal {

/// The first feature or processor in a target that no code for its architecture depends on, or an
/// empty text. Such a target stands for a machine, but nothing is compiled for it.
std::string word_without_code(const Target &target);
/// The first feature in a target that says what a machine is that C++ is written for, and that no
/// code can be made for, or an empty text.
std::string word_for_cpp_alone(const Target &target);

}  // namespace calotype::internal
