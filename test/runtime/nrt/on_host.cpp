// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/nrt/on_host.h"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>

#include "runtime/nrt/nrt.cu"

namespace {

std::atomic<int> until_failure{0};
std::atomic<long> live{0}, trapped{0};
#ifdef CALOTYPE_NRT_DEBUG
// A block that is freed is looked at again, to find out that it was, and what goes on after a trap
// leaves blocks that nobody frees.
std::mutex blocks_lock;
std::set<void *> blocks, freed;
#endif

}  // namespace

extern "C" void *nrt_test_allocate(size_t size) {
    if (until_failure > 0 && --until_failure == 0) {
        return nullptr;
    }
    live++;
    void *ptr = malloc(size);
#ifdef CALOTYPE_NRT_DEBUG
    std::lock_guard<std::mutex> guard(blocks_lock);
    blocks.insert(ptr);
#endif
    return ptr;
}

extern "C" void nrt_test_free(void *ptr) {
#ifdef CALOTYPE_NRT_DEBUG
    std::lock_guard<std::mutex> guard(blocks_lock);
    if (!freed.insert(ptr).second) {
        return;  // a trap would have ended it
    }
#else
    free(ptr);
#endif
    live--;
}

extern "C" void nrt_test_trap() {
    trapped++;
}

namespace nrt_on_host {

void reset_heap() {
    until_failure = 0;
    live = trapped = 0;
#ifdef CALOTYPE_NRT_DEBUG
    for (void *ptr : blocks) {
        free(ptr);
    }
    blocks.clear();
    freed.clear();
#endif
}

void fail_allocation(int nth) {
    until_failure = nth;
}

long live_blocks() {
    return live;
}

long traps() {
    return trapped;
}

}  // namespace nrt_on_host
