// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/nest/name_shared.h"

#include "arith/cse.h"

namespace calotype::internal {

Stmt name_shared(const Stmt &s, LowerContext &) {
    return name_repeated(s);
}

}  // namespace calotype::internal
