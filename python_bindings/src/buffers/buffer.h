// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffer, and the arrays of other libraries as Buffers.
#pragma once

#include "args.h"

namespace calotype::python {

/// A Buffer that shares the memory of an array and keeps it alive.
Buffer<> buffer_of_array(nb::handle array, const std::string &name, bool reverse_axes);
/// A CompileError if the memory is that of a read-only array. `what` begins the message.
void check_writable(const Buffer<> &b, const std::string &what);
/// The same with the dimensions in the opposite order.
Buffer<> with_reversed_axes(const Buffer<> &b);
/// What a copy between host and device answered, as an exception if it failed.
void check_device_status(int status, const char *what);
void check_dimension(const Buffer<> &b, int d);

void bind_buffer_shape(nb::class_<Buffer<>> &c);
void bind_buffer_elements(nb::class_<Buffer<>> &c);
void bind_buffer_arrays(nb::class_<Buffer<>> &c);
/// The slots of the buffer protocol.
PyType_Slot *buffer_slots();

}  // namespace calotype::python
