// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Environment variables of the runtime; all are read through these functions.
#pragma once

namespace calotype::runtime {

/** The variable's value; null if it is not set. Where CT_NAME is not, HL_NAME counts, by which
 * programs that were written for Halide set the same. In a process that has more rights than its
 * user (setuid, setgid, file capabilities) none is set: variables name libraries to load and files
 * to write. */
const char *environment(const char *name);

}  // namespace calotype::runtime
