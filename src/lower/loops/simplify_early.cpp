// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/simplify_early.h"

namespace calotype::internal {

Stmt simplify_early(const Stmt &s, LowerContext &ctx) {
    return ctx.simplified(s);
}

}  // namespace calotype::internal
