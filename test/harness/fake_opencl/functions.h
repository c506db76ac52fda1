// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the fake's functions begin, find their objects and answer.
#pragma once

#include <string>

#include "harness/fake_opencl/objects.h"

namespace calotype_test {

using namespace calotype::runtime;

#define FAKE_CL extern "C" __attribute__((visibility("default")))

/** Count the call, and fail if that is planned. */
#define FAKE_ENTER(name)                                                                           \
    if (const int planned = fake_state().calls.enter(#name)) {                                     \
        return cl_int(planned);                                                                    \
    }
#define FAKE_ENTER_OBJECT(name, error)                                                             \
    if (const int planned = fake_state().calls.enter(#name)) {                                     \
        *(error) = planned;                                                                        \
        return nullptr;                                                                            \
    }                                                                                              \
    *(error) = CL_SUCCESS

template<typename Handle>
Handle handle_of(Object *object) {
    return reinterpret_cast<Handle>(object);
}
template<typename Handle>
Handle no_object(cl_int *error, cl_int result) {
    *error = result;
    return nullptr;
}

inline cl_int retain(const void *handle, Kind kind, cl_int invalid) {
    std::lock_guard<std::mutex> guard(fake_state().lock);
    Object *object = find_object(handle, kind);
    if (!object) {
        return invalid;
    }
    object->references++;
    return CL_SUCCESS;
}
inline cl_int release(const void *handle, Kind kind, cl_int invalid) {
    std::unique_lock<std::mutex> guard(fake_state().lock);
    Object *object = find_object(handle, kind);
    if (!object) {
        return invalid;
    }
    release_object(object, guard);
    return CL_SUCCESS;
}

/** With the lock held. */
inline bool is_queue(cl_command_queue queue) {
    return find_object(queue, Kind::queue) != nullptr;
}

/** The clGet...Info functions. */
cl_int answer(const void *value, size_t bytes, size_t room, void *out, size_t *needed);
cl_int answer_text(const std::string &text, size_t room, void *out, size_t *needed);

cl_device_id device_handle(int device);
int device_number(cl_device_id device);

}  // namespace calotype_test
