// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which device to use, and whether to keep freed device allocations for later.
#include <stdlib.h>

#include "runtime/abi/device_interface.h"
#include "runtime/host/sync.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

/** -1 is a choice as well, so "not chosen yet" is another number. */
static constexpr int not_chosen = -2;
static std::atomic<int> chosen_device{not_chosen};

static constinit Mutex pools_lock;
static calotype_device_allocation_pool *first_pool = nullptr;
static std::atomic<bool> reuse_allocations{false};

CALOTYPE_WEAK void calotype_set_gpu_device(int device) {
    chosen_device.store(device, std::memory_order_relaxed);
}

CALOTYPE_WEAK int calotype_get_gpu_device(void *user_context) {
    (void)user_context;
    int device = chosen_device.load(std::memory_order_relaxed);
    if (device == not_chosen) {
        const char *text = getenv("CT_GPU_DEVICE");
        const int from_environment = text ? atoi(text) : -1;
        // Whoever comes first decides; a device that was set meanwhile stays.
        if (chosen_device.compare_exchange_strong(device, from_environment)) {
            device = from_environment;
        }
    }
    return device;
}

CALOTYPE_WEAK bool calotype_can_reuse_device_allocations(void *user_context) {
    (void)user_context;
    return reuse_allocations.load(std::memory_order_relaxed);
}

CALOTYPE_WEAK int calotype_reuse_device_allocations(void *user_context, bool reuse) {
    reuse_allocations.store(reuse, std::memory_order_relaxed);
    int code = 0;
    if (!reuse) {
        LockGuard lock(pools_lock);
        for (calotype_device_allocation_pool *p = first_pool; p; p = p->next) {
            const int result = p->release_unused(user_context);
            code = code ? code : result;
        }
    }
    return code;
}

CALOTYPE_WEAK void calotype_register_device_allocation_pool(calotype_device_allocation_pool *pool) {
    LockGuard lock(pools_lock);
    for (const calotype_device_allocation_pool *p = first_pool; p; p = p->next) {
        if (p == pool) {
            return;  // or the list would have no end
        }
    }
    pool->next = first_pool;
    first_pool = pool;
}
