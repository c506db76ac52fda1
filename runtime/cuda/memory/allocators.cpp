// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/memory/allocators.h"

#include <new>
#include <stdlib.h>

#include "runtime/cuda/memory/memory.h"
#include "runtime/device/failure.h"
#include "runtime/host/call_guarded.h"

namespace calotype::runtime::cuda {

namespace {

constinit std::atomic<Allocator *> newest{nullptr};  ///< of the application's
constinit std::atomic<const Allocator *> current{&device_pool};

template<typename Visit>
void for_each_allocator(Visit visit) {
    visit(device_pool.functions);
    for (const Allocator *a = newest.load(std::memory_order_acquire); a; a = a->next) {
        visit(a->functions);
    }
}

calotype_status note_exception() {
    return fail_with(CALOTYPE_E_DEVICE, "the device allocator threw an exception");
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
    return fail_with(status == CALOTYPE_E_OOM ? status : CALOTYPE_E_DEVICE,
                     Text() << "the device allocator answered status " << int(status));
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

constinit DeviceMemory device_memory[max_devices] = {};

void DeviceMemory::note_allocation(uint64_t bytes) {
    const uint64_t now = in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    uint64_t before = peak.load(std::memory_order_relaxed);
    while (now > before && !peak.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
    }
    pieces.fetch_add(1, std::memory_order_relaxed);
    allocations.fetch_add(1, std::memory_order_relaxed);
}

void DeviceMemory::note_free(uint64_t bytes) {
    in_use.fetch_sub(bytes, std::memory_order_relaxed);
    pieces.fetch_sub(1, std::memory_order_relaxed);
    frees.fetch_add(1, std::memory_order_relaxed);
}

uint64_t release_threshold(const DeviceInfo &device) {
    const uint64_t limit = device_memory[device.device].kept_limit.load(std::memory_order_relaxed);
    return limit == CALOTYPE_KEEP_DEFAULT ? device.memory / 8 : limit;
}

calotype_status set_memory_limits(const calotype_memory_limits &limits) {
    if (limits.device >= max_devices || limits.device < -1) {
        return CALOTYPE_E_INVALID;
    }
    const int first = limits.device < 0 ? 0 : limits.device;
    const int end = limits.device < 0 ? max_devices : limits.device + 1;
    for (int i = first; i < end; i++) {
        device_memory[i].limit.store(limits.bytes, std::memory_order_relaxed);
        device_memory[i].kept_limit.store(limits.kept_bytes, std::memory_order_relaxed);
        update_pool(i);
    }
    return CALOTYPE_OK;
}

}  // namespace calotype::runtime::cuda
