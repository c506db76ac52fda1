// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/nest/extern_stage.h"

#include "support/error.h"

namespace calotype {

Stmt make_extern_stage(const Function &f, LowerContext &) {
    user_error << "func " << f.name() << " is defined by the C function " << f->extern_name
               << ", and extern stages cannot be compiled";
    return Stmt();
}

}  // namespace calotype
