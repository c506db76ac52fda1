// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/failure.h"

#include <string.h>

namespace calotype {
namespace runtime {

static thread_local char kept[1024];

void set_failure(const char *text) {
    if (kept[0]) {
        return;
    }
    size_t length = strlen(text);
    length = length < sizeof kept ? length : sizeof kept - 1;
    memcpy(kept, text, length);
    kept[length] = 0;
}

const char *failure_text() {
    return kept;
}

void clear_failure() {
    kept[0] = 0;
}

}  // namespace runtime
}  // namespace calotype
