// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "array.h"

#include <climits>
#include <cstring>
#include <utility>

namespace calotype::python {

namespace {

// Owned references that end with their scope.
class Ref {
public:
    explicit Ref(PyObject *object) : object_(object) {
    }
    ~Ref() {
        Py_XDECREF(object_);
    }
    Ref(const Ref &) = delete;
    Ref &operator=(const Ref &) = delete;
    PyObject *get() const {
        return object_;
    }
    explicit operator bool() const {
        return object_ != nullptr;
    }

private:
    PyObject *object_;
};

// The message of the exception that is set, which is cleared.
std::string take_python_error() {
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    std::string text = "unknown error";
    if (value) {
        Ref as_text(PyObject_Str(value));
        const char *chars = as_text ? PyUnicode_AsUTF8AndSize(as_text.get(), nullptr) : nullptr;
        text = chars ? chars : text;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    PyErr_Clear();
    return text;
}

// An attribute, or nothing if there is none.
PyObject *attribute_of(PyObject *object, const char *name) {
    PyObject *value = PyObject_GetAttrString(object, name);
    if (!value) {
        PyErr_Clear();
    }
    return value;
}

bool has_attribute(PyObject *object, const char *name) {
    return Ref(attribute_of(reinterpret_cast<PyObject *>(Py_TYPE(object)), name)).get() != nullptr;
}

calotype_type_t type_of_letter(char letter, Py_ssize_t bytes, const char *format) {
    const uint8_t bits = uint8_t(bytes * 8);
    if (letter == '?') {
        return {calotype_type_uint, 1};
    }
    if (strchr("bhilqn", letter)) {
        return {calotype_type_int, bits};
    }
    if (strchr("BHILQNc", letter)) {
        return {calotype_type_uint, bits};
    }
    if (strchr("efd", letter)) {
        return {calotype_type_float, bits};
    }
    throw ArrayError(std::string("the array has elements of format '") + format +
                     "', which is no type of pipelines");
}

// "f", "<f4" without the size, "=d": the byte order must be the machine's.
calotype_type_t type_of_format(const char *format, Py_ssize_t bytes) {
    const char *letter = format ? format : "B";
    if (*letter == '>' || *letter == '!') {
        throw ArrayError("the array has big-endian elements");
    }
    letter += *letter == '@' || *letter == '=' || *letter == '<';
    if (*letter == 0 || letter[1] != 0) {
        throw ArrayError(std::string("the array has elements of format '") + format +
                         "', which is no type of pipelines");
    }
    return type_of_letter(*letter, bytes, format ? format : "B");
}

int64_t in_elements(int64_t bytes, int64_t size, int dimension) {
    if (bytes % size != 0) {
        throw ArrayError("the array has a stride of " + std::to_string(bytes) +
                         " bytes in dimension " + std::to_string(dimension) +
                         ", must be a multiple of the " + std::to_string(size) +
                         " bytes of an element");
    }
    return bytes / size;
}

void check_dimensions(int64_t dimensions) {
    if (dimensions > max_array_dimensions) {
        throw ArrayError("the array has " + std::to_string(dimensions) + " dimensions, at most " +
                         std::to_string(max_array_dimensions));
    }
}

calotype_type_t type_of_dlpack(const dlpack::DataType &t) {
    if (t.lanes == 1) {
        switch (t.code) {
        case dlpack::Int:
            return {calotype_type_int, t.bits};
        case dlpack::UInt:
            return {calotype_type_uint, t.bits};
        case dlpack::Float:
            return {calotype_type_float, t.bits};
        case dlpack::BFloat:
            return {calotype_type_bfloat, t.bits};
        case dlpack::Bool:
            return {calotype_type_uint, 1};
        }
    }
    throw ArrayError("the array has elements of DLPack type (" + std::to_string(t.code) + ", " +
                     std::to_string(t.bits) + ", " + std::to_string(t.lanes) +
                     "), which is no type of pipelines");
}

int64_t int_at(PyObject *tuple, Py_ssize_t i) {
    const int64_t value = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
    if (PyErr_Occurred()) {
        throw ArrayError("the array's interface is wrong: " + take_python_error());
    }
    return value;
}

// With the highest version that we know, or as before there were versions.
PyObject *call_dlpack(PyObject *object, bool on_device) {
    Ref method(PyObject_GetAttrString(object, "__dlpack__"));
    Ref nothing(PyTuple_New(0));
    Ref options(on_device ? Py_BuildValue("{s(ii)si}", "max_version", 1, 1, "stream", -1)
                          : Py_BuildValue("{s(ii)}", "max_version", 1, 1));
    PyObject *capsule = PyObject_Call(method.get(), nothing.get(), options.get());
    if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        capsule = PyObject_CallObject(method.get(), nullptr);
    }
    if (!capsule) {
        throw ArrayError("the array gives no view of its memory: " + take_python_error());
    }
    return capsule;
}

}  // namespace

const char *format_of(calotype_type_t t) {
    if (t.lanes != 1) {
        return nullptr;
    }
    switch (t.code) {
    case calotype_type_int:
        return t.bits == 8 ? "b" : t.bits == 16 ? "h" : t.bits == 32 ? "i" : "q";
    case calotype_type_uint:
        return t.bits == 1    ? "?"
               : t.bits == 8  ? "B"
               : t.bits == 16 ? "H"
               : t.bits == 32 ? "I"
                              : "Q";
    case calotype_type_float:
        return t.bits == 16 ? "e" : t.bits == 32 ? "f" : "d";
    case calotype_type_handle:
        return "Q";
    default:
        return nullptr;
    }
}

bool is_array_like(PyObject *object) {
    if (PyType_Check(object) || PyUnicode_Check(object)) {
        return false;
    }
    return PyObject_CheckBuffer(object) || has_attribute(object, "__dlpack__") ||
           PyObject_HasAttrString(object, "__array_interface__") ||
           PyObject_HasAttrString(object, "__cuda_array_interface__");
}

bool Array::import(PyObject *object) {
    release();
    if (PyObject_CheckBuffer(object) && import_buffer(object)) {
        return true;
    }
    return import_dlpack(object) || import_interface(object, "__cuda_array_interface__", true) ||
           import_interface(object, "__array_interface__", false);
}

void Array::release() {
    if (view_.obj) {
        PyBuffer_Release(&view_);
    }
    if (managed_ && managed_->deleter) {
        managed_->deleter(managed_);
    }
    if (versioned_ && versioned_->deleter) {
        versioned_->deleter(versioned_);
    }
    Py_CLEAR(owner_);
    managed_ = nullptr;
    versioned_ = nullptr;
    view_ = {};
}

void Array::copy_shape(calotype_dimension_t *to, bool reverse) const {
    for (int i = 0; i < dimensions; i++) {
        const int from = reverse ? dimensions - 1 - i : i;
        if (extent[from] > INT_MAX || stride[from] > INT_MAX || stride[from] < INT_MIN) {
            throw ArrayError("the array has extent " + std::to_string(extent[from]) +
                             " and stride " + std::to_string(stride[from]) + " in dimension " +
                             std::to_string(from) + ", both must fit in 32 bits");
        }
        to[i] = calotype_dimension_t(0, int32_t(extent[from]), int32_t(stride[from]));
    }
}

bool Array::import_buffer(PyObject *object) {
    if (PyObject_GetBuffer(object, &view_, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
        // Such as elements that have no format (bfloat16): another protocol may have them.
        PyErr_Clear();
        view_ = {};
        return false;
    }
    try {
        check_dimensions(view_.ndim);
        type = type_of_format(view_.format, view_.itemsize);
        data = view_.buf;
        dimensions = view_.ndim;
        read_only = view_.readonly != 0;
        device = {dlpack::CPU, 0};
        for (int i = 0; i < dimensions; i++) {
            extent[i] = view_.shape[i];
            stride[i] = in_elements(view_.strides[i], view_.itemsize, i);
        }
    } catch (...) {
        release();
        throw;
    }
    return true;
}

bool Array::import_dlpack(PyObject *object) {
    if (!has_attribute(object, "__dlpack__")) {
        return false;
    }
    Ref where(PyObject_CallMethod(object, "__dlpack_device__", nullptr));
    if (!where || !PyTuple_Check(where.get())) {
        PyErr_Clear();
        return false;
    }
    Ref capsule(call_dlpack(object, int_at(where.get(), 0) == dlpack::CUDA));
    if (PyCapsule_IsValid(capsule.get(), "dltensor_versioned")) {
        versioned_ = static_cast<dlpack::ManagedVersioned *>(
            PyCapsule_GetPointer(capsule.get(), "dltensor_versioned"));
        PyCapsule_SetName(capsule.get(), "used_dltensor_versioned");
        if (versioned_->version.major != 1) {
            throw ArrayError("the array speaks DLPack " +
                             std::to_string(versioned_->version.major) + ", must be 1");
        }
        read_only = (versioned_->flags & dlpack::read_only_flag) != 0;
        take_tensor(versioned_->tensor);
    } else if (PyCapsule_IsValid(capsule.get(), "dltensor")) {
        managed_ = static_cast<dlpack::Managed *>(PyCapsule_GetPointer(capsule.get(), "dltensor"));
        PyCapsule_SetName(capsule.get(), "used_dltensor");
        read_only = false;
        take_tensor(managed_->tensor);
    } else {
        throw ArrayError("the array's __dlpack__ gives no DLPack capsule");
    }
    return true;
}

void Array::take_tensor(const dlpack::Tensor &tensor) {
    check_dimensions(tensor.ndim);
    type = type_of_dlpack(tensor.dtype);
    data = static_cast<uint8_t *>(tensor.data) + tensor.byte_offset;
    dimensions = tensor.ndim;
    device = tensor.device;
    for (int i = 0; i < dimensions; i++) {
        extent[i] = tensor.shape[i];
        stride[i] = tensor.strides ? tensor.strides[i] : 0;
    }
    if (!tensor.strides) {
        set_dense_strides();
    }
}

void Array::set_dense_strides() {
    int64_t next = 1;
    for (int i = dimensions - 1; i >= 0; i--) {
        stride[i] = next;
        next *= extent[i];
    }
}

bool Array::import_interface(PyObject *object, const char *attribute, bool on_device) {
    Ref interface(attribute_of(object, attribute));
    if (!interface || !PyDict_Check(interface.get())) {
        return false;
    }
    take_interface(interface.get());
    device = {on_device ? dlpack::CUDA : dlpack::CPU, 0};
    Py_INCREF(object);
    owner_ = object;
    return true;
}

void Array::take_interface(PyObject *interface) {
    PyObject *shape = PyDict_GetItemString(interface, "shape");
    PyObject *where = PyDict_GetItemString(interface, "data");
    PyObject *strides = PyDict_GetItemString(interface, "strides");
    PyObject *text = PyDict_GetItemString(interface, "typestr");
    const char *format = text ? PyUnicode_AsUTF8AndSize(text, nullptr) : nullptr;
    if (!shape || !PyTuple_Check(shape) || !where || !PyTuple_Check(where) || !format ||
        strlen(format) < 3) {
        PyErr_Clear();
        throw ArrayError("the array's interface has no shape, data or typestr");
    }
    const int64_t size = atoll(format + 2);
    if (format[0] == '>' && size > 1) {
        throw ArrayError("the array has big-endian elements");
    }
    const char kind = format[1] == 'b'   ? '?'
                      : format[1] == 'i' ? 'i'
                      : format[1] == 'u' ? 'I'
                                         : format[1];
    type = type_of_letter(kind, size, format);
    check_dimensions(PyTuple_Size(shape));
    dimensions = int(PyTuple_Size(shape));
    data = PyLong_AsVoidPtr(PyTuple_GetItem(where, 0));
    read_only = PyObject_IsTrue(PyTuple_GetItem(where, 1)) == 1;
    const bool has_strides = strides && PyTuple_Check(strides);
    for (int i = 0; i < dimensions; i++) {
        extent[i] = int_at(shape, i);
        stride[i] = has_strides ? in_elements(int_at(strides, i), size, i) : 0;
    }
    if (!has_strides) {
        set_dense_strides();
    }
}

}  // namespace calotype::python
