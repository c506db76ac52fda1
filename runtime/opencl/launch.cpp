// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arguments of a cl_kernel belong to the object, so two threads must not set them at once. Each
// function therefore has an object for every thread that launches it: a launch takes the one in its
// thread's slot and puts it back. In the rare case that two threads share a slot, the second makes
// an object of its own.
//
// A forced release closes functions that other threads may be launching: whoever has an object
// uses it to its end, and no other is had from a slot that is closed, nor made.
#include "runtime/opencl/kernels.h"

#include <stdlib.h>
#include <string.h>

#include <atomic>

#include "runtime/host/not_copied.h"
#include "runtime/host/text.h"
#include "runtime/opencl/context.h"
#include "runtime/opencl/driver.h"
#include "runtime/opencl/errors.h"
#include "runtime/opencl/memory.h"

namespace calotype::runtime::opencl {

namespace {

struct alignas(64) Slot {
    std::atomic<cl_kernel> kernel;  ///< null: none; closed_kernel: none any more
};

/** No object's address. */
cl_kernel closed_kernel() {
    return reinterpret_cast<cl_kernel>(uintptr_t(1));
}
bool is_object(cl_kernel kernel) {
    return reinterpret_cast<uintptr_t>(kernel) > 1;
}

/** What get_function() gives. */
struct Function {
    static constexpr uint32_t n_slots = 16;

    Slot slots[n_slots];
    Mutex lock;          ///< of the next
    cl_program program;  ///< null: closed
    /** Work-items of a group for which the driver vouches; 0: it does not say. Some say 256 of kernels that
     * run with any number. */
    size_t sure_group;
    uint64_t local_bytes;  ///< local memory that it uses already
    cl_uint n_parameters;
    char name[1];  ///< the rest follows
};

std::atomic<uint32_t> threads_seen{0};
/** The calling thread's slot plus one, 0 if it has none yet. */
thread_local constinit uint32_t my_slot = 0;

Slot &slot_of_thread(Function &function) {
    if (my_slot == 0) {
        my_slot = 1 + threads_seen.fetch_add(1, std::memory_order_relaxed) % Function::n_slots;
    }
    return function.slots[my_slot - 1];
}

/** Null without an error: the function is closed. */
cl_kernel make_object(Function &function, cl_int *error) {
    LockGuard guard(function.lock);
    return function.program ? cl().clCreateKernel(function.program, function.name, error) : nullptr;
}

/** The slot gets no object any more; a thread that is using its object releases it afterwards. */
void close(Slot &slot, bool has_driver) {
    const cl_kernel kernel = slot.kernel.exchange(closed_kernel(), std::memory_order_acq_rel);
    if (is_object(kernel) && has_driver) {
        cl().clReleaseKernel(kernel);
    }
}

/** A kernel object for the duration of one launch. */
class KernelUse : NotCopied {
    Slot &slot;
    cl_kernel kernel;
    cl_int error = CL_SUCCESS;

    __attribute__((noinline)) void take_another(Function &function) {
        if (kernel) {
            close(slot, true);
        }
        kernel = make_object(function, &error);
    }

public:
    explicit KernelUse(Function &function)
        : slot(slot_of_thread(function)),
          kernel(slot.kernel.exchange(nullptr, std::memory_order_acquire)) {
        if (!is_object(kernel)) {
            take_another(function);
        }
    }
    ~KernelUse() {
        cl_kernel nothing = nullptr;
        if (kernel && !slot.kernel.compare_exchange_strong(
                          nothing, kernel, std::memory_order_release, std::memory_order_relaxed)) {
            cl().clReleaseKernel(kernel);
        }
    }

    cl_kernel get() const {
        return kernel;
    }
    cl_int result() const {
        return error;
    }
};

calotype_status refuse(const char *kernel, const char *what, uint64_t value, const char *whose,
                       uint64_t limit) {
    return fail_with(CALOTYPE_E_LAUNCH, Text() << "kernel " << kernel << ": " << what << " is "
                                               << value << ", " << whose << " allows " << limit);
}

/** Whether the device allows such groups. */
calotype_status check_limits(const DeviceScope &scope, const Function &function,
                             const uint32_t block[3], uint32_t dynamic_shared_bytes) {
    const ContextRecord &record = record_of(scope);
    static const char *const extents[3] = {"the block's extent in x", "the block's extent in y",
                                           "the block's extent in z"};
    uint64_t items = 1;
    for (int d = 0; d < 3; d++) {
        if (record.max_items[d] != 0 && block[d] > record.max_items[d]) {
            return refuse(function.name, extents[d], block[d], "the device", record.max_items[d]);
        }
        items *= block[d];
    }
    if (record.max_group != 0 && items > record.max_group) {
        return refuse(function.name, "the number of threads in a block", items, "the device",
                      record.max_group);
    }
    const uint64_t shared = function.local_bytes + dynamic_shared_bytes;
    if (record.local_bytes != 0 && shared > record.local_bytes) {
        return refuse(function.name, "the shared memory of a block in bytes", shared, "the device",
                      record.local_bytes);
    }
    return CALOTYPE_OK;
}

cl_uint count_parameters(const calotype_kernel_desc &kernel) {
    cl_uint count = kernel.flags & CALOTYPE_KERNEL_DYNAMIC_SHARED ? 1 : 0;
    for (uint32_t i = 0; i < kernel.n_args; i++) {
        const bool is_offset = kernel.args[i].is_buffer && !kernel.args[i].is_image &&
                               !(kernel.flags & CALOTYPE_KERNEL_PLAIN_BUFFERS);
        count += is_offset ? 2 : 1;
    }
    return count;
}

/** With plain buffers, one parameter more than arguments is the shared memory. */
calotype_kernel_desc with_shared_memory(const Function &function, calotype_kernel_desc kernel) {
    if (kernel.flags & CALOTYPE_KERNEL_PLAIN_BUFFERS &&
        function.n_parameters == count_parameters(kernel) + 1) {
        kernel.flags |= CALOTYPE_KERNEL_DYNAMIC_SHARED;
    }
    return kernel;
}

/** A launch allocates nothing: CL_OUT_OF_RESOURCES means registers and the like, or is all that a
 * driver says once a kernel has accessed what it may not. */
calotype_status status_of_launch(cl_int error) {
    const calotype_status status = status_of(error);
    return error == CL_OUT_OF_RESOURCES || status == CALOTYPE_E_DEVICE ? CALOTYPE_E_LAUNCH : status;
}

/** Sets one parameter after the other. */
class Parameters {
    const DeviceScope &scope;
    const calotype_kernel_desc &desc;
    cl_kernel kernel;
    cl_uint next = 0;

    calotype_status set(size_t bytes, const void *value) {
        const cl_int error = cl().clSetKernelArg(kernel, next, bytes, value);
        if (error != CL_SUCCESS) {
            return fail_with(status_of_launch(error),
                             Text() << "kernel " << desc.name << ", parameter " << next << " of "
                                    << uint64_t(bytes) << " bytes: "
                                    << describe_error(error, "clSetKernelArg").c_str(),
                             error);
        }
        next++;
        return CALOTYPE_OK;
    }

    /** Coordinates in kernels count from the first element of an image. */
    bool is_as_described(uint32_t index, const DeviceMemory &memory) {
        const bool is_image = desc.args[index].is_image != 0;
        if (memory.is_image != is_image) {
            return fail_with(
                false, Text() << "kernel " << desc.name << ", argument " << index << ": "
                              << (is_image ? "an image is expected, the buffer is in plain memory"
                                           : "plain memory is expected, the buffer is in an "
                                             "image"));
        }
        if (memory.origin[0] != 0 || memory.origin[1] != 0 || memory.origin[2] != 0) {
            return fail_with(false,
                             Text() << "kernel " << desc.name << ", argument " << index
                                    << ": the buffer is a part of an image that begins at ("
                                    << memory.origin[0] << ", " << memory.origin[1] << ", "
                                    << memory.origin[2]
                                    << "), kernels take what begins at the image's first element");
        }
        return true;
    }

    calotype_status set_buffer(uint32_t index, const void *value) {
        uint64_t handle = 0;
        memcpy(&handle, value, sizeof handle);
        const auto *memory = reinterpret_cast<const DeviceMemory *>(uintptr_t(handle));
        if (memory && memory->context != scope.context) {
            return fail_with(CALOTYPE_E_INVALID,
                             Text() << "kernel " << desc.name << ", argument " << index
                                    << ": the buffer is in another OpenCL context than that of the "
                                       "call");
        }
        if (memory && !is_as_described(index, *memory)) {
            return CALOTYPE_E_INVALID;
        }
        cl_mem mem = memory ? memory->mem : nullptr;
        const uint64_t offset = memory ? memory->offset : 0;
        const bool is_plain = desc.flags & CALOTYPE_KERNEL_PLAIN_BUFFERS;
        if (is_plain && offset != 0) {
            return fail_with(
                CALOTYPE_E_INVALID,
                Text() << "kernel " << desc.name << ", argument " << index << ": the buffer begins "
                       << offset
                       << " bytes into its memory object, the kernel takes what begins at "
                          "0");
        }
        const calotype_status status = set(sizeof mem, mem ? &mem : nullptr);
        if (status != CALOTYPE_OK || desc.args[index].is_image || is_plain) {
            return status;
        }
        return set(sizeof offset, &offset);
    }

public:
    Parameters(const DeviceScope &scope, const calotype_kernel_desc &desc, cl_kernel kernel)
        : scope(scope), desc(desc), kernel(kernel) {
    }

    calotype_status set_all(void **args, uint32_t dynamic_shared_bytes) {
        for (uint32_t i = 0; i < desc.n_args; i++) {
            const calotype_kernel_arg &arg = desc.args[i];
            if (const calotype_status status =
                    arg.is_buffer ? set_buffer(i, args[i]) : set(arg.bytes, args[i])) {
                return status;
            }
        }
        if (desc.flags & CALOTYPE_KERNEL_DYNAMIC_SHARED) {
            // OpenCL has no local memory of no size.
            return set(dynamic_shared_bytes ? dynamic_shared_bytes : 1, nullptr);
        }
        return CALOTYPE_OK;
    }
};

calotype_status fail(const char *kernel, cl_int error, const char *function) {
    return fail_with(
        status_of_launch(error),
        Text() << "kernel " << kernel << ": " << describe_error(error, function).c_str(), error);
}

calotype_status check_description(const Function &function, const calotype_kernel_desc &kernel,
                                  uint32_t dynamic_shared_bytes) {
    const cl_uint expected = count_parameters(kernel);
    if (function.n_parameters != expected) {
        return fail_with(CALOTYPE_E_INVALID,
                         Text() << "kernel " << kernel.name << " has " << function.n_parameters
                                << " parameters, its description asks for " << expected);
    }
    if (dynamic_shared_bytes != 0 && !(kernel.flags & CALOTYPE_KERNEL_DYNAMIC_SHARED)) {
        return fail_with(CALOTYPE_E_LAUNCH,
                         Text() << "kernel " << kernel.name << " takes no dynamic shared memory, "
                                << dynamic_shared_bytes << " bytes were asked for");
    }
    return CALOTYPE_OK;
}

calotype_status refuse_closed() {
    return fail_with(CALOTYPE_E_CONTEXT_LOST, "the module was unloaded although it is held");
}

calotype_status fail_to_enqueue(const Function &function, const uint32_t block[3], cl_int error) {
    const uint64_t items = uint64_t(block[0]) * block[1] * block[2];
    const char *const call = "clEnqueueNDRangeKernel";
    if (function.sure_group == 0 || items <= function.sure_group) {
        return fail(function.name, error, call);
    }
    return fail_with(status_of_launch(error),
                     Text() << "kernel " << function.name
                            << ": the number of threads in a block is " << items
                            << ", the driver vouches for " << function.sure_group
                            << " of this kernel: " << describe_error(error, call).c_str(),
                     error);
}

calotype_status enqueue(cl_command_queue queue, cl_kernel object, const Function &function,
                        const uint32_t grid[3], const uint32_t block[3]) {
    size_t global[3], local[3];
    for (int d = 0; d < 3; d++) {
        local[d] = block[d];
        global[d] = size_t(grid[d]) * block[d];
    }
    cl_int error =
        cl().clEnqueueNDRangeKernel(queue, object, 3, nullptr, global, local, 0, nullptr, nullptr);
    if (error != CL_SUCCESS) {
        return fail_to_enqueue(function, block, error);
    }
    // So that it starts while the host goes on.
    error = cl().clFlush(queue);
    return error == CL_SUCCESS ? CALOTYPE_OK : fail(function.name, error, "clFlush");
}

/** What the driver says of the compiled kernel; 0 for limits that it does not know. */
cl_int describe_kernel(const DeviceScope &scope, cl_kernel kernel, Function *function) {
    cl_device_id device = record_of(scope).device;
    const cl_int error =
        cl().clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof function->n_parameters,
                             &function->n_parameters, nullptr);
    cl().clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE,
                                  sizeof function->sure_group, &function->sure_group, nullptr);
    cl().clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE,
                                  sizeof function->local_bytes, &function->local_bytes, nullptr);
    if (function->local_bytes == 1) {
        function->local_bytes = 0;  // as NVIDIA's driver says of kernels that have none
    }
    return error;
}

calotype_status refuse_function(const char *name, cl_int error, const char *call) {
    set_failure(Text() << "kernel " << name << ": " << describe_error(error, call).c_str(), error);
    return status_of(error) == CALOTYPE_E_DEVICE ? CALOTYPE_E_LOAD : status_of(error);
}

}  // namespace

calotype_status get_function(const DeviceScope &scope, void *module, const char *name,
                             void **function) {
    auto *program = static_cast<cl_program>(module);
    cl_int error = CL_SUCCESS;
    cl_kernel kernel = cl().clCreateKernel(program, name, &error);
    if (error != CL_SUCCESS) {
        return refuse_function(name, error, "clCreateKernel");
    }
    void *memory = nullptr;
    const size_t size = sizeof(Function) + strlen(name);
    if (posix_memalign(&memory, alignof(Function), size) != 0) {
        cl().clReleaseKernel(kernel);
        return fail_with(CALOTYPE_E_OOM, Text() << "kernel " << name << ": out of host memory");
    }
    memset(memory, 0, size);
    auto *made = static_cast<Function *>(memory);
    made->program = program;
    memcpy(made->name, name, strlen(name) + 1);
    error = describe_kernel(scope, kernel, made);
    if (error != CL_SUCCESS) {
        cl().clReleaseKernel(kernel);
        free(memory);
        return refuse_function(name, error, "clGetKernelInfo");
    }
    slot_of_thread(*made).kernel.store(kernel, std::memory_order_release);
    *function = made;
    return CALOTYPE_OK;
}

void close_function(void *function, bool has_driver) {
    auto *made = static_cast<Function *>(function);
    {
        LockGuard guard(made->lock);
        made->program = nullptr;
    }
    for (Slot &slot : made->slots) {
        close(slot, has_driver);
    }
}

void free_function(void *function) {
    free(function);
}

calotype_status launch(const DeviceScope &scope, void *function, const calotype_kernel_desc &told,
                       const uint32_t grid[3], const uint32_t block[3],
                       uint32_t dynamic_shared_bytes, void *stream, void **args) {
    Function &made = *static_cast<Function *>(function);
    const calotype_kernel_desc kernel = with_shared_memory(made, told);
    calotype_status status = check_description(made, kernel, dynamic_shared_bytes);
    status =
        status == CALOTYPE_OK ? check_limits(scope, made, block, dynamic_shared_bytes) : status;
    if (status != CALOTYPE_OK) {
        return status;
    }
    KernelUse use(made);
    if (!use.get()) {
        return use.result() == CL_SUCCESS ? refuse_closed()
                                          : fail(kernel.name, use.result(), "clCreateKernel");
    }
    status = Parameters(scope, kernel, use.get()).set_all(args, dynamic_shared_bytes);
    if (status != CALOTYPE_OK) {
        return status;
    }
    auto *queue = static_cast<cl_command_queue>(stream ? stream : scope.stream);
    status = note_queue(record_of(scope), queue);
    return status == CALOTYPE_OK ? enqueue(queue, use.get(), made, grid, block) : status;
}

calotype_status record_event(const DeviceScope &scope, void *stream, void **event) {
    auto *queue = static_cast<cl_command_queue>(stream ? stream : scope.stream);
    cl_event marker = nullptr;
    cl_int error = cl().clEnqueueMarkerWithWaitList(queue, 0, nullptr, &marker);
    if (error != CL_SUCCESS) {
        return explain(error, "clEnqueueMarkerWithWaitList");
    }
    // Or it might never come to pass.
    error = cl().clFlush(queue);
    if (error != CL_SUCCESS) {
        cl().clReleaseEvent(marker);
        return explain(error, "clFlush");
    }
    *event = marker;
    return CALOTYPE_OK;
}

calotype_status query_event(void *event) {
    cl_int state = 0;
    const cl_int error =
        cl().clGetEventInfo(static_cast<cl_event>(event), CL_EVENT_COMMAND_EXECUTION_STATUS,
                            sizeof state, &state, nullptr);
    if (error != CL_SUCCESS) {
        return explain(error, "clGetEventInfo");
    }
    return state > 0 ? CALOTYPE_E_BUSY : CALOTYPE_OK;
}

void destroy_event(void *event) {
    cl().clReleaseEvent(static_cast<cl_event>(event));
}

}  // namespace calotype::runtime::opencl
