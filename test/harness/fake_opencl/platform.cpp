// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Platforms, devices, contexts and queues; the control table.
#include <chrono>
#include <cstring>
#include <thread>

#include "harness/fake_opencl/functions.h"

using namespace calotype_test;

namespace {

int fake_platform;
/** GPUs have even numbers. */
int fake_devices[32];

cl_platform_id platform_handle() {
    return reinterpret_cast<cl_platform_id>(&fake_platform);
}

bool is_gpu(int device) {
    return device % 2 == 0;
}

}  // namespace

namespace calotype_test {

cl_device_id device_handle(int device) {
    return reinterpret_cast<cl_device_id>(&fake_devices[device]);
}

int device_number(cl_device_id device) {
    return int(reinterpret_cast<int *>(device) - fake_devices);
}

cl_int answer(const void *value, size_t bytes, size_t room, void *out, size_t *needed) {
    if (needed) {
        *needed = bytes;
    }
    if (out) {
        if (room < bytes) {
            return CL_INVALID_VALUE;
        }
        memcpy(out, value, bytes);
    }
    return CL_SUCCESS;
}

cl_int answer_text(const std::string &text, size_t room, void *out, size_t *needed) {
    return answer(text.c_str(), text.size() + 1, room, out, needed);
}

}  // namespace calotype_test

FAKE_CL cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *out, cl_uint *count) {
    FAKE_ENTER(clGetPlatformIDs);
    if (!fake_state().has_platform) {
        return CL_PLATFORM_NOT_FOUND_KHR;
    }
    if (out && room > 0) {
        out[0] = platform_handle();
    }
    if (count) {
        *count = 1;
    }
    return CL_SUCCESS;
}

FAKE_CL cl_int clGetPlatformInfo(cl_platform_id, cl_uint what, size_t room, void *out,
                                 size_t *needed) {
    FAKE_ENTER(clGetPlatformInfo);
    if (what == CL_PLATFORM_VERSION) {
        return answer_text(fake_state().version >= 3 ? "OpenCL 3.0 Fake" : "OpenCL 1.2 Fake", room,
                           out, needed);
    }
    return answer_text("Fake Platform", room, out, needed);
}

FAKE_CL cl_int clGetDeviceIDs(cl_platform_id, cl_bitfield types, cl_uint room, cl_device_id *out,
                              cl_uint *count) {
    FAKE_ENTER(clGetDeviceIDs);
    std::vector<int> found;
    for (int i = 0; i < fake_state().gpus && types & CL_DEVICE_TYPE_GPU; i++) {
        found.push_back(2 * i);
    }
    for (int i = 0; i < fake_state().cpus && types & CL_DEVICE_TYPE_CPU; i++) {
        found.push_back(2 * i + 1);
    }
    for (size_t i = 0; i < found.size() && i < room && out; i++) {
        out[i] = device_handle(found[i]);
    }
    if (count) {
        *count = cl_uint(found.size());
    }
    return found.empty() ? CL_DEVICE_NOT_FOUND : CL_SUCCESS;
}

FAKE_CL cl_int clGetDeviceInfo(cl_device_id device, cl_uint what, size_t room, void *out,
                               size_t *needed) {
    FAKE_ENTER(clGetDeviceInfo);
    const int number = device_number(device);
    const auto answer_value = [&](auto value) {
        return answer(&value, sizeof value, room, out, needed);
    };
    switch (what) {
    case CL_DEVICE_TYPE:
        return answer_value(cl_bitfield(is_gpu(number) ? CL_DEVICE_TYPE_GPU : CL_DEVICE_TYPE_CPU));
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        return answer_value(size_t(1024));
    case CL_DEVICE_MAX_WORK_ITEM_SIZES: {
        const size_t sizes[3] = {1024, 1024, 64};
        return answer(sizes, sizeof sizes, room, out, needed);
    }
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        return answer_value(uint64_t(1) << 32);
    case CL_DEVICE_IMAGE_SUPPORT:
        return answer_value(cl_bool(fake_state().has_images));
    case CL_DEVICE_IMAGE2D_MAX_WIDTH:
        return answer_value(size_t(4096));
    case CL_DEVICE_IMAGE2D_MAX_HEIGHT:
        return answer_value(size_t(2048));
    case CL_DEVICE_IMAGE3D_MAX_WIDTH:
        return answer_value(size_t(512));
    case CL_DEVICE_IMAGE3D_MAX_HEIGHT:
        return answer_value(size_t(256));
    case CL_DEVICE_IMAGE3D_MAX_DEPTH:
        return answer_value(size_t(128));
    case CL_DEVICE_LOCAL_MEM_SIZE:
        return answer_value(uint64_t(48) << 10);
    case CL_DEVICE_AVAILABLE:
        return answer_value(cl_bool(1));
    case CL_DEVICE_NAME:
        return answer_text((is_gpu(number) ? "Fake GPU " : "Fake CPU ") +
                               std::to_string(number / 2),
                           room, out, needed);
    case CL_DRIVER_VERSION:
        return answer_text("1.0", room, out, needed);
    case CL_DEVICE_VERSION:
        return answer_text(fake_state().version >= 3 ? "OpenCL 3.0 Fake" : "OpenCL 1.2 Fake", room,
                           out, needed);
    case CL_DEVICE_PLATFORM:
        return answer_value(platform_handle());
    default:
        return CL_INVALID_VALUE;
    }
}

FAKE_CL cl_context clCreateContext(const cl_properties *, cl_uint count,
                                   const cl_device_id *devices, cl_context_notify, void *,
                                   cl_int *error) {
    FAKE_ENTER_OBJECT(clCreateContext, error);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    FakeContext *context = add_context();
    for (cl_uint i = 0; i < count; i++) {
        context->devices.push_back(device_number(devices[i]));
    }
    return handle_of<cl_context>(context);
}

FAKE_CL cl_int clRetainContext(cl_context context) {
    FAKE_ENTER(clRetainContext);
    return retain(context, Kind::context, CL_INVALID_CONTEXT);
}

FAKE_CL cl_int clReleaseContext(cl_context context) {
    FAKE_ENTER(clReleaseContext);
    return release(context, Kind::context, CL_INVALID_CONTEXT);
}

FAKE_CL cl_int clGetContextInfo(cl_context handle, cl_uint what, size_t room, void *out,
                                size_t *needed) {
    FAKE_ENTER(clGetContextInfo);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    const auto *context = find<FakeContext>(handle, Kind::context);
    if (!context) {
        return CL_INVALID_CONTEXT;
    }
    if (what != CL_CONTEXT_NUM_DEVICES) {
        return CL_INVALID_VALUE;
    }
    const cl_uint count = cl_uint(context->devices.size());
    return answer(&count, sizeof count, room, out, needed);
}

FAKE_CL cl_int clSetContextDestructorCallback(cl_context handle, cl_context_destructor on_end,
                                              void *user_data) {
    FAKE_ENTER(clSetContextDestructorCallback);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    auto *context = find<FakeContext>(handle, Kind::context);
    if (!context) {
        return CL_INVALID_CONTEXT;
    }
    context->on_end = on_end;
    context->user_data = user_data;
    return CL_SUCCESS;
}

FAKE_CL cl_command_queue clCreateCommandQueue(cl_context handle, cl_device_id device, cl_bitfield,
                                              cl_int *error) {
    FAKE_ENTER_OBJECT(clCreateCommandQueue, error);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    auto *context = find<FakeContext>(handle, Kind::context);
    if (!context) {
        return no_object<cl_command_queue>(error, CL_INVALID_CONTEXT);
    }
    auto *queue = add_object<FakeQueue>(Kind::queue, context);
    queue->device = device_number(device);
    return handle_of<cl_command_queue>(queue);
}

FAKE_CL cl_int clRetainCommandQueue(cl_command_queue queue) {
    FAKE_ENTER(clRetainCommandQueue);
    return retain(queue, Kind::queue, CL_INVALID_COMMAND_QUEUE);
}

FAKE_CL cl_int clReleaseCommandQueue(cl_command_queue queue) {
    FAKE_ENTER(clReleaseCommandQueue);
    return release(queue, Kind::queue, CL_INVALID_COMMAND_QUEUE);
}

FAKE_CL cl_int clGetCommandQueueInfo(cl_command_queue handle, cl_uint what, size_t room, void *out,
                                     size_t *needed) {
    FAKE_ENTER(clGetCommandQueueInfo);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    const auto *queue = find<FakeQueue>(handle, Kind::queue);
    if (!queue) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    if (what == CL_QUEUE_DEVICE) {
        cl_device_id device = device_handle(queue->device);
        return answer(&device, sizeof device, room, out, needed);
    }
    if (what == CL_QUEUE_REFERENCE_COUNT) {
        const auto references = cl_uint(queue->references);
        return answer(&references, sizeof references, room, out, needed);
    }
    cl_context context = handle_of<cl_context>(queue->context);
    return answer(&context, sizeof context, room, out, needed);
}

FAKE_CL cl_int clFlush(cl_command_queue queue) {
    FAKE_ENTER(clFlush);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    return find_object(queue, Kind::queue) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

FAKE_CL cl_int clFinish(cl_command_queue queue) {
    FAKE_ENTER(clFinish);
    for (;;) {
        {
            std::lock_guard<std::mutex> guard(fake_state().lock);
            const FakeQueue *object = find<FakeQueue>(queue, Kind::queue);
            if (!object || !object->blocked) {
                return object ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
            }
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

namespace {

void reset() {
    FakeState &state = fake_state();
    state.calls.reset();
    std::lock_guard<std::mutex> guard(state.lock);
    state.kernels.clear();
    state.misuses = 0;
    state.set_defaults();
}

int count_live(const char *kind) {
    static const char *const names[] = {"context", "queue", "mem", "program", "kernel", "event"};
    std::lock_guard<std::mutex> guard(fake_state().lock);
    int count = 0;
    for (const Object *object : fake_state().live) {
        count += !kind || strcmp(names[int(object->kind)], kind) == 0 ? 1 : 0;
    }
    return count;
}

void block_queue(cl_command_queue handle, bool block) {
    std::lock_guard<std::mutex> guard(fake_state().lock);
    if (auto *queue = find<FakeQueue>(handle, Kind::queue)) {
        queue->blocked = block;
    }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const FakeOpenClControl fake_opencl_control;
const FakeOpenClControl fake_opencl_control = {
    reset,
    [](const char *function) { return fake_state().calls.count(function); },
    [](const char *function, int result, int nth, int times) {
        fake_state().calls.fail(function, result, nth, times);
    },
    [](const char *function, int result, int one_in) {
        fake_state().calls.fail_every(function, result, one_in);
    },
    [](const char *function, int ms) { fake_state().calls.delay(function, ms); },
    [](const char *name, FakeKernel kernel) {
        std::lock_guard<std::mutex> guard(fake_state().lock);
        fake_state().kernels[name] = kernel;
    },
    count_live,
    [] { return fake_state().misuses.load(); },
    [](uint64_t bytes) { fake_state().memory_limit = bytes; },
    [](bool platform, int gpus, int cpus) {
        fake_state().has_platform = platform;
        fake_state().gpus = gpus;
        fake_state().cpus = cpus;
    },
    [](bool are_there) { fake_state().has_images = are_there; },
    [](int major) { fake_state().version = major; },
    destroy_context,
    block_queue,
    [] { return fake_state().build_options.c_str(); },
};
