// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/memory/allocators.h"

#include <new>
#include <stdlib.h>

#include "runtime/cuda/context.h"
#include "runtime/cuda/memory/device_pool.h"
#include "runtime/cuda/memory/memory.h"
#include "runtime/device/failure.h"
#include "runtime/host/call_guarded.h"

namespace calotype {
namespace runtime {
namespace cuda {

namespace {

constinit std::atomic<Allocator *> newest{nullptr};  ///< of the application's
constinit std::atomic<const Allocator *> current{&device_pool};

struct DeviceMemory {
    std::atomic<uint64_t> in_use, peak, allocations, frees, retries, limit;
    std::atomic<uint64_t> kept_limit{CALOTYPE_KEEP_DEFAULT};
    std::atomic<uint32_t> pieces;
};
constinit DeviceMemory devices[max_devices] = {};

template<typename Visit>
void for_each_allocator(Visit visit) {
    visit(device_pool.functions);
    for (const Allocator *a = newest.load(std::memory_order_acquire); a; a = a->next) {
        visit(a->functions);
    }
}

calotype_status note_exception() {
    set_failure("the device allocator threw an exception");
    return CALOTYPE_E_DEVICE;
}

calotype_status check_address(const Allocator &from, const calotype_device_place &place,
                              uint64_t bytes, uint64_t address) {
    if (address != 0 && address % calotype_device_alignment == 0) {
        return CALOTYPE_OK;
    }
    set_failure(Text() << "the device allocator answered the address "
                       << reinterpret_cast<void *>(address) << ", must be a multiple of "
                       << int(calotype_device_alignment) << " and not 0");
    if (address) {
        call_free(from, place, address, bytes);
    }
    return CALOTYPE_E_DEVICE;
}

}  // namespace

const Allocator *current_allocator() {
    return current.load(std::memory_order_acquire);
}

calotype_status call_allocate(const Allocator &from, const calotype_device_place &place,
                              uint64_t bytes, uint64_t *address) {
    const calotype_device_allocator &f = from.functions;
    calotype_status status = CALOTYPE_E_DEVICE;
    *address = 0;
    if (&from == &device_pool) {
        return f.allocate(f.self, &place, bytes, address);
    }
    if (!call_guarded([&] { status = f.allocate(f.self, &place, bytes, address); })) {
        return note_exception();
    }
    if (status == CALOTYPE_OK) {
        return check_address(from, place, bytes, *address);
    }
    set_failure(Text() << "the device allocator answered status " << int(status));
    return status == CALOTYPE_E_OOM ? status : CALOTYPE_E_DEVICE;
}

calotype_status call_free(const Allocator &to, const calotype_device_place &place, uint64_t address,
                          uint64_t bytes) {
    const calotype_device_allocator &f = to.functions;
    calotype_status status = CALOTYPE_E_DEVICE;
    if (&to == &device_pool) {
        return f.free(f.self, &place, address, bytes);
    }
    if (!call_guarded([&] { status = f.free(f.self, &place, address, bytes); })) {
        return note_exception();
    }
    if (status != CALOTYPE_OK) {
        set_failure(Text() << "the device allocator answered status " << int(status)
                           << " to a free of " << bytes << " bytes");
    }
    return status;
}

void call_trim(int device, uint64_t keep) {
    const calotype_device_place place = {sizeof place, device, nullptr, nullptr, nullptr};
    for_each_allocator([&](const calotype_device_allocator &f) {
        if (f.trim) {
            call_guarded([&] { f.trim(f.self, &place, keep); });
        }
    });
}

uint64_t kept_by_allocators(int device) {
    uint64_t sum = 0;
    for_each_allocator([&](const calotype_device_allocator &f) {
        if (f.kept) {
            call_guarded([&] { sum += f.kept(f.self, device); });
        }
    });
    return sum;
}

calotype_status set_allocator(const calotype_device_allocator *allocator) {
    if (!allocator) {
        current.store(&device_pool, std::memory_order_release);
        return CALOTYPE_OK;
    }
    void *memory = malloc(sizeof(Allocator));
    if (!memory) {
        return CALOTYPE_E_OOM;
    }
    Allocator *added = new (memory) Allocator{*allocator, newest.load(std::memory_order_relaxed)};
    while (!newest.compare_exchange_weak(added->next, added)) {
    }
    current.store(added, std::memory_order_release);
    return CALOTYPE_OK;
}

// ---- counts and limits -----------------------------------------------------------------------

void note_in_use(int device, uint64_t bytes) {
    DeviceMemory &d = devices[device];
    const uint64_t now = d.in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    uint64_t peak = d.peak.load(std::memory_order_relaxed);
    while (now > peak && !d.peak.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
    d.pieces.fetch_add(1, std::memory_order_relaxed);
    d.allocations.fetch_add(1, std::memory_order_relaxed);
}

void note_not_in_use(int device, uint64_t bytes) {
    DeviceMemory &d = devices[device];
    d.in_use.fetch_sub(bytes, std::memory_order_relaxed);
    d.pieces.fetch_sub(1, std::memory_order_relaxed);
    d.frees.fetch_add(1, std::memory_order_relaxed);
}

void count_retry(int device) {
    devices[device].retries.fetch_add(1, std::memory_order_relaxed);
}

uint64_t memory_in_use(int device) {
    return devices[device].in_use.load(std::memory_order_relaxed);
}

uint64_t memory_limit(int device) {
    return devices[device].limit.load(std::memory_order_relaxed);
}

uint64_t release_threshold(int device) {
    const uint64_t limit = devices[device].kept_limit.load(std::memory_order_relaxed);
    const DeviceInfo *info = limit == CALOTYPE_KEEP_DEFAULT ? device_info(device) : nullptr;
    return limit != CALOTYPE_KEEP_DEFAULT ? limit : info ? info->memory / 8 : 0;
}

calotype_status set_memory_limits(const calotype_memory_limits &limits) {
    if (limits.device >= max_devices || limits.device < -1) {
        return CALOTYPE_E_INVALID;
    }
    const int first = limits.device < 0 ? 0 : limits.device;
    const int end = limits.device < 0 ? max_devices : limits.device + 1;
    for (int i = first; i < end; i++) {
        devices[i].limit.store(limits.bytes, std::memory_order_relaxed);
        devices[i].kept_limit.store(limits.kept_bytes, std::memory_order_relaxed);
        set_pool_limit(i, limits.kept_bytes);
    }
    return CALOTYPE_OK;
}

void add_stats_of_device(int device, calotype_memory_stats *stats) {
    const DeviceMemory &d = devices[device];
    stats->pieces += d.pieces.load(std::memory_order_relaxed);
    stats->in_use += d.in_use.load(std::memory_order_relaxed);
    stats->kept += kept_by_allocators(device);
    stats->peak += d.peak.load(std::memory_order_relaxed);
    stats->allocations += d.allocations.load(std::memory_order_relaxed);
    stats->frees += d.frees.load(std::memory_order_relaxed);
    stats->retries += d.retries.load(std::memory_order_relaxed);
}

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
