// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays of numpy, looked at without its help: what the buffer protocol does for one takes as long
// as the rest of a call.
#pragma once

#include <Python.h>

#include <calotype/runtime/abi/type.h>

namespace calotype::python {

/// What numpy's extensions are compiled to find in an array, in every version that has extensions
/// compiled for another: behind the head that all objects have.
struct NumpyArray {
    PyObject head;
    void *data;
    int dimensions;
    Py_ssize_t *extent, *stride;  ///< strides in bytes
    PyObject *base, *dtype;
    int flags;

    static constexpr int c_contiguous = 1, f_contiguous = 2, writeable = 0x400;
    bool is_read_only() const {
        return (flags & writeable) == 0;
    }
};

/// The array that an object is, and the type of its elements; null if it must be asked by a
/// protocol. With the GIL, as the next.
const NumpyArray *numpy_array(PyObject *object, calotype_type_t *type);

/// Of the class ndarray itself, as far as that is known by now.
bool is_known_numpy_class(PyObject *object);

/// Learns from an array that the buffer protocol has shown: that arrays of numpy are laid out as
/// above, and what their dtypes stand for.
void learn_numpy_array(PyObject *object, const Py_buffer &view, calotype_type_t type);

}  // namespace calotype::python
