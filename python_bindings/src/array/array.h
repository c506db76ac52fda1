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

/// Clears the exception of Python that is set: an object lacks what it was asked for. One that is no
/// Exception, as KeyboardInterrupt and SystemExit, is not about the object: it is thrown on, as nanobind's.
void forget_python_error();
/// As forget_python_error; its first line, as torch's go on for pages.
std::string take_python_error();
/// An attribute, or null if there is none.
PyObject *attribute_of(PyObject *object, const char *name);
/// A new str, in which bytes that are no UTF-8 are written as \xff.
PyObject *shown(const char *text);
/// Sets an exception with that text.
void set_error(PyObject *cls, const char *text);

constexpr int max_array_dimensions = 16;

enum class Imported {
    nothing,  ///< the object is not an array
    done,
    needs_stream  ///< it must be told which stream will use it
};

/// How long an array is looked at: for a call that the object outlives, or as long as the view.
enum class ViewFor { call, long_use };

/// What a library has answered for one array of a call, whose others need not ask: the current
/// stream of a device.
struct AskedStream {
    const void *library = nullptr;  ///< null: none was asked yet
    dlpack::Device device = {};
    void *stream = nullptr;
};

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
    /// On a CUDA device: the stream in whose order its library uses it. If there is none, it was
    /// made to wait for what was given to import(), and does not know of what follows.
    void *stream = nullptr;
    bool has_stream = false;

    Array() = default;
    ~Array() {
        release();
    }
    Array(const Array &) = delete;
    Array &operator=(const Array &) = delete;

    /// An ArrayError if it is an array that cannot be viewed. `consumer` is the stream of CUDA that
    /// will use the array; null: not known yet. `asked` is what arrays of one call share.
    Imported import(PyObject *object, ViewFor use, void *const *consumer,
                    AskedStream *asked = nullptr);
    void release();
    bool is_on_host() const {
        return device.type == dlpack::CPU || device.type == dlpack::CUDAHost ||
               device.type == dlpack::CUDAManaged;
    }
    bool is_on_cuda() const {
        return device.type == dlpack::CUDA || device.type == dlpack::CUDAManaged;
    }
    /// "the host", "CUDA device 1", "memory of device type 7"
    std::string place() const;
    /// The object of Python that keeps the memory; null if what does is not known to Python.
    PyObject *keeper() const {
        return view_.obj ? view_.obj : owner_;
    }
    /// The shape as a buffer has it: with `reverse`, the last dimension of the array first.
    void copy_shape(calotype_dimension_t *to, bool reverse) const;

private:
    Imported find(PyObject *object, ViewFor use, void *const *consumer, AskedStream *asked);
    void check_memory();
    bool import_numpy(PyObject *object);
    bool import_buffer(PyObject *object);
    void import_exchange(PyObject *object, const dlpack::ExchangeApi &api, ViewFor use,
                         AskedStream *asked);
    void check_negative_bit(PyObject *object, ViewFor use) const;
    Imported import_dlpack(PyObject *object, void *const *consumer);
    void take_capsule(PyObject *capsule);
    bool import_interface(PyObject *object);
    bool import_cuda_interface(PyObject *object);
    void take_cuda_stream(PyObject *interface);
    void take_tensor(const dlpack::Tensor &tensor);
    void take_interface(PyObject *object, PyObject *interface);
    void take_interface_memory(PyObject *where, PyObject *offset);
    void check_interface_memory() const;
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
