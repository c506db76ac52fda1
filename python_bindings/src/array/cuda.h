// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What calls with arrays on CUDA devices ask of the driver: contexts, where memory is, and that one
// stream waits for another. The driver is the one that pipelines use. Needs no GIL.
#pragma once

#include <cstdint>
#include <string>

namespace calotype::python::cuda {

/// The primary context of a device, which stays as long as the process. An ArrayError if there is
/// no such device or no driver.
void *primary_context(int device);

struct Place {
    int device;
    void *context;
};
/// Of memory on a device. An ArrayError if the driver does not know the address.
Place place_of(uint64_t address);

/// The default stream has three names.
inline void *plain_stream(uint64_t stream) {
    return stream == 1 ? nullptr : reinterpret_cast<void *>(stream);
}

/// What is queued on `later` from now on waits for what is queued on `earlier` now. Nothing to do
/// for one stream. An ArrayError with the driver's words.
void let_wait(void *context, void *later, void *earlier);

/// Waits until all that is queued on the stream is done.
void await_stream(void *context, void *stream);

}  // namespace calotype::python::cuda
