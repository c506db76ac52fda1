// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cuda.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "array.h"

namespace calotype::python::cuda {

namespace {

constexpr int most_devices = 64;
constexpr unsigned event_without_time = 2;
enum PointerAttribute { attribute_context = 1, attribute_ordinal = 9 };

struct Driver {
    int (*init)(unsigned);
    int (*get_error_name)(int, const char **);
    int (*device_get)(int *, int);
    int (*primary_retain)(void **, int);
    int (*push)(void *);
    int (*pop)(void **);
    int (*pointer_attribute)(void *, int, uint64_t);
    int (*event_create)(void **, unsigned);
    int (*event_record)(void *, void *);
    int (*event_destroy)(void *);
    int (*wait_event)(void *, void *, unsigned);
    int (*synchronize)(void *);
};

template<typename Function>
bool find(void *library, const char *name, Function *function) {
    *function = reinterpret_cast<Function>(dlsym(library, name));
    return *function != nullptr;
}

const char *library_name() {
    for (const char *variable : {"CT_CUDA_DRIVER_LIBRARY", "HL_CUDA_DRIVER_LIBRARY"}) {
        const char *name = secure_getenv(variable);
        if (name && *name) {
            return name;
        }
    }
    return "libcuda.so.1";
}

// The library stays open. Null, and a reason, if there is none.
const Driver *open_driver(std::string *reason) {
    static Driver d;
    void *library = dlopen(library_name(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *text = dlerror();
        *reason = text ? text : library_name();
        return nullptr;
    }
    const bool is_whole = find(library, "cuInit", &d.init) &&
                          find(library, "cuGetErrorName", &d.get_error_name) &&
                          find(library, "cuDeviceGet", &d.device_get) &&
                          find(library, "cuDevicePrimaryCtxRetain", &d.primary_retain) &&
                          find(library, "cuCtxPushCurrent_v2", &d.push) &&
                          find(library, "cuCtxPopCurrent_v2", &d.pop) &&
                          find(library, "cuPointerGetAttribute", &d.pointer_attribute) &&
                          find(library, "cuEventCreate", &d.event_create) &&
                          find(library, "cuEventRecord", &d.event_record) &&
                          find(library, "cuEventDestroy_v2", &d.event_destroy) &&
                          find(library, "cuStreamWaitEvent", &d.wait_event) &&
                          find(library, "cuStreamSynchronize", &d.synchronize);
    if (!is_whole) {
        *reason = std::string(library_name()) + " lacks functions of the driver";
        return nullptr;
    }
    if (const int code = d.init(0)) {
        *reason = "cuInit answers with error " + std::to_string(code);
        return nullptr;
    }
    return &d;
}

const Driver &driver() {
    static std::string reason;
    static const Driver *only = open_driver(&reason);
    if (!only) {
        throw ArrayError("there is no CUDA driver: " + reason);
    }
    return *only;
}

void check(int code, const char *function) {
    if (code == 0) {
        return;
    }
    const char *name = nullptr;
    driver().get_error_name(code, &name);
    throw ArrayError(std::string(function) + " answers with " +
                     (name ? std::string(name) : "error " + std::to_string(code)));
}

// Current as long as it lives.
class Current {
public:
    explicit Current(void *context) {
        check(driver().push(context), "cuCtxPushCurrent");
    }
    ~Current() {
        void *popped = nullptr;
        driver().pop(&popped);
    }
    Current(const Current &) = delete;
    Current &operator=(const Current &) = delete;
};

class Event {
public:
    Event() {
        check(driver().event_create(&handle_, event_without_time), "cuEventCreate");
    }
    ~Event() {
        driver().event_destroy(handle_);
    }
    Event(const Event &) = delete;
    Event &operator=(const Event &) = delete;
    void *handle() const {
        return handle_;
    }

private:
    void *handle_ = nullptr;
};

std::atomic<void *> primary_contexts[most_devices];
std::mutex primary_mutex;

}  // namespace

void *primary_context(int device) {
    if (device < 0 || device >= most_devices) {
        throw ArrayError("there is no CUDA device " + std::to_string(device));
    }
    std::atomic<void *> &context = primary_contexts[device];
    if (void *found = context.load(std::memory_order_acquire)) {
        return found;
    }
    const Driver &d = driver();
    std::lock_guard<std::mutex> lock(primary_mutex);
    if (!context.load()) {
        int handle = 0;
        void *made = nullptr;
        if (d.device_get(&handle, device) != 0) {
            throw ArrayError("there is no CUDA device " + std::to_string(device));
        }
        check(d.primary_retain(&made, handle), "cuDevicePrimaryCtxRetain");
        context.store(made, std::memory_order_release);
    }
    return context.load();
}

Place place_of(uint64_t address) {
    const Driver &d = driver();
    int device = 0;
    void *context = nullptr;
    if (d.pointer_attribute(&device, attribute_ordinal, address) != 0) {
        throw ArrayError("its address is none that the CUDA driver knows");
    }
    // Memory of a pool belongs to no context.
    if (d.pointer_attribute(&context, attribute_context, address) != 0 || !context) {
        context = primary_context(device);
    }
    return {device, context};
}

void let_wait(void *context, void *later, void *earlier) {
    if (later == earlier) {
        return;
    }
    const Current current(context);
    const Event event;
    check(driver().event_record(event.handle(), earlier), "cuEventRecord");
    check(driver().wait_event(later, event.handle(), 0), "cuStreamWaitEvent");
}

void await_stream(void *context, void *stream) {
    const Current current(context);
    check(driver().synchronize(stream), "cuStreamSynchronize");
}

}  // namespace calotype::python::cuda
