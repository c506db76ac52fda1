// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/host/environment.h"

#include <stdlib.h>
#include <unistd.h>

namespace calotype {
namespace runtime {

const char *environment(const char *name) {
#if defined(__linux__)
    return secure_getenv(name);
#else
    return issetugid() ? nullptr : getenv(name);
#endif
}

}  // namespace runtime
}  // namespace calotype
