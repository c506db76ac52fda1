// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/opencl/driver.h"

#include <initializer_list>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/abi/symbols.h"
#include "runtime/host/environment.h"
#include "runtime/host/sync.h"
#include "runtime/opencl/errors.h"

namespace calotype::runtime::opencl {

namespace {

struct Symbol {
    const char *name;
    void **address;
    bool optional;
};

Driver driver;
constinit Mutex driver_lock;
std::atomic<bool> is_loaded{false};
/** Set by tests, "" for none. */
char chosen_library[1024];

const Symbol symbols[] = {
#define CALOTYPE_CL(result, name, parameters)                                                      \
    {#name, reinterpret_cast<void **>(&driver.name), false},
#define CALOTYPE_CL_OPTIONAL(result, name, parameters)                                             \
    {#name, reinterpret_cast<void **>(&driver.name), true},
#include "runtime/opencl/driver.def"
#undef CALOTYPE_CL_OPTIONAL
#undef CALOTYPE_CL
};

void *open_named_library(const char *name, const char *who) {
    void *library = calotype_load_library(name);
    if (!library) {
        set_failure(Text() << "cannot load the OpenCL library " << name << ", which " << who
                           << " names");
    }
    return library;
}

/** False if there is none. What a program has in itself is found without a library: null. */
bool open_library(void **library) {
    if (chosen_library[0]) {
        *library = open_named_library(chosen_library, "calotype_opencl_set_driver_library");
        return *library;
    }
    if (const char *named = environment("CT_OPENCL_DRIVER_LIBRARY")) {
        *library = open_named_library(named, "CT_OPENCL_DRIVER_LIBRARY");
        return *library;
    }
    for (const char *name : {"libOpenCL.so.1", "libOpenCL.so"}) {
        *library = calotype_load_library(name);
        if (*library) {
            return true;
        }
    }
    return calotype_get_library_symbol(nullptr, "clGetPlatformIDs") ||
           fail_with(false, "OpenCL API not found: libOpenCL.so.1 cannot be loaded");
}

bool find_symbols(void *library) {
    for (const Symbol &symbol : symbols) {
        *symbol.address = calotype_get_library_symbol(library, symbol.name);
        if (!*symbol.address && !symbol.optional) {
            return fail_with(false, Text() << "the OpenCL library has no function " << symbol.name
                                           << "; OpenCL 1.2 is needed");
        }
    }
    return true;
}

}  // namespace

const Driver *load_driver() {
    if (is_loaded.load(std::memory_order_acquire)) {
        return &driver;
    }
    LockGuard lock(driver_lock);
    if (!is_loaded.load(std::memory_order_relaxed)) {
        void *library = nullptr;
        if (!open_library(&library) || !find_symbols(library)) {
            return nullptr;
        }
        is_loaded.store(true, std::memory_order_release);
    }
    return &driver;
}

void choose_library(const char *file_name) {
    LockGuard lock(driver_lock);
    snprintf(chosen_library, sizeof chosen_library, "%s", file_name ? file_name : "");
    is_loaded.store(false, std::memory_order_release);
}

const Driver &cl() {
    return driver;
}

}  // namespace calotype::runtime::opencl
