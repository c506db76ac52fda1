// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options: platform, types of device, and compiler flags.
#include <stdio.h>
#include <stdlib.h>

#include <atomic>

#include "runtime/abi/runtime_opencl.h"
#include "runtime/host/environment.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace {

/** What was set, else what the environment says, else "". */
class Option {
    const char *variable;
    char text[256] = {};
    std::atomic<bool> is_set{false};

public:
    constexpr explicit Option(const char *variable) : variable(variable) {
    }
    void set(const char *value) {
        snprintf(text, sizeof text, "%s", value ? value : "");
        is_set.store(true, std::memory_order_release);
    }
    const char *get() const {
        if (is_set.load(std::memory_order_acquire)) {
            return text;
        }
        const char *value = environment(variable);
        return value ? value : "";
    }
};

constinit Option platform_name("CT_OCL_PLATFORM_NAME");
constinit Option device_type("CT_OCL_DEVICE_TYPE");
constinit Option build_options("CT_OCL_BUILD_OPTIONS");

}  // namespace

CALOTYPE_WEAK void calotype_opencl_set_platform_name(const char *name) {
    platform_name.set(name);
}

CALOTYPE_WEAK const char *calotype_opencl_get_platform_name(void *user_context) {
    return platform_name.get();
}

CALOTYPE_WEAK void calotype_opencl_set_device_type(const char *type) {
    device_type.set(type);
}

CALOTYPE_WEAK const char *calotype_opencl_get_device_type(void *user_context) {
    return device_type.get();
}

CALOTYPE_WEAK void calotype_opencl_set_build_options(const char *options) {
    build_options.set(options);
}

CALOTYPE_WEAK const char *calotype_opencl_get_build_options(void *user_context) {
    return build_options.get();
}
