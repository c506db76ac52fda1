// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/edits.h"

#include <atomic>

namespace calotype::internal {

namespace {
std::atomic<uint64_t> edits{0};
}

uint64_t edit_count() {
    return edits.load(std::memory_order_acquire);
}

void count_edit() {
    edits.fetch_add(1, std::memory_order_acq_rel);
}

}  // namespace calotype::internal
