// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/environment.h"

#include <cstdlib>
#include <string>

namespace calotype::internal {

const char *environment(const char *name) {
    for (const char *prefix : {"CT_", "HL_"}) {
        const char *value = std::getenv((std::string(prefix) + name).c_str());
        if (value && *value) {
            return value;
        }
    }
    return nullptr;
}

}  // namespace calotype::internal
