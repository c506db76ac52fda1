// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run_memory.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "../abi/memory.h"

namespace calotype {
namespace run {

namespace {

struct Tracker {
    std::mutex mutex;
    std::map<void *, uint64_t> sizes;
    uint64_t now = 0, most = 0;
};

/** The hooks of the runtime have no argument that could name it. */
Tracker &tracker() {
    static Tracker the_tracker;
    return the_tracker;
}

void *tracked_malloc(void *user_context, size_t size) {
    void *memory = calotype_default_malloc(user_context, size);
    Tracker &t = tracker();
    std::lock_guard<std::mutex> lock(t.mutex);
    if (memory) {
        t.sizes[memory] = size;
        t.now += size;
        t.most = std::max(t.most, t.now);
    }
    return memory;
}

void tracked_free(void *user_context, void *memory) {
    Tracker &t = tracker();
    {
        std::lock_guard<std::mutex> lock(t.mutex);
        const auto found = t.sizes.find(memory);
        if (found != t.sizes.end()) {
            t.now -= found->second;
            t.sizes.erase(found);
        }
    }
    calotype_default_free(user_context, memory);
}

}  // namespace

void track_memory() {
    calotype_set_custom_malloc(tracked_malloc);
    calotype_set_custom_free(tracked_free);
}

uint64_t most_memory() {
    Tracker &t = tracker();
    std::lock_guard<std::mutex> lock(t.mutex);
    return t.most;
}

}  // namespace run
}  // namespace calotype
