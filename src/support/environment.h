// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Environment variables of the compiler; all are read through these functions.
#pragma once

namespace calotype::internal {

/// The value of CT_NAME or, where that is not set or empty, of HL_NAME, by which programs that were
/// written for Halide set the same; null if there is neither.
const char *environment(const char *name);

}  // namespace calotype::internal
