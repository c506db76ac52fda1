// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/simplify_early.h"

#include "arith/finite_floats.h"

namespace calotype::internal {

Stmt simplify_early(const Stmt &s, LowerContext &ctx) {
    return ctx.target.has_feature(Target::StrictFloat) ? simplify(s) : simplify_finite(s);
}

}  // namespace calotype::internal
