// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The public functions on device memory, for whichever back end has addresses.
#include "runtime/abi/device_memory.h"

#include <string.h>

#include "runtime/abi/device_interface_impl.h"
#include "runtime/device/cache/kernel_cache.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

static calotype_status refuse(const char *text) {
    return fail(CALOTYPE_E_INVALID, text);
}

/** Null, with the failure described: it has none that can be controlled. */
static const DeviceMemoryControl *memory_of(const calotype_device_interface_t *device_interface) {
    const KernelBackend *backend = backend_of(device_interface);
    if (!backend) {
        refuse("a device that runs kernels is needed");
    } else if (!backend->memory) {
        fail(CALOTYPE_E_INVALID,
             Text() << "device memory of " << backend->name
                    << " has no addresses, so no allocator, limits or statistics of it");
    }
    return backend ? backend->memory : nullptr;
}

CALOTYPE_WEAK calotype_status
calotype_set_device_allocator(const calotype_device_interface_t *device_interface,
                              const calotype_device_allocator *allocator) {
    const DeviceMemoryControl *memory = memory_of(device_interface);
    if (!memory) {
        return CALOTYPE_E_INVALID;
    }
    if (allocator && allocator->size < sizeof *allocator) {
        return refuse("calotype_device_allocator::size is less than that of the structure");
    }
    if (allocator && (!allocator->allocate || !allocator->free)) {
        return refuse("a device allocator needs the functions allocate and free");
    }
    return memory->set_allocator(allocator);
}

CALOTYPE_WEAK calotype_status calotype_set_memory_limits(
    const calotype_device_interface_t *device_interface, const calotype_memory_limits *limits) {
    const DeviceMemoryControl *memory = memory_of(device_interface);
    if (!memory) {
        return CALOTYPE_E_INVALID;
    }
    if (!limits || limits->size < sizeof *limits) {
        return refuse("calotype_memory_limits::size is less than that of the structure");
    }
    return memory->set_limits(*limits) == CALOTYPE_OK
               ? CALOTYPE_OK
               : refuse("calotype_memory_limits::device is not the number of a device or -1");
}

CALOTYPE_WEAK calotype_status
calotype_get_memory_stats(const calotype_device_interface_t *device_interface, int32_t device,
                          calotype_memory_stats *stats) {
    const DeviceMemoryControl *memory = memory_of(device_interface);
    if (!memory) {
        return CALOTYPE_E_INVALID;
    }
    if (!stats || stats->size < sizeof stats->size) {
        return refuse("calotype_memory_stats::size is less than that of the structure");
    }
    if (device < -1 || device > 63) {
        return refuse("the device is not the number of one or -1");
    }
    calotype_memory_stats sum = {};
    memory->add_stats(device, &sum);
    sum.size = stats->size < sizeof sum ? stats->size : uint32_t(sizeof sum);
    memcpy(stats, &sum, sum.size);
    return CALOTYPE_OK;
}
