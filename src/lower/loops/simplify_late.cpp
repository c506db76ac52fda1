// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/simplify_late.h"

#include "arith/cse.h"
#include "arith/simplify.h"
#include "ir/queries.h"

namespace calotype {

Stmt simplify_late(const Stmt &s, LowerContext &) {
    Stmt result = remove_likelies(lower_promises(s));
    result = simplify(result);
    return internal::common_subexpression_elimination(result);
}

}  // namespace calotype
