// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The context and queue of calls that bring none of their own: one of each for a device, made when
// it is first used.
#include "runtime/abi/device_context.h"
#include "runtime/abi/runtime_opencl.h"
#include "runtime/device/device_options.h"
#include "runtime/host/sync.h"
#include "runtime/host/weak.h"
#include "runtime/opencl/context.h"
#include "runtime/opencl/devices.h"
#include "runtime/opencl/driver.h"
#include "runtime/opencl/errors.h"

namespace calotype::runtime::opencl {

namespace {

/** The queue is there before the context is. */
struct Default {
    std::atomic<cl_context> context;
    std::atomic<cl_command_queue> queue;
};

/** By the number of the device. */
constexpr int max_index = 63;
Default defaults[max_index + 1];
constinit Mutex defaults_lock;

/** The same as explain(), with the device's name. */
calotype_status explain_on(const Device &device, cl_int error, const char *function) {
    char name[256] = {};
    cl().clGetDeviceInfo(device.id, CL_DEVICE_NAME, sizeof name - 1, name, nullptr);
    return fail_with(status_of(error), describe_error(error, function) << " on " << name);
}

calotype_status create_context(const Device &device, cl_context *context, cl_command_queue *queue) {
    const cl_properties properties[] = {CL_CONTEXT_PLATFORM,
                                        reinterpret_cast<cl_properties>(device.platform), 0};
    cl_int error = CL_SUCCESS;
    *context = cl().clCreateContext(properties, 1, &device.id, nullptr, nullptr, &error);
    if (error != CL_SUCCESS) {
        return explain_on(device, error, "clCreateContext");
    }
    *queue = cl().clCreateCommandQueue(*context, device.id, 0, &error);
    if (error != CL_SUCCESS) {
        cl().clReleaseContext(*context);
        return explain_on(device, error, "clCreateCommandQueue");
    }
    return CALOTYPE_OK;
}

/** With the lock held. */
calotype_status fill(void *user_context, int index, Default *slot) {
    Device device;
    cl_context context = nullptr;
    cl_command_queue queue = nullptr;
    calotype_status status = choose_device(user_context, index, &device);
    status = status == CALOTYPE_OK ? create_context(device, &context, &queue) : status;
    if (status == CALOTYPE_OK) {
        slot->queue.store(queue, std::memory_order_relaxed);
        slot->context.store(context, std::memory_order_release);
    }
    return status;
}

/** Those of the device that this call chooses, made if they are not there and `create` is set. */
calotype_status acquire_default_context(void *user_context, cl_context *context,
                                        cl_command_queue *queue, bool create) {
    const int index = calotype_get_gpu_device(user_context);
    if (index < -1 || index > max_index) {
        Text text;
        name_chosen_device(index, &text);
        return fail_with(CALOTYPE_E_INVALID, text << "; OpenCL devices have numbers 0 to "
                                                  << max_index
                                                  << ", -1 is the one that seems fastest");
    }
    Default &slot = defaults[index < 0 ? 0 : index];
    *context = slot.context.load(std::memory_order_acquire);
    if (!*context && create) {
        LockGuard lock(defaults_lock);
        if (!slot.context.load(std::memory_order_relaxed)) {
            if (const calotype_status status = fill(user_context, index, &slot)) {
                return status;
            }
        }
        *context = slot.context.load(std::memory_order_relaxed);
    }
    *queue = slot.queue.load(std::memory_order_relaxed);
    return CALOTYPE_OK;
}

int from_device_context(const calotype_device_context &given, cl_context *context,
                        cl_command_queue *queue) {
    *context = static_cast<cl_context>(given.context);
    *queue = static_cast<cl_command_queue>(given.stream);
    if (*context && *queue) {
        return 0;
    }
    return fail_with(calotype_error_code_gpu_device_error,
                     Text() << "the calotype_device_context of an OpenCL call has no "
                            << (*context ? "queue" : "context"));
}

int acquire_context(void *user_context, cl_context *context, cl_command_queue *queue, bool create) {
    *context = nullptr;
    *queue = nullptr;
    const calotype_device_context *given = calotype_get_device_context(user_context);
    if (given && (given->context || given->stream)) {
        return from_device_context(*given, context, queue);
    }
    const calotype_status status = acquire_default_context(user_context, context, queue, create);
    return status == CALOTYPE_OK ? 0 : calotype_error_code_gpu_device_error;
}

int release_context(void *user_context) {
    return 0;
}

constinit Hook<calotype_acquire_cl_context_t> acquire_hook(acquire_context);
constinit Hook<calotype_release_cl_context_t> release_hook(release_context);

}  // namespace

calotype_status end_default_context(const DeviceScope &scope) {
    cl_command_queue queue = nullptr;
    {
        LockGuard lock(defaults_lock);
        for (Default &slot : defaults) {
            if (slot.context.load(std::memory_order_relaxed) == scope.context) {
                slot.context.store(nullptr, std::memory_order_release);
                queue = slot.queue.exchange(nullptr, std::memory_order_relaxed);
            }
        }
    }
    if (!queue) {
        return CALOTYPE_OK;
    }
    forget_context(scope.context_uid);
    const cl_int finished = cl().clFinish(queue);
    cl().clReleaseCommandQueue(queue);
    const cl_int released = cl().clReleaseContext(context_of(scope));
    if (finished != CL_SUCCESS) {
        return explain(finished, "clFinish");
    }
    return released == CL_SUCCESS ? CALOTYPE_OK : explain(released, "clReleaseContext");
}

void end_all_default_contexts() {
    for (Default &slot : defaults) {
        DeviceScope scope = {};
        scope.context = slot.context.load(std::memory_order_acquire);
        if (scope.context) {
            end_default_context(scope);
        }
    }
}

}  // namespace calotype::runtime::opencl

using namespace calotype::runtime;
using namespace calotype::runtime::opencl;

CALOTYPE_WEAK int calotype_acquire_cl_context(void *user_context, struct _cl_context **context,
                                              struct _cl_command_queue **queue, bool create) {
    return acquire_hook.get()(user_context, context, queue, create);
}

CALOTYPE_WEAK int calotype_release_cl_context(void *user_context) {
    return release_hook.get()(user_context);
}

CALOTYPE_WEAK calotype_acquire_cl_context_t
calotype_set_acquire_cl_context(calotype_acquire_cl_context_t acquire) {
    return acquire_hook.set(acquire);
}

CALOTYPE_WEAK calotype_release_cl_context_t
calotype_set_release_cl_context(calotype_release_cl_context_t release) {
    return release_hook.set(release);
}
