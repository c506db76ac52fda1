// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/opencl/raw_opencl.h"

#include <dlfcn.h>

#include <map>

namespace calotype::test {

namespace {

using Handle = void *;

/// The functions used, as the standard declares them.
struct Functions {
    int (*clGetPlatformIDs)(uint32_t, Handle *, uint32_t *);
    int (*clGetDeviceIDs)(Handle, uint64_t, uint32_t, Handle *, uint32_t *);
    int (*clGetDeviceInfo)(Handle, uint32_t, size_t, void *, size_t *);
    Handle (*clCreateContext)(const intptr_t *, uint32_t, const Handle *, void *, void *, int *);
    Handle (*clCreateCommandQueue)(Handle, Handle, uint64_t, int *);
    Handle (*clCreateProgramWithSource)(Handle, uint32_t, const char **, const size_t *, int *);
    int (*clBuildProgram)(Handle, uint32_t, const Handle *, const char *, void *, void *);
    int (*clGetProgramBuildInfo)(Handle, Handle, uint32_t, size_t, void *, size_t *);
    Handle (*clCreateKernel)(Handle, const char *, int *);
    Handle (*clCreateBuffer)(Handle, uint64_t, size_t, void *, int *);
    int (*clSetKernelArg)(Handle, uint32_t, size_t, const void *);
    int (*clEnqueueNDRangeKernel)(Handle, Handle, uint32_t, const size_t *, const size_t *,
                                  const size_t *, uint32_t, const void *, void *);
    int (*clEnqueueReadBuffer)(Handle, Handle, uint32_t, size_t, size_t, void *, uint32_t,
                               const void *, void *);
    int (*clReleaseMemObject)(Handle);
    int (*clReleaseKernel)(Handle);
};

struct Device {
    Functions f = {};
    Handle device = nullptr, context = nullptr, queue = nullptr;
    std::map<std::string, Handle> programs;
    std::string extensions;

    Device() {
        void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
        bool all = library != nullptr;
#define FIND(name)                                                                                 \
    f.name = library ? reinterpret_cast<decltype(f.name)>(dlsym(library, #name)) : nullptr;        \
    all &= f.name != nullptr;
        FIND(clGetPlatformIDs)
        FIND(clGetDeviceIDs)
        FIND(clGetDeviceInfo)
        FIND(clCreateContext)
        FIND(clCreateCommandQueue)
        FIND(clCreateProgramWithSource)
        FIND(clBuildProgram)
        FIND(clGetProgramBuildInfo)
        FIND(clCreateKernel)
        FIND(clCreateBuffer)
        FIND(clSetKernelArg)
        FIND(clEnqueueNDRangeKernel)
        FIND(clEnqueueReadBuffer)
        FIND(clReleaseMemObject)
        FIND(clReleaseKernel)
#undef FIND
        Handle platform = nullptr;
        uint32_t n = 0;
        if (!all || f.clGetPlatformIDs(1, &platform, &n) != 0 || n == 0 ||
            f.clGetDeviceIDs(platform, 0xffffffff, 1, &device, &n) != 0) {
            return;
        }
        size_t size = 0;
        f.clGetDeviceInfo(device, 0x1030, 0, nullptr, &size);
        extensions.resize(size);
        f.clGetDeviceInfo(device, 0x1030, size, extensions.data(), nullptr);
        int error = 0;
        context = f.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
        queue = context ? f.clCreateCommandQueue(context, device, 0, &error) : nullptr;
    }

    std::string build(const std::string &source, Handle *program) {
        auto it = programs.find(source);
        if (it != programs.end()) {
            *program = it->second;
            return "";
        }
        const char *text = source.c_str();
        int error = 0;
        *program = f.clCreateProgramWithSource(context, 1, &text, nullptr, &error);
        error = f.clBuildProgram(*program, 1, &device, "-cl-std=CL1.2", nullptr, nullptr);
        if (error != 0) {
            size_t size = 0;
            f.clGetProgramBuildInfo(*program, device, 0x1183, 0, nullptr, &size);
            std::string log(size, ' ');
            f.clGetProgramBuildInfo(*program, device, 0x1183, size, log.data(), nullptr);
            return "build error " + std::to_string(error) + ":\n" + log;
        }
        programs[source] = *program;
        return "";
    }
};

Device &the_device() {
    static Device device;
    return device;
}

}  // namespace

bool have_opencl() {
    return the_device().queue != nullptr;
}

bool opencl_has(const std::string &extension) {
    return the_device().extensions.find(extension) != std::string::npos;
}

std::string run_opencl(const std::string &source, const std::string &name,
                       const std::vector<RawArgument> &args, const RawLaunch &launch) {
    Device &d = the_device();
    Handle program = nullptr;
    std::string failure = d.build(source, &program);
    if (!failure.empty()) {
        return failure;
    }
    int error = 0;
    Handle kernel = d.f.clCreateKernel(program, name.c_str(), &error);
    if (!kernel) {
        return "no kernel " + name + ": " + std::to_string(error);
    }
    std::vector<Handle> buffers;
    uint32_t next = 0;
    for (const RawArgument &a : args) {
        if (!a.buffer) {
            error |= d.f.clSetKernelArg(kernel, next++, a.scalar.size(), a.scalar.data());
            continue;
        }
        buffers.push_back(d.f.clCreateBuffer(d.context, 1 | 32, a.buffer->size(), a.buffer->data(),
                                             &error));  // read and write, copied from the host
        error |= d.f.clSetKernelArg(kernel, next++, sizeof(Handle), &buffers.back());
        error |= d.f.clSetKernelArg(kernel, next++, sizeof(uint64_t), &a.offset);
    }
    if (launch.shared_bytes > 0) {
        error |= d.f.clSetKernelArg(kernel, next++, launch.shared_bytes, nullptr);
    }
    size_t global[3];
    for (int i = 0; i < 3; i++) {
        global[i] = launch.blocks[i] * launch.threads[i];
    }
    error |= d.f.clEnqueueNDRangeKernel(d.queue, kernel, 3, nullptr, global, launch.threads, 0,
                                        nullptr, nullptr);
    next = 0;
    for (const RawArgument &a : args) {
        if (a.buffer) {
            error |= d.f.clEnqueueReadBuffer(d.queue, buffers[next], 1, 0, a.buffer->size(),
                                             a.buffer->data(), 0, nullptr, nullptr);
            d.f.clReleaseMemObject(buffers[next++]);
        }
    }
    d.f.clReleaseKernel(kernel);
    return error == 0 ? "" : "launch error " + std::to_string(error);
}

}  // namespace calotype::test
