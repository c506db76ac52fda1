// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of products that come round a loop.
#pragma once

#include <llvm/IR/Module.h>

#include "target/target.h"

namespace calotype::internal {

/// Where an iteration adds several products to what it carries, they are added up among themselves first:
///
///     %a = add %carried, %product1            ->      %a = add %product1, %product2
///     %next = add %a, %product2                       %next = add %carried, %a
///
/// A product and a sum are one instruction (VNNI), which takes as long as a product: a chain of them is what the
/// loop waits for, if it does not have more other work than that. Added last, it costs an instruction more. Last of all, as LLVM's
/// own order of sums begins with what is carried.
void add_products_before_carried(llvm::Module &module, const Target &target);

}  // namespace calotype::internal
