// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the soak does itself with a driver, by its own names: contexts and streams come and go.
#pragma once

#include "runtime/abi/kernels.h"

namespace soak {

struct Driver {
    const char *name;
    const calotype_device_interface_t *(*device_interface)();
    int devices;  ///< the first so many are used
    /// Null on failure.
    void *(*make_context)(int device);
    bool (*destroy_context)(void *context);
    void *(*make_stream)(void *context);
    /// Once its work is done.
    void (*destroy_stream)(void *context, void *stream);
    /// Capture what is called with the stream, and do it once as a graph. Null: there is no such.
    bool (*capture)(void *context, void *stream, void (*body)(void *), void *data);
    /// The code of a kernel "nothing".
    calotype_image nothing;
};

/// Null with a word on the standard output: there is no driver.
const Driver *cuda_driver();
const Driver *opencl_driver();

/// The library opened, by the variable or the usual name; null if it is not there.
void *open_driver(const char *variable, const char *usual_name);
/// Ends the program where it has no such function.
void *driver_function(void *library, const char *name);

template<typename Function>
void find(void *library, Function *&function, const char *name) {
    function = reinterpret_cast<Function *>(driver_function(library, name));
}

}  // namespace soak
