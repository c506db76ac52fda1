// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The devices of the machine: enumeration, choice, and properties.
#include <string.h>

#include "runtime/abi/device_interface.h"
#include "runtime/abi/runtime_cuda.h"
#include "runtime/cuda/context.h"
#include "runtime/device/device_options.h"
#include "runtime/device/failure.h"
#include "runtime/host/weak.h"

namespace calotype::runtime::cuda {

namespace {

constinit Mutex devices_lock;
DeviceInfo infos[max_devices];
std::atomic<bool> is_filled[max_devices];
constexpr int not_known = -1;

bool ask(CUdevice device, CUdevice_attribute attribute, int *value) {
    return invoke(&Driver::cuDeviceGetAttribute, value, attribute, device) == CUDA_SUCCESS;
}

bool fill(int ordinal, DeviceInfo *info) {
    const Driver &d = driver();
    if (invoke(&Driver::cuDeviceGet, &info->device, ordinal) != CUDA_SUCCESS) {
        return false;
    }
    int major = 0, minor = 0, pools = 0;
    const struct {
        CUdevice_attribute attribute;
        int *value;
    } questions[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &info->multiprocessors},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &info->max_shared},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &info->max_shared_opt_in},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &info->max_threads},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, &info->max_block[0]},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, &info->max_block[1]},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, &info->max_block[2]},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, &info->max_grid[0]},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, &info->max_grid[1]},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, &info->max_grid[2]},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, &info->max_registers},
        {CU_DEVICE_ATTRIBUTE_MAX_PITCH, &info->max_pitch},
    };
    for (const auto &question : questions) {
        if (!ask(info->device, question.attribute, question.value)) {
            return false;
        }
    }
    info->sm = major * 10 + minor;
    // Drivers before 11.2 do not know the question.
    d.cuDeviceGetAttribute(&pools, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, info->device);
    info->has_pools = d.has_pools && pools != 0;
    size_t memory = 0;
    d.cuDeviceTotalMem(&memory, info->device);
    info->memory = memory;
    if (d.cuDeviceGetName(info->name, int(sizeof info->name), info->device) != CUDA_SUCCESS) {
        strcpy(info->name, "unnamed device");
    }
    return true;
}

/** The one with the most multiprocessors, or -1. */
int find_largest() {
    int best = -1, most = 0;
    for (int i = 0; i < driver().devices && i < max_devices; i++) {
        const DeviceInfo *info = device_info(i);
        if (!info) {
            return -1;
        }
        if (info->multiprocessors > most) {
            best = i;
            most = info->multiprocessors;
        }
    }
    return best;
}

}  // namespace

constinit std::atomic<int> largest_device{not_known};

const DeviceInfo *device_info(int ordinal) {
    if (is_filled[ordinal].load(std::memory_order_acquire)) {
        return &infos[ordinal];
    }
    LockGuard lock(devices_lock);
    if (!is_filled[ordinal].load(std::memory_order_relaxed)) {
        if (!fill(ordinal, &infos[ordinal])) {
            return nullptr;
        }
        is_filled[ordinal].store(true, std::memory_order_release);
    }
    return &infos[ordinal];
}

int device_of_number(int wanted) {
    const int count = driver().devices < max_devices ? driver().devices : max_devices;
    if (wanted >= count) {
        Text text;
        explain_device_number(wanted, "CUDA", count, &text);
        return fail_with(-1, text);
    }
    if (wanted >= 0) {
        return wanted;
    }
    int ordinal = largest_device.load(std::memory_order_relaxed);
    if (ordinal == not_known) {
        ordinal = find_largest();
        largest_device.store(ordinal, std::memory_order_relaxed);
    }
    return ordinal;
}

void forget_device_infos() {
    LockGuard lock(devices_lock);
    for (std::atomic<bool> &filled : is_filled) {
        filled.store(false);
    }
    largest_device.store(not_known);
}

/** The chosen one, or null with the failure kept. */
static const DeviceInfo *find_chosen_device() {
    if (!find_driver()) {
        return nullptr;
    }
    const int ordinal = chosen_device(nullptr);
    return ordinal >= 0 ? device_info(ordinal) : nullptr;
}

/** Whether the device will do; if not, why is kept as the failure. */
static bool will_do(int min_capability) {
    const DeviceInfo *info = find_chosen_device();
    if (!info) {
        return false;
    }
    if (info->sm < min_capability) {
        return fail_with(false, Text() << "compute capability " << min_capability / 10 << '.'
                                       << min_capability % 10 << " is needed, CUDA device "
                                       << int(info - infos) << " (" << info->name << ") has "
                                       << info->sm / 10 << '.' << info->sm % 10);
    }
    return true;
}

}  // namespace calotype::runtime::cuda

using namespace calotype::runtime;

CALOTYPE_WEAK int calotype_cuda_can_run(int min_capability) {
    const FailureScope ignored;
    return cuda::will_do(min_capability);
}

CALOTYPE_WEAK int calotype_cuda_capability() {
    const FailureScope ignored;
    const cuda::DeviceInfo *info = cuda::find_chosen_device();
    return info ? info->sm : -1;
}

CALOTYPE_WEAK void calotype_cuda_explain(int min_capability, char *text, size_t size) {
    if (size == 0) {
        return;
    }
    const FailureScope failures;
    const char *why = cuda::will_do(min_capability) ? "" : failure_text();
    size_t length = strlen(why);
    length = length < size ? length : size - 1;
    memcpy(text, why, length);
    text[length] = 0;
}
