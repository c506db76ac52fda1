// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/failure.h"

#include <atomic>
#include <string.h>

#include "runtime/abi/hooks.h"

namespace calotype {
namespace runtime {

static constinit std::atomic<bool> are_reports_over{false};
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

void report_error(void *user_context, const char *message) {
    if (!are_reports_over.load(std::memory_order_relaxed)) {
        calotype_error(user_context, message);
    }
}

void end_reports() {
    are_reports_over.store(true, std::memory_order_relaxed);
}

}  // namespace runtime
}  // namespace calotype
