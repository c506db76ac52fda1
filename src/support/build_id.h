// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Identifies the build of the running program or shared library.
#pragma once

#include <string>

namespace calotype::internal {

/// Of the program or shared library that holds the function or object: the build ID that the linker
/// wrote into it, else the SHA-256 of its file. "" if it can be told by neither.
std::string build_id_of(const void *address);

}  // namespace calotype::internal
