// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/host/environment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace calotype::runtime {

static const char *value_of(const char *name) {
#if defined(__linux__)
    return secure_getenv(name);
#else
    return issetugid() ? nullptr : getenv(name);
#endif
}

const char *environment(const char *name) {
    const char *value = value_of(name);
    char other[64];
    if (value || strncmp(name, "CT_", 3) != 0 || strlen(name) >= sizeof other) {
        return value;
    }
    memcpy(other, "HL_", 3);
    strcpy(other + 3, name + 3);
    return value_of(other);
}

}  // namespace calotype::runtime
