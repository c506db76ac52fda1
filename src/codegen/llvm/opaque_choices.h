// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keeps LLVM's loop strength reduction from computing again what loops do not change.
#pragma once

#include <llvm/IR/Module.h>

namespace calotype::internal {

/// The bounds of loops and the corners of regions are minima, maxima and quotients of one another.
/// Loop strength reduction takes all that an address is made of for one formula, and expands it once
/// more before each loop: most of the time that code generation took, and instructions for nothing.
/// So such integers, where another block uses them, are frozen: a value of which nothing is known but
/// that it is the same in the loop. Last of all, as other optimisations should see through them.
void make_choices_opaque(llvm::Module &module);

}  // namespace calotype::internal
