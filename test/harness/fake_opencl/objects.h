// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The objects of the fake, and which of them live.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "harness/fake_opencl/fake_opencl.h"

namespace calotype_test {

enum class Kind { context, queue, mem, program, kernel, event };

struct FakeContext;

struct Object {
    Kind kind;
    int references = 1;
    FakeContext *context = nullptr;  ///< held by this, null for a context
    virtual ~Object() = default;
};

struct FakeContext : Object {
    std::vector<int> devices;
    calotype::runtime::cl_context_destructor on_end = nullptr;
    void *user_data = nullptr;
};
struct FakeQueue : Object {
    int device = 0;
    bool blocked = false;
};
struct FakeMem : Object {
    std::vector<uint8_t> bytes;
    calotype::runtime::cl_uint type = calotype::runtime::CL_MEM_OBJECT_BUFFER;
    // Of images alone.
    calotype::runtime::cl_image_format format = {};
    size_t element_bytes = 0;
    size_t extent[3] = {1, 1, 1};
};
struct FakeProgram : Object {
    std::string source, log;
    bool built = false;
};
struct FakeKernelObject : Object {
    FakeProgram *program = nullptr;
    std::string name;
    std::vector<std::vector<uint8_t>> values;
    std::vector<bool> is_set;
    std::atomic<int> users{0};
};
struct FakeEvent : Object {
    FakeQueue *queue = nullptr;
};

struct FakeState {
    std::mutex lock;  ///< of all that follows
    std::set<Object *> live;
    std::vector<void *> context_memory;  ///< of ended contexts, the last one is used first
    std::map<std::string, FakeKernel> kernels;
    uint64_t memory_limit, memory_used = 0;
    bool has_platform;
    bool has_images;
    int gpus, cpus, version;
    std::string build_options;
    std::atomic<int> misuses{0};
    FakeCalls calls;

    FakeState();
    void set_defaults();
};
/** Never destroyed: the runtime may call at exit. */
FakeState &fake_state();

/** The object behind a handle, null (and a misuse) if it is dead or of another kind. With the lock
 * held. */
Object *find_object(const void *handle, Kind kind);
template<typename T>
T *find(const void *handle, Kind kind) {
    return static_cast<T *>(find_object(handle, kind));
}

/** Make an object that holds its context. With the lock held. */
template<typename T>
T *add_object(Kind kind, FakeContext *context) {
    T *object = new T;
    object->kind = kind;
    object->context = context;
    context->references++;
    fake_state().live.insert(object);
    return object;
}
/** Memory of so many bytes, or null with the error of too many. With the lock held. */
FakeMem *add_memory(FakeContext *context, size_t size, calotype::runtime::cl_int *error);
/** A context has an address that an ended one had, if there is one. With the lock held. */
FakeContext *add_context();

/** Drop one reference; tells of the end of a context after the lock was given up. */
void release_object(Object *object, std::unique_lock<std::mutex> &guard);
/** See FakeOpenClControl::destroy_context. */
void destroy_context(_cl_context *context, bool tell);

}  // namespace calotype_test
