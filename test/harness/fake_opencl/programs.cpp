// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs, kernels, launches and events.
#include <cstdlib>
#include <cstring>

#include "harness/fake_opencl/functions.h"

using namespace calotype_test;

namespace {

const char binary_magic[] = "FAKE OPENCL BINARY\n";
constexpr size_t magic_size = sizeof binary_magic - 1;

/** The text between the parentheses of a kernel, false if there is no such kernel. */
bool find_parameters(const std::string &source, const std::string &name, std::string *parameters) {
    size_t at = source.find("__kernel void " + name + "(");
    if (at == std::string::npos) {
        return false;
    }
    at = source.find('(', at) + 1;
    *parameters = source.substr(at, source.find(')', at) - at);
    return true;
}

size_t count_parameters(const std::string &parameters) {
    if (parameters.find_first_not_of(" \n") == std::string::npos) {
        return 0;
    }
    size_t count = 1;
    for (const char c : parameters) {
        count += c == ',' ? 1 : 0;
    }
    return count;
}

/** The number behind the words, which come after the kernel's name; see fake_opencl.h. */
size_t number_of(const FakeKernelObject &kernel, const std::string &words, size_t otherwise) {
    const std::string &source = kernel.program->source;
    const size_t at = source.find(words, source.find("void " + kernel.name + "("));
    return at == std::string::npos ? otherwise : size_t(atoi(source.c_str() + at + words.size()));
}

size_t max_group(const FakeKernelObject &kernel) {
    return number_of(kernel, "max_group=", 1024);
}

size_t stated_group(const FakeKernelObject &kernel) {
    return number_of(kernel, "stated_group=", max_group(kernel));
}

}  // namespace

FAKE_CL cl_program clCreateProgramWithSource(cl_context handle, cl_uint count, const char **texts,
                                             const size_t *sizes, cl_int *error) {
    FAKE_ENTER_OBJECT(clCreateProgramWithSource, error);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    auto *context = find<FakeContext>(handle, Kind::context);
    if (!context) {
        return no_object<cl_program>(error, CL_INVALID_CONTEXT);
    }
    auto *program = add_object<FakeProgram>(Kind::program, context);
    for (cl_uint i = 0; i < count; i++) {
        program->source.append(texts[i], sizes[i]);
    }
    return handle_of<cl_program>(program);
}

FAKE_CL cl_program clCreateProgramWithBinary(cl_context handle, cl_uint, const cl_device_id *,
                                             const size_t *sizes, const unsigned char **binaries,
                                             cl_int *, cl_int *error) {
    FAKE_ENTER_OBJECT(clCreateProgramWithBinary, error);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    auto *context = find<FakeContext>(handle, Kind::context);
    if (!context) {
        return no_object<cl_program>(error, CL_INVALID_CONTEXT);
    }
    if (sizes[0] < magic_size || memcmp(binaries[0], binary_magic, magic_size) != 0) {
        return no_object<cl_program>(error, CL_INVALID_BINARY);
    }
    auto *program = add_object<FakeProgram>(Kind::program, context);
    program->source.assign(reinterpret_cast<const char *>(binaries[0]) + magic_size,
                           sizes[0] - magic_size);
    return handle_of<cl_program>(program);
}

FAKE_CL cl_int clBuildProgram(cl_program handle, cl_uint, const cl_device_id *, const char *options,
                              cl_program_notify, void *) {
    FAKE_ENTER(clBuildProgram);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    auto *program = find<FakeProgram>(handle, Kind::program);
    if (!program) {
        return CL_INVALID_PROGRAM;
    }
    fake_state().build_options = options ? options : "";
    const size_t at = program->source.find("#error");
    if (at != std::string::npos) {
        const size_t end = program->source.find('\n', at);
        program->log = "fake.cl:1: " + program->source.substr(at + 1, end - at - 1);
        return CL_BUILD_PROGRAM_FAILURE;
    }
    program->built = true;
    return CL_SUCCESS;
}

FAKE_CL cl_int clGetProgramInfo(cl_program handle, cl_uint what, size_t room, void *out,
                                size_t *needed) {
    FAKE_ENTER(clGetProgramInfo);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    const auto *program = find<FakeProgram>(handle, Kind::program);
    if (!program) {
        return CL_INVALID_PROGRAM;
    }
    const std::vector<int> &devices = program->context->devices;
    switch (what) {
    case CL_PROGRAM_NUM_DEVICES: {
        const cl_uint count = cl_uint(devices.size());
        return answer(&count, sizeof count, room, out, needed);
    }
    case CL_PROGRAM_DEVICES: {
        std::vector<cl_device_id> handles;
        for (const int device : devices) {
            handles.push_back(device_handle(device));
        }
        return answer(handles.data(), handles.size() * sizeof handles[0], room, out, needed);
    }
    case CL_PROGRAM_BINARY_SIZES: {
        const std::vector<size_t> sizes(devices.size(), magic_size + program->source.size());
        return answer(sizes.data(), sizes.size() * sizeof sizes[0], room, out, needed);
    }
    case CL_PROGRAM_BINARIES:
        for (size_t i = 0; i < devices.size() && i < room / sizeof(char *); i++) {
            if (char *binary = static_cast<char **>(out)[i]) {
                memcpy(binary, binary_magic, magic_size);
                memcpy(binary + magic_size, program->source.data(), program->source.size());
            }
        }
        return CL_SUCCESS;
    default:
        return CL_INVALID_VALUE;
    }
}

FAKE_CL cl_int clGetProgramBuildInfo(cl_program handle, cl_device_id, cl_uint, size_t room,
                                     void *out, size_t *needed) {
    FAKE_ENTER(clGetProgramBuildInfo);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    const auto *program = find<FakeProgram>(handle, Kind::program);
    return program ? answer_text(program->log, room, out, needed) : CL_INVALID_PROGRAM;
}

FAKE_CL cl_int clReleaseProgram(cl_program program) {
    FAKE_ENTER(clReleaseProgram);
    return release(program, Kind::program, CL_INVALID_PROGRAM);
}

FAKE_CL cl_kernel clCreateKernel(cl_program handle, const char *name, cl_int *error) {
    FAKE_ENTER_OBJECT(clCreateKernel, error);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    auto *program = find<FakeProgram>(handle, Kind::program);
    if (!program) {
        return no_object<cl_kernel>(error, CL_INVALID_PROGRAM);
    }
    std::string parameters;
    if (!program->built || !find_parameters(program->source, name, &parameters)) {
        return no_object<cl_kernel>(error, program->built ? CL_INVALID_KERNEL_NAME
                                                          : CL_INVALID_PROGRAM_EXECUTABLE);
    }
    auto *kernel = add_object<FakeKernelObject>(Kind::kernel, program->context);
    kernel->program = program;
    program->references++;
    kernel->name = name;
    kernel->values.resize(count_parameters(parameters));
    kernel->is_set.resize(kernel->values.size());
    return handle_of<cl_kernel>(kernel);
}

FAKE_CL cl_int clSetKernelArg(cl_kernel handle, cl_uint index, size_t size, const void *value) {
    FAKE_ENTER(clSetKernelArg);
    FakeKernelObject *kernel = nullptr;
    {
        std::lock_guard<std::mutex> guard(fake_state().lock);
        kernel = find<FakeKernelObject>(handle, Kind::kernel);
    }
    if (!kernel) {
        return CL_INVALID_KERNEL;
    }
    if (index >= kernel->values.size()) {
        return CL_INVALID_ARG_INDEX;
    }
    // Outside of the lock, so that two threads in it at once are found out.
    fake_state().misuses += kernel->users.fetch_add(1) != 0 ? 1 : 0;
    kernel->values[index].assign(size, 0);
    if (value) {
        memcpy(kernel->values[index].data(), value, size);
    }
    kernel->is_set[index] = true;
    kernel->users.fetch_sub(1);
    return CL_SUCCESS;
}

FAKE_CL cl_int clGetKernelInfo(cl_kernel handle, cl_uint, size_t room, void *out, size_t *needed) {
    FAKE_ENTER(clGetKernelInfo);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    const auto *kernel = find<FakeKernelObject>(handle, Kind::kernel);
    if (!kernel) {
        return CL_INVALID_KERNEL;
    }
    const cl_uint count = cl_uint(kernel->values.size());
    return answer(&count, sizeof count, room, out, needed);
}

FAKE_CL cl_int clGetKernelWorkGroupInfo(cl_kernel handle, cl_device_id, cl_uint what, size_t room,
                                        void *out, size_t *needed) {
    FAKE_ENTER(clGetKernelWorkGroupInfo);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    const auto *kernel = find<FakeKernelObject>(handle, Kind::kernel);
    if (!kernel) {
        return CL_INVALID_KERNEL;
    }
    // A byte of local memory, as NVIDIA's driver says of kernels that have none of their own.
    const uint64_t value = what == CL_KERNEL_WORK_GROUP_SIZE  ? stated_group(*kernel)
                           : what == CL_KERNEL_LOCAL_MEM_SIZE ? 1
                                                              : 0;
    return answer(&value, sizeof value, room, out, needed);
}

FAKE_CL cl_int clReleaseKernel(cl_kernel kernel) {
    FAKE_ENTER(clReleaseKernel);
    return release(kernel, Kind::kernel, CL_INVALID_KERNEL);
}

namespace {

/** What a kernel is given. */
struct Launch {
    std::vector<std::vector<uint8_t>> values;
    std::vector<FakeArgument> arguments;
    FakeLaunch launch;
    std::string name;
    calotype_test::FakeKernel function = nullptr;
};

/** With the lock held. */
cl_int prepare(const FakeKernelObject &kernel, const size_t *global, const size_t *local,
               Launch *out) {
    size_t items = 1;
    for (int d = 0; d < 3; d++) {
        items *= local[d];
        if (local[d] == 0 || global[d] % local[d] != 0) {
            return CL_INVALID_WORK_GROUP_SIZE;
        }
        out->launch.block[d] = uint32_t(local[d]);
        out->launch.grid[d] = uint32_t(global[d] / local[d]);
    }
    if (items > max_group(kernel)) {
        return CL_INVALID_WORK_GROUP_SIZE;
    }
    out->values = kernel.values;
    out->name = kernel.name;
    for (size_t i = 0; i < out->values.size(); i++) {
        if (!kernel.is_set[i]) {
            return CL_INVALID_KERNEL_ARGS;
        }
        const std::vector<uint8_t> &value = out->values[i];
        Object *object = nullptr;
        if (value.size() == sizeof object) {
            memcpy(&object, value.data(), sizeof object);
        }
        const bool is_mem = object && fake_state().live.count(object) && object->kind == Kind::mem;
        out->arguments.push_back({value.data(), value.size(),
                                  is_mem ? static_cast<FakeMem *>(object)->bytes.data() : nullptr});
    }
    const auto found = fake_state().kernels.find(kernel.name);
    out->function = found == fake_state().kernels.end() ? nullptr : found->second;
    return CL_SUCCESS;
}

}  // namespace

FAKE_CL cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel handle, cl_uint,
                                      const size_t *, const size_t *global, const size_t *local,
                                      cl_uint, const cl_event *, cl_event *) {
    FAKE_ENTER(clEnqueueNDRangeKernel);
    Launch launch;
    {
        std::lock_guard<std::mutex> guard(fake_state().lock);
        const auto *kernel = find<FakeKernelObject>(handle, Kind::kernel);
        if (!kernel || !find_object(queue, Kind::queue)) {
            return CL_INVALID_KERNEL;
        }
        const cl_int error = prepare(*kernel, global, local, &launch);
        if (error != CL_SUCCESS) {
            return error;
        }
    }
    launch.launch.name = launch.name.c_str();
    launch.launch.args = launch.arguments.data();
    launch.launch.n_args = uint32_t(launch.arguments.size());
    launch.launch.queue = queue;
    if (launch.function) {
        launch.function(launch.launch);
    }
    return CL_SUCCESS;
}

FAKE_CL cl_int clEnqueueMarkerWithWaitList(cl_command_queue handle, cl_uint, const cl_event *,
                                           cl_event *event) {
    FAKE_ENTER(clEnqueueMarkerWithWaitList);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    auto *queue = find<FakeQueue>(handle, Kind::queue);
    if (!queue) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    auto *made = add_object<FakeEvent>(Kind::event, queue->context);
    made->queue = queue;
    queue->references++;
    *event = handle_of<cl_event>(made);
    return CL_SUCCESS;
}

FAKE_CL cl_int clGetEventInfo(cl_event handle, cl_uint, size_t room, void *out, size_t *needed) {
    FAKE_ENTER(clGetEventInfo);
    std::lock_guard<std::mutex> guard(fake_state().lock);
    const auto *event = find<FakeEvent>(handle, Kind::event);
    if (!event) {
        return CL_INVALID_EVENT;
    }
    const cl_int state = event->queue->blocked ? 3 : 0;
    return answer(&state, sizeof state, room, out, needed);
}

FAKE_CL cl_int clReleaseEvent(cl_event event) {
    FAKE_ENTER(clReleaseEvent);
    return release(event, Kind::event, CL_INVALID_EVENT);
}
