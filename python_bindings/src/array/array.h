// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays of other libraries, seen without a copy: by the buffer protocol, DLPack,
// __array_interface__ or __cuda_array_interface__.
#pragma once

#include <Python.h>

#include <stdexcept>
#include <string>

#include <calotype/runtime/abi/buffer.h>

#include "dlpack.h"

namespace calotype::python {

/// An array that cannot be used: becomes a ValueError.
class ArrayError : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

constexpr int max_array_dimensions = 16;

/// A view of an array, and a share in its memory. Made and ended with the GIL.
class Array {
public:
    void *data = nullptr;
    calotype_type_t type;
    int dimensions = 0;
    /// In the order of the array, strides in elements.
    int64_t extent[max_array_dimensions], stride[max_array_dimensions];
    bool read_only = false;
    dlpack::Device device = {dlpack::CPU, 0};

    Array() = default;
    ~Array() {
        release();
    }
    Array(const Array &) = delete;
    Array &operator=(const Array &) = delete;

    /// False if the object is no array. An ArrayError if it is one that cannot be viewed.
    bool import(PyObject *object);
    void release();
    bool is_on_host() const {
        return device.type == dlpack::CPU || device.type == dlpack::CUDAHost ||
               device.type == dlpack::CUDAManaged;
    }
    /// The shape as a buffer has it: with `reverse`, the last dimension of the array first.
    void copy_shape(calotype_dimension_t *to, bool reverse) const;

private:
    bool import_buffer(PyObject *object);
    bool import_dlpack(PyObject *object);
    bool import_interface(PyObject *object, const char *attribute, bool on_device);
    void take_tensor(const dlpack::Tensor &tensor);
    void take_interface(PyObject *interface);
    void set_dense_strides();

    // What keeps the memory: at most one of them.
    Py_buffer view_ = {};
    PyObject *owner_ = nullptr;
    dlpack::Managed *managed_ = nullptr;
    dlpack::ManagedVersioned *versioned_ = nullptr;
};

/// Whether Array::import is worth a try.
bool is_array_like(PyObject *object);

/// The letter of a type as struct and the buffer protocol have it; null if they have none.
const char *format_of(calotype_type_t type);

}  // namespace calotype::python
