// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/opencl/devices.h"

#include <string.h>

#include <initializer_list>

#include "runtime/abi/runtime_opencl.h"
#include "runtime/device/device_options.h"
#include "runtime/opencl/driver.h"
#include "runtime/opencl/errors.h"

namespace calotype::runtime::opencl {

namespace {

constexpr int max_devices = 64;
constexpr cl_uint max_platforms = 32;
/** Some drivers refuse the bits that CL_DEVICE_TYPE_ALL has beyond the known types. */
constexpr cl_bitfield all_types = 31;

struct DeviceList {
    Device devices[max_devices];
    int count;
    cl_platform_id platforms[max_platforms];  ///< those that have the name
    int platform_count;
    cl_uint all_platforms;  ///< how many there are
};

struct TypeName {
    const char *name;
    cl_bitfield type;
};
const TypeName type_names[] = {{"cpu", CL_DEVICE_TYPE_CPU},
                               {"gpu", CL_DEVICE_TYPE_GPU},
                               {"acc", CL_DEVICE_TYPE_ACCELERATOR},
                               {"all", CL_DEVICE_TYPE_ALL}};

/** The types that a list like "gpu,cpu" names, all for ""; 0 with the cause set if it is none. */
cl_bitfield parse_types(const char *text) {
    if (!*text) {
        return CL_DEVICE_TYPE_ALL;
    }
    cl_bitfield types = 0;
    for (const char *word = text; word;) {
        const size_t length = strcspn(word, ",");
        cl_bitfield type = 0;
        for (const TypeName &known : type_names) {
            if (strlen(known.name) == length && strncmp(known.name, word, length) == 0) {
                type = known.type;
            }
        }
        if (!type) {
            return fail_with(0, Text()
                                    << "the OpenCL device type \"" << text
                                    << "\" is none of cpu, gpu, acc and all, with commas between");
        }
        types |= type;
        word = word[length] ? word + length + 1 : nullptr;
    }
    return types;
}

bool has_name(cl_platform_id platform, const char *wanted) {
    char name[256] = {};
    return !*wanted || (cl().clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name,
                                               nullptr) == CL_SUCCESS &&
                        strstr(name, wanted));
}

bool is_available(cl_device_id id) {
    cl_bool available = 0;
    return cl().clGetDeviceInfo(id, CL_DEVICE_AVAILABLE, sizeof available, &available, nullptr) ==
               CL_SUCCESS &&
           available;
}

/** Add a platform's devices of the given types. */
void add_devices(cl_platform_id platform, cl_bitfield types, DeviceList *list) {
    cl_device_id ids[max_devices];
    cl_uint count = 0;
    if (cl().clGetDeviceIDs(platform, types, max_devices, ids, &count) != CL_SUCCESS) {
        return;
    }
    count = count < cl_uint(max_devices) ? count : cl_uint(max_devices);
    for (cl_uint i = 0; i < count && list->count < max_devices; i++) {
        if (is_available(ids[i])) {
            list->devices[list->count++] = {platform, ids[i]};
        }
    }
}

calotype_status list_platforms(const char *name, DeviceList *list) {
    cl_platform_id all[max_platforms];
    const cl_int error = cl().clGetPlatformIDs(max_platforms, all, &list->all_platforms);
    if (error != CL_SUCCESS && error != CL_PLATFORM_NOT_FOUND_KHR) {
        return explain(error, "clGetPlatformIDs");
    }
    const cl_uint found = error == CL_SUCCESS ? list->all_platforms : 0;
    list->all_platforms = found;
    for (cl_uint i = 0; i < found && i < max_platforms; i++) {
        if (has_name(all[i], name)) {
            list->platforms[list->platform_count++] = all[i];
        }
    }
    return CALOTYPE_OK;
}

calotype_status list_devices(void *user_context, DeviceList *list) {
    *list = {};
    const char *name = calotype_opencl_get_platform_name(user_context);
    const cl_bitfield types = parse_types(calotype_opencl_get_device_type(user_context));
    if (!types) {
        return CALOTYPE_E_INVALID;
    }
    if (const calotype_status status = list_platforms(name, list)) {
        return status;
    }
    const cl_bitfield gpu = types & CL_DEVICE_TYPE_GPU, others = types & all_types & ~gpu;
    for (const cl_bitfield round : {gpu, others}) {
        for (int i = 0; round && i < list->platform_count; i++) {
            add_devices(list->platforms[i], round, list);
        }
    }
    return CALOTYPE_OK;
}

/** There is no device with that number: say why. */
calotype_status explain_no_device(void *user_context, int index, const DeviceList &list) {
    const char *name = calotype_opencl_get_platform_name(user_context);
    const char *type = calotype_opencl_get_device_type(user_context);
    Text text;
    if (list.all_platforms == 0) {
        text << "no OpenCL device here: the OpenCL library knows no platform";
    } else if (list.platform_count == 0) {
        text << "no OpenCL platform here has \"" << name << "\" in its name, of "
             << list.all_platforms;
    } else if (list.count == 0) {
        text << "no OpenCL device here of type " << (*type ? type : "all") << ", on "
             << list.platform_count << " platforms";
    } else {
        explain_device_number(index, "OpenCL", list.count, &text);
    }
    return fail_with(CALOTYPE_E_DEVICE, text);
}

}  // namespace

calotype_status choose_device(void *user_context, int index, Device *device) {
    if (!load_driver()) {
        return CALOTYPE_E_DEVICE;
    }
    DeviceList list;
    if (const calotype_status status = list_devices(user_context, &list)) {
        return status;
    }
    const int chosen = index < 0 ? 0 : index;
    if (chosen >= list.count) {
        return explain_no_device(user_context, index, list);
    }
    *device = list.devices[chosen];
    return CALOTYPE_OK;
}

int index_of_device(void *user_context, cl_device_id id) {
    DeviceList list;
    if (list_devices(user_context, &list) == CALOTYPE_OK) {
        for (int i = 0; i < list.count; i++) {
            if (list.devices[i].id == id) {
                return i;
            }
        }
    }
    return -1;
}

}  // namespace calotype::runtime::opencl
