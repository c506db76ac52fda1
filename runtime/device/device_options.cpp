// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options: device and context to use, and whether freed device allocations are kept for reuse.
#include "runtime/device/device_options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "runtime/abi/device_context.h"
#include "runtime/abi/device_interface.h"
#include "runtime/host/data/list.h"
#include "runtime/host/environment.h"
#include "runtime/host/sync.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

/** -1 is a choice as well, so "not chosen yet" is another number. */
static constexpr int not_chosen = -2;
/** No device has that number. */
static constexpr int not_a_number = INT_MAX;
static std::atomic<int> chosen_device{not_chosen};

static constinit Mutex pools_lock;
static calotype_device_allocation_pool *first_pool = nullptr;
enum class Reuse { Unsaid, Off, On };
static std::atomic<Reuse> reuse_allocations{Reuse::Unsaid};

static int number_in_environment() {
    const char *text = environment("CT_GPU_DEVICE");
    if (!text || !*text) {
        return -1;
    }
    char *end = nullptr;
    errno = 0;
    const long number = strtol(text, &end, 10);
    return *end || errno || number < -1 || number >= not_a_number ? not_a_number : int(number);
}

namespace calotype::runtime {

void name_chosen_device(int number, Text *text) {
    const char *setting = number == not_a_number ? environment("CT_GPU_DEVICE") : nullptr;
    if (setting) {
        *text << "CT_GPU_DEVICE is \"" << setting << '"';
    } else {
        *text << "device " << number << " is chosen";
    }
}

void explain_device_number(int number, const char *kind, int count, Text *text) {
    name_chosen_device(number, text);
    *text << ", but there " << (count == 1 ? "is one " : "are ") << kind
          << (count == 1 ? " device, number 0" : " devices, numbers 0 to ");
    if (count > 1) {
        *text << count - 1;
    }
}

bool is_reuse_unsaid() {
    return reuse_allocations.load(std::memory_order_relaxed) == Reuse::Unsaid;
}

}  // namespace calotype::runtime

CALOTYPE_WEAK void calotype_set_gpu_device(int device) {
    chosen_device.store(device, std::memory_order_relaxed);
}

CALOTYPE_WEAK int calotype_get_gpu_device(void *user_context) {
    int device = chosen_device.load(std::memory_order_relaxed);
    if (device == not_chosen) {
        const int from_environment = number_in_environment();
        // Whoever comes first decides; a device that was set meanwhile stays.
        if (chosen_device.compare_exchange_strong(device, from_environment)) {
            device = from_environment;
        }
    }
    return device;
}

CALOTYPE_WEAK bool calotype_can_reuse_device_allocations(void *user_context) {
    return reuse_allocations.load(std::memory_order_relaxed) == Reuse::On;
}

CALOTYPE_WEAK int calotype_reuse_device_allocations(void *user_context, bool reuse) {
    reuse_allocations.store(reuse ? Reuse::On : Reuse::Off, std::memory_order_relaxed);
    int code = 0;
    if (!reuse) {
        // Pools stay registered, so that the list can be walked without the lock.
        const calotype_device_allocation_pool *pool = nullptr;
        {
            LockGuard guard(pools_lock);
            pool = first_pool;
        }
        for (; pool; pool = pool->next) {
            const int result = pool->release_unused(user_context);
            code = code ? code : result;
        }
    }
    return code;
}

CALOTYPE_WEAK void calotype_register_device_allocation_pool(calotype_device_allocation_pool *pool) {
    LockGuard lock(pools_lock);
    const auto is_it = [=](const calotype_device_allocation_pool &p) {
        return &p == pool;
    };
    if (!find_in(first_pool, is_it)) {  // or the list would have no end
        push(first_pool, pool);
    }
}

/** An aligned word never reaches into the next page, so reading it is safe whatever the user
 * context points at, though it may be less than a word. */
__attribute__((no_sanitize("address", "thread"))) static uint64_t first_word(const void *address) {
    return *static_cast<const volatile uint64_t *>(address);
}

CALOTYPE_WEAK const calotype_device_context *calotype_get_device_context(const void *user_context) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(user_context);
    if (address <= 4096 || address % 8 != 0 ||
        first_word(user_context) != CALOTYPE_DEVICE_CONTEXT_MAGIC) {
        return nullptr;
    }
    return static_cast<const calotype_device_context *>(user_context);
}
