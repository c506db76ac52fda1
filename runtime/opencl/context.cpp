// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A cl_context is an address that a later context may have again, so each (context, device) gets a
// record with an id when it is first met. The record ends with the context where the driver tells
// of that (3.0), else with calotype_context_lost() or calotype_device_release(). While modules are
// loaded their programs keep the context alive, so that an address cannot change hands unnoticed.
//
// The warm path is a comparison with what this thread found last; the registry's version changes
// whenever a record ends.
#include "runtime/opencl/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/abi/device_context.h"
#include "runtime/abi/runtime_opencl.h"
#include "runtime/device/cache/callbacks.h"
#include "runtime/device/failure.h"
#include "runtime/host/data/list.h"
#include "runtime/host/fork_mutex.h"
#include "runtime/opencl/devices.h"
#include "runtime/opencl/driver.h"
#include "runtime/opencl/errors.h"

namespace calotype::runtime::opencl {

namespace {

constinit ForkMutex registry_lock;
ContextRecord *first_record = nullptr;
std::atomic<uint64_t> registry_version{1};

struct LastFound {
    cl_context context;
    cl_command_queue queue;
    uint64_t version;
    ContextRecord *record;
};
thread_local constinit LastFound last_found = {};

/** With the lock held, and after its queues were forgotten, which have a lock of their own. */
void end_record(ContextRecord &record) {
    record.id.store(0, std::memory_order_release);
    registry_version.fetch_add(1, std::memory_order_acq_rel);
}

/** Called by the driver, perhaps in the middle of another call of it. */
void context_ended(cl_context context, void *user_data) {
    auto *record = static_cast<ContextRecord *>(user_data);
    forget_queues(*record);
    LockGuard lock(registry_lock);
    if (record->context == context) {
        end_record(*record);
        record->context = nullptr;  // free for another
        record->ends_by_callback = false;
    }
}

/** What a device says of itself; 0 for what it does not know. */
struct DeviceFacts {
    cl_device_id device;
    cl_int lack = CL_SUCCESS;  ///< of memory, so that nothing is known

    template<typename T>
    void get(cl_uint what, T *value) {
        const cl_int error = cl().clGetDeviceInfo(device, what, sizeof *value, value, nullptr);
        if (error != CL_SUCCESS) {
            memset(value, 0, sizeof *value);
        }
        lack = status_of(error) == CALOTYPE_E_OOM ? error : lack;
    }
};

/** "OpenCL 3.0 PoCL 3.1, pthread-EPYC, driver 3.1". */
void describe_tools(ContextFacts *record) {
    char platform[256] = {}, device[256] = {}, driver[256] = {};
    cl().clGetPlatformInfo(record->platform, CL_PLATFORM_VERSION, sizeof platform - 1, platform,
                           nullptr);
    cl().clGetDeviceInfo(record->device, CL_DEVICE_NAME, sizeof device - 1, device, nullptr);
    cl().clGetDeviceInfo(record->device, CL_DRIVER_VERSION, sizeof driver - 1, driver, nullptr);
    Text text;
    text << platform << ", " << device << ", driver " << driver;
    snprintf(record->tools, sizeof record->tools, "%s", text.c_str());
}

/** Fill in what the record says of context and device. */
calotype_status describe_context(void *user_context, cl_context context, cl_device_id device,
                                 ContextFacts *record) {
    cl_uint devices = 0;
    const cl_int error =
        cl().clGetContextInfo(context, CL_CONTEXT_NUM_DEVICES, sizeof devices, &devices, nullptr);
    if (error != CL_SUCCESS) {
        return explain(error, "clGetContextInfo");
    }
    record->context = context;
    record->device = device;
    record->devices_in_context = devices;
    record->device_index = index_of_device(user_context, device);
    DeviceFacts facts{device};
    facts.get(CL_DEVICE_PLATFORM, &record->platform);
    facts.get(CL_DEVICE_TYPE, &record->device_type);
    facts.get(CL_DEVICE_MAX_WORK_GROUP_SIZE, &record->max_group);
    facts.get(CL_DEVICE_MAX_WORK_ITEM_SIZES, &record->max_items);
    facts.get(CL_DEVICE_LOCAL_MEM_SIZE, &record->local_bytes);
    facts.get(CL_DEVICE_MAX_MEM_ALLOC_SIZE, &record->max_allocation);
    facts.get(CL_DEVICE_IMAGE_SUPPORT, &record->has_images);
    facts.get(CL_DEVICE_IMAGE2D_MAX_WIDTH, &record->max_image2d[0]);
    facts.get(CL_DEVICE_IMAGE2D_MAX_HEIGHT, &record->max_image2d[1]);
    facts.get(CL_DEVICE_IMAGE3D_MAX_WIDTH, &record->max_image3d[0]);
    facts.get(CL_DEVICE_IMAGE3D_MAX_HEIGHT, &record->max_image3d[1]);
    facts.get(CL_DEVICE_IMAGE3D_MAX_DEPTH, &record->max_image3d[2]);
    describe_tools(record);
    return facts.lack == CL_SUCCESS ? CALOTYPE_OK : explain(facts.lack, "clGetDeviceInfo");
}

/** Drivers below 3.0 may crash in the function, though the loader has it. */
bool tells_of_end(const ContextFacts &record) {
    char version[128] = {};
    cl().clGetPlatformInfo(record.platform, CL_PLATFORM_VERSION, sizeof version - 1, version,
                           nullptr);
    return cl().clSetContextDestructorCallback && strncmp(version, "OpenCL ", 7) == 0 &&
           atoi(version + 7) >= 3;
}

/** With the lock held. `device` null: whichever the context has. */
ContextRecord *look_up(cl_context context, cl_device_id device) {
    return find_in(first_record, [=](const ContextRecord &r) {
        return r.context == context && r.id.load(std::memory_order_relaxed) != 0 &&
               (!device || r.device == device);
    });
}

/** With the lock held: the record of a context whose identity has ended, but not the context, which
 * will say so when it does. */
ContextRecord *look_up_ended(cl_context context, cl_device_id device) {
    return find_in(first_record, [=](const ContextRecord &r) {
        return r.context == context && r.device == device && r.ends_by_callback &&
               r.id.load(std::memory_order_relaxed) == 0;
    });
}

/** With the lock held: a record that is free, or a new one. */
ContextRecord *take_record() {
    ContextRecord *record = find_in(first_record, [](const ContextRecord &r) {
        return r.id.load(std::memory_order_relaxed) == 0 && !r.ends_by_callback;
    });
    if (!record) {
        record = static_cast<ContextRecord *>(calloc(1, sizeof(ContextRecord)));
        if (record) {
            push(first_record, record);
        }
    }
    return record;
}

/** What the context calls at its end. It holds on to the record and to this code until then. */
bool ask_to_be_told(ContextRecord &record) {
    if (!tells_of_end(record)) {
        return false;
    }
    stay_in_memory();
    return cl().clSetContextDestructorCallback(record.context, context_ended, &record) ==
           CL_SUCCESS;
}

/** Meet a context. Two threads may do so at once; one of them wins. */
calotype_status add_record(const ContextFacts &described, ContextRecord **record, bool *is_new) {
    LockGuard lock(registry_lock);
    *record = look_up(described.context, described.device);
    if (*record) {
        return CALOTYPE_OK;
    }
    *record = look_up_ended(described.context, described.device);
    if (*record) {
        (*record)->id.store(new_context_uid(), std::memory_order_release);
        return CALOTYPE_OK;
    }
    *record = take_record();
    if (!*record) {
        return fail_with(CALOTYPE_E_OOM, "out of memory for the record of an OpenCL context");
    }
    ContextRecord &r = **record;
    static_cast<ContextFacts &>(r) = described;
    r.ends_by_callback = true;  // until the driver refuses, which is not asked with the lock held
    r.id.store(new_context_uid(), std::memory_order_release);
    *is_new = true;
    return CALOTYPE_OK;
}

calotype_status meet(const ContextFacts &described, ContextRecord **record) {
    bool is_new = false;
    know_backend(kernel_backend);
    const calotype_status status = add_record(described, record, &is_new);
    if (is_new && !ask_to_be_told(**record)) {
        LockGuard lock(registry_lock);
        (*record)->ends_by_callback = false;
    }
    return status;
}

calotype_status device_of_queue(cl_command_queue queue, cl_device_id *device) {
    const cl_int error =
        cl().clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof *device, device, nullptr);
    return error == CL_SUCCESS ? CALOTYPE_OK : explain(error, "clGetCommandQueueInfo");
}

calotype_status find_record_slowly(void *user_context, cl_context context, cl_command_queue queue,
                                   ContextRecord **record) {
    const uint64_t version = registry_version.load(std::memory_order_acquire);
    cl_device_id device = nullptr;
    calotype_status status = device_of_queue(queue, &device);
    if (status != CALOTYPE_OK) {
        return status;
    }
    {
        LockGuard lock(registry_lock);
        *record = look_up(context, device);
    }
    if (!*record) {
        ContextFacts described = {};
        status = describe_context(user_context, context, device, &described);
        status = status == CALOTYPE_OK ? meet(described, record) : status;
    }
    // Of several devices, a queue with the same address may come to be another's.
    if (status == CALOTYPE_OK && (*record)->devices_in_context == 1) {
        last_found = {context, queue, version, *record};
    }
    return status;
}

calotype_status find_record(void *user_context, cl_context context, cl_command_queue queue,
                            ContextRecord **record, uint64_t *id) {
    const LastFound &last = last_found;
    if (last.context == context && last.queue == queue &&
        last.version == registry_version.load(std::memory_order_acquire)) {
        *record = last.record;
        *id = last.record->id.load(std::memory_order_acquire);
        if (*id != 0) {
            return CALOTYPE_OK;
        }
    }
    // A record may end while it is being looked for: a release ends the identity.
    calotype_status status = CALOTYPE_OK;
    *id = 0;
    while (status == CALOTYPE_OK && *id == 0) {
        status = find_record_slowly(user_context, context, queue, record);
        *id = status == CALOTYPE_OK ? (*record)->id.load(std::memory_order_acquire) : 0;
    }
    return status;
}

/** Whether what the user context names is of another kind of device. */
bool is_of_another_api(const void *user_context) {
    const calotype_device_context *given =
        user_context ? calotype_get_device_context(user_context) : nullptr;
    return given && given->device_interface &&
           given->device_interface != calotype_opencl_device_interface() &&
           given->device_interface != calotype_opencl_image_device_interface();
}

calotype_status check_acquired(int code) {
    if (code == 0) {
        return CALOTYPE_OK;
    }
    return fail_with(CALOTYPE_E_DEVICE,
                     Text() << "calotype_acquire_cl_context answered the error code " << code);
}

}  // namespace

calotype_status acquire_scope(void *user_context, bool create, DeviceScope *scope) {
    cl_context context = nullptr;
    cl_command_queue queue = nullptr;
    *scope = {};
    scope->user_context = user_context;
    if (is_of_another_api(user_context)) {
        return fail_with(CALOTYPE_E_INVALID, "the context of the call is not one of OpenCL");
    }
    calotype_status status =
        check_acquired(calotype_acquire_cl_context(user_context, &context, &queue, create));
    if (status != CALOTYPE_OK || (!context && !create)) {
        return status;
    }
    if (!context || !queue) {
        set_failure(Text() << "calotype_acquire_cl_context answered "
                           << (context ? "no queue" : "no context"));
        status = CALOTYPE_E_INVALID;
    } else {
        status = load_driver() ? CALOTYPE_OK : CALOTYPE_E_DEVICE;
    }
    ContextRecord *record = nullptr;
    uint64_t id = 0;
    status =
        status == CALOTYPE_OK ? find_record(user_context, context, queue, &record, &id) : status;
    if (status != CALOTYPE_OK) {
        calotype_release_cl_context(user_context);
        return status;
    }
    scope->context = context;
    scope->stream = queue;
    scope->context_uid = id;
    scope->device = record->device_index;
    scope->extra = record;
    return CALOTYPE_OK;
}

void release_scope(const DeviceScope &scope) {
    if (scope.context) {
        calotype_release_cl_context(scope.user_context);
    }
}

ContextRecord *find_record(cl_context context, cl_device_id device) {
    LockGuard lock(registry_lock);
    return look_up(context, device);
}

bool has_any_context() {
    LockGuard lock(registry_lock);
    return find_in(first_record, [](const ContextRecord &r) { return r.id != 0; });
}

bool has_context(void *user_context) {
    DeviceScope scope = {};
    const FailureScope ignored;
    if (is_of_another_api(user_context)) {
        return true;  // which acquire_scope() refuses
    }
    const bool is_there =
        acquire_scope(user_context, false, &scope) == CALOTYPE_OK && scope.context;
    if (is_there) {
        release_scope(scope);
    }
    return is_there;
}

static ContextRecord *find_by_id(uint64_t id) {
    LockGuard lock(registry_lock);
    return id ? find_in(first_record, [=](const ContextRecord &r) { return r.id == id; }) : nullptr;
}

bool is_context_alive(uint64_t id) {
    return find_by_id(id);
}

void forget_context(uint64_t id) {
    ContextRecord *record = find_by_id(id);
    if (!record) {
        return;
    }
    forget_queues(*record);
    LockGuard lock(registry_lock);
    if (record->id == id) {
        end_record(*record);
    }
}

void forget_all_contexts() {
    ContextRecord *record = nullptr;
    {
        LockGuard lock(registry_lock);
        record = first_record;
    }
    for (; record; record = record->next) {
        forget_context(record->id);
    }
}

}  // namespace calotype::runtime::opencl
