// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/simplify_early.h"

#include "arith/simplify.h"

namespace calotype::internal {

Stmt simplify_early(const Stmt &s, LowerContext &) {
    return simplify(s);
}

}  // namespace calotype::internal
