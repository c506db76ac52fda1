// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffer, and the arrays of other libraries as Buffers.
#pragma once

#include "args.h"

namespace calotype::python {

/// Whether it is a Buffer. Its type is looked up once: at each call that would take as long as the rest.
inline bool is_buffer(nb::handle h) {
    static auto *const type = reinterpret_cast<PyTypeObject *>(nb::type<Buffer<>>().ptr());
    return PyObject_TypeCheck(h.ptr(), type) != 0;
}
/// A Buffer that shares the memory of an array and keeps it alive.
Buffer<> buffer_of_array(nb::handle array, const std::string &name, bool reverse_axes);
/// The device of the array on CUDA that it is of, else -1.
int cuda_device_of_array(const Buffer<> &b);
/// Beside the default stream, in whose order Buffers are used: whichever the array's library uses.
/// `before` a use that one waits for the other, after it the other for the one.
void order_with_array(const Buffer<> &b, bool before);
/// Null if this build has none.
const calotype_device_interface_t *cuda_interface();
bool is_read_only(const Buffer<> &b);
/// Brings the host's copy up to date. Empty if it can be shown, else why not.
std::string why_not_shown(const Buffer<> &b);
/// A CallError if the memory is that of a read-only array. `what` begins the message.
void check_writable(const Buffer<> &b, const std::string &what);
/// The same with the dimensions in the opposite order.
Buffer<> with_reversed_axes(const Buffer<> &b);
/// A CompileError if elements of these sizes are more than memory can have.
void check_bytes(const std::vector<int> &sizes, const Type &t);
/// The same of sizes that must not be negative, too.
void check_sizes(const std::vector<int> &sizes, const Type &t);
/// A CompileError unless `order` has each of 0 to dimensions - 1 once.
void check_order(const std::vector<int> &order, size_t dimensions);
/// The Buffer itself; a std::bad_alloc if it got no memory for its elements.
Buffer<> with_memory(Buffer<> b);
/// What a copy between host and device answered, as an exception if it failed.
int check_device_status(int status, const char *what);
void check_dimension(const Buffer<> &b, int d);
/// A function of Python's own, also while the interpreter ends and nothing can be imported.
nb::object builtin(const char *name);

void bind_buffer_shape(PythonClass<Buffer<>> &c);
void bind_buffer_elements(PythonClass<Buffer<>> &c);
void bind_buffer_arrays(PythonClass<Buffer<>> &c);
void bind_buffer_dlpack(PythonClass<Buffer<>> &c);
void bind_buffer_state(PythonClass<Buffer<>> &c);
/// The slots of the buffer protocol and of the garbage collector.
PyType_Slot *buffer_slots();

}  // namespace calotype::python
