// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/memory/allocators.h"

#include "runtime/cuda/captures.h"
#include "runtime/device/failure.h"

namespace calotype::runtime::cuda {

namespace {

constinit std::atomic<CUmemoryPool> pools[max_devices];

CUstream stream_of(const calotype_device_place &place) {
    return static_cast<CUstream>(place.stream);
}

void set_threshold(CUmemoryPool pool, const DeviceInfo &device) {
    uint64_t bytes = release_threshold(device);
    driver().cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &bytes);
}

/** Of two threads that make the pool of a device at once one gives up its own. */
CUresult find_pool(const DeviceInfo &device, CUmemoryPool *pool) {
    std::atomic<CUmemoryPool> &place = pools[device.device];
    *pool = place.load(std::memory_order_acquire);
    if (*pool) {
        return CUDA_SUCCESS;
    }
    const AllowedInCaptures allowed;
    CUmemPoolProps properties;
    properties.location_id = device.device;
    CUmemoryPool made = nullptr;
    if (CUresult code = invoke(&Driver::cuMemPoolCreate, &made, &properties)) {
        return code;
    }
    set_threshold(made, device);
    if (place.compare_exchange_strong(*pool, made)) {
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
        return status_of(invoke(&Driver::cuMemAlloc, address, bytes));
    }
    if (CUresult code = find_pool(*device, &pool)) {
        return status_of(code);
    }
    return status_of(
        invoke(&Driver::cuMemAllocFromPoolAsync, address, bytes, pool, stream_of(*place)));
}

/** Plain memory went with its context; that of a pool is the device's. */
calotype_status deallocate(void *, const calotype_device_place *place, uint64_t address, uint64_t) {
    const DeviceInfo *device = device_info(place->device);
    const AllowedInCaptures allowed;
    if (place->context && device && device->has_pools) {
        return status_of(invoke(&Driver::cuMemFreeAsync, address, stream_of(*place)));
    }
    return place->context || (device && device->has_pools)
               ? status_of(invoke(&Driver::cuMemFree, address))
               : CALOTYPE_OK;
}

void trim(void *, const calotype_device_place *place, uint64_t keep) {
    if (CUmemoryPool pool = pools[place->device].load(std::memory_order_acquire)) {
        driver().cuMemPoolTrimTo(pool, keep);
    }
}

uint64_t kept(void *, int32_t device) {
    CUmemoryPool pool = pools[device].load(std::memory_order_acquire);
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

void update_pool(int device) {
    if (CUmemoryPool pool = pools[device].load(std::memory_order_acquire)) {
        set_threshold(pool, *device_info(device));
    }
}

void forget_pools() {
    for (std::atomic<CUmemoryPool> &pool : pools) {
        pool.store(nullptr);
    }
}

}  // namespace calotype::runtime::cuda
