// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/memory/device_pool.h"

#include "runtime/cuda/captures.h"
#include "runtime/cuda/context.h"
#include "runtime/device/failure.h"

namespace calotype {
namespace runtime {
namespace cuda {

namespace {

struct DevicePool {
    std::atomic<CUmemoryPool> pool{nullptr};
    std::atomic<uint64_t> kept_bytes{CALOTYPE_KEEP_DEFAULT};
};
constinit DevicePool pools[max_devices];

CUstream stream_of(const calotype_device_place &place) {
    return static_cast<CUstream>(place.stream);
}

CUresult set_threshold(CUmemoryPool pool, uint64_t kept_bytes, const DeviceInfo &device) {
    uint64_t bytes = kept_bytes == CALOTYPE_KEEP_DEFAULT ? device.memory / 8 : kept_bytes;
    return driver().cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &bytes);
}

/** Of two threads that make the pool of a device at once one gives up its own. */
CUresult find_pool(const DeviceInfo &device, CUmemoryPool *pool) {
    DevicePool &place = pools[device.device];
    *pool = place.pool.load(std::memory_order_acquire);
    if (*pool) {
        return CUDA_SUCCESS;
    }
    const AllowedInCaptures allowed;
    CUmemPoolProps properties;
    properties.location_id = device.device;
    CUmemoryPool made = nullptr;
    if (CUresult code =
            note_failure("cuMemPoolCreate", driver().cuMemPoolCreate(&made, &properties))) {
        return code;
    }
    set_threshold(made, place.kept_bytes.load(std::memory_order_relaxed), device);
    if (place.pool.compare_exchange_strong(*pool, made)) {
        *pool = made;
    } else {
        driver().cuMemPoolDestroy(made);
    }
    return CUDA_SUCCESS;
}

calotype_status allocate(void *, const calotype_device_place *place, uint64_t bytes,
                         uint64_t *address) {
    const DeviceInfo *device = device_info(place->device);
    CUmemoryPool pool = nullptr;
    if (!device) {
        return CALOTYPE_E_DEVICE;
    }
    if (!device->has_pools) {
        const AllowedInCaptures allowed;
        return status_of(note_failure("cuMemAlloc", driver().cuMemAlloc(address, bytes)));
    }
    if (CUresult code = find_pool(*device, &pool)) {
        return status_of(code);
    }
    return status_of(
        note_failure("cuMemAllocFromPoolAsync",
                     driver().cuMemAllocFromPoolAsync(address, bytes, pool, stream_of(*place))));
}

/** Plain memory went with its context; that of a pool is the device's. */
calotype_status deallocate(void *, const calotype_device_place *place, uint64_t address, uint64_t) {
    const DeviceInfo *device = device_info(place->device);
    const AllowedInCaptures allowed;
    if (place->context && device && device->has_pools) {
        return status_of(
            note_failure("cuMemFreeAsync", driver().cuMemFreeAsync(address, stream_of(*place))));
    }
    return place->context || (device && device->has_pools)
               ? status_of(note_failure("cuMemFree", driver().cuMemFree(address)))
               : CALOTYPE_OK;
}

void trim(void *, const calotype_device_place *place, uint64_t keep) {
    if (CUmemoryPool pool = pools[place->device].pool.load(std::memory_order_acquire)) {
        driver().cuMemPoolTrimTo(pool, keep);
    }
}

uint64_t kept(void *, int32_t device) {
    CUmemoryPool pool = pools[device].pool.load(std::memory_order_acquire);
    uint64_t reserved = 0, used = 0;
    const Driver *d = found_driver.load(std::memory_order_acquire);
    if (!pool || !d || !d->cuMemPoolGetAttribute ||
        d->cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved) ||
        d->cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used)) {
        return 0;
    }
    return reserved > used ? reserved - used : 0;
}

}  // namespace

constinit const Allocator device_pool = {
    {sizeof(calotype_device_allocator), nullptr, allocate, deallocate, trim, kept}, nullptr};

void set_pool_limit(int device, uint64_t kept_bytes) {
    DevicePool &place = pools[device];
    place.kept_bytes.store(kept_bytes, std::memory_order_relaxed);
    if (CUmemoryPool pool = place.pool.load(std::memory_order_acquire)) {
        set_threshold(pool, kept_bytes, *device_info(device));
    }
}

void forget_pools() {
    for (DevicePool &place : pools) {
        place.pool.store(nullptr);
        place.kept_bytes.store(CALOTYPE_KEEP_DEFAULT);
    }
}

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
