// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdio>

#include "gpu/soak/driver.h"
#include "runtime/abi/runtime_opencl.h"

namespace {

struct Functions {
    int (*platforms)(unsigned, void **, unsigned *);
    int (*devices)(void *, unsigned long, unsigned, void **, unsigned *);
    void *(*create)(const long *, unsigned, void *const *, void *, void *, int *);
    int (*release)(void *);
    void *(*create_queue)(void *, void *, unsigned long, int *);
    int (*finish)(void *);
    int (*release_queue)(void *);
} cl;

constexpr int most_devices = 8;
void *devices[most_devices];
constexpr char source[] = "__kernel void nothing() {}\n";

void *make_context(int device) {
    int error = 0;
    return cl.create(nullptr, 1, &devices[device], nullptr, nullptr, &error);
}

bool destroy_context(void *context) {
    return cl.release(context) == 0;
}

/// OpenCL has no default one, so a context keeps the device that it was made for.
void *make_stream(void *context) {
    int error = 0;
    for (void *device : devices) {
        if (void *queue = device ? cl.create_queue(context, device, 0, &error) : nullptr) {
            return queue;
        }
    }
    return nullptr;
}

void destroy_stream(void *, void *queue) {
    cl.finish(queue);
    cl.release_queue(queue);
}

/// How many devices the first platform has, all of which go to `devices`.
int find_devices() {
    constexpr unsigned long all = 0xffffffff;
    void *platform = nullptr;
    unsigned n = 0;
    if (cl.platforms(1, &platform, &n) != 0 || n == 0 ||
        cl.devices(platform, all, most_devices, devices, &n) != 0) {
        return 0;
    }
    return n < most_devices ? int(n) : most_devices;
}

}  // namespace

const soak::Driver *soak::opencl_driver() {
    static Driver driver = {"OpenCL",
                            calotype_opencl_device_interface,
                            0,
                            make_context,
                            destroy_context,
                            make_stream,
                            destroy_stream,
                            nullptr,
                            {CALOTYPE_OPENCL_C, 0, 0, source, sizeof source - 1}};
    void *library = open_driver("CT_OPENCL_DRIVER_LIBRARY", "libOpenCL.so.1");
    if (!library) {
        return nullptr;
    }
    find(library, cl.platforms, "clGetPlatformIDs");
    find(library, cl.devices, "clGetDeviceIDs");
    find(library, cl.create, "clCreateContext");
    find(library, cl.release, "clReleaseContext");
    find(library, cl.create_queue, "clCreateCommandQueue");
    find(library, cl.finish, "clFinish");
    find(library, cl.release_queue, "clReleaseCommandQueue");
    driver.devices = find_devices();
    if (driver.devices == 0) {
        std::printf("no device of OpenCL\n");
        return nullptr;
    }
    return &driver;
}
