// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "array.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>

#include "call.h"
#include "cuda.h"
#include "exchange.h"
#include "numpy_array.h"
#include "ref.h"

namespace calotype::python {

static void throw_what_ends_programs() {
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) {
        throw nanobind::python_error();
    }
}

void forget_python_error() {
    throw_what_ends_programs();
    PyErr_Clear();
}

std::string take_python_error() {
    throw_what_ends_programs();
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
    return text.substr(0, text.find('\n'));
}

PyObject *shown(const char *text) {
    return PyUnicode_DecodeUTF8(text, Py_ssize_t(strlen(text)), "backslashreplace");
}

void set_error(PyObject *cls, const char *text) {
    const Ref message(shown(text));
    if (message) {
        PyErr_SetObject(cls, message.get());
    }
}

PyObject *attribute_of(PyObject *object, const char *name) {
    PyObject *value = PyObject_GetAttrString(object, name);
    if (!value) {
        forget_python_error();
    }
    return value;
}

namespace {

// Of its class, so that no property is asked.
bool has_attribute(PyObject *object, const char *name) {
    return bool(Ref(attribute_of(reinterpret_cast<PyObject *>(Py_TYPE(object)), name)));
}

// The elements are of no type of pipelines: how the protocol writes theirs, for where the array has no
// name for it.
struct WrongElements {
    std::string written;
};

calotype_type_t type_of_letter(char letter, Py_ssize_t bytes, const char *format) {
    const bool has_bits = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    const uint8_t bits = has_bits ? uint8_t(bytes * 8) : 0;
    if (letter == '?' && bytes == 1) {
        return {calotype_type_uint, 1};
    }
    if (strchr("bhilqn", letter) && has_bits) {
        return {calotype_type_int, bits};
    }
    if (strchr("BHILQNc", letter) && has_bits) {
        return {calotype_type_uint, bits};
    }
    if (strchr("efd", letter) && has_bits && bytes > 1) {
        return {calotype_type_float, bits};
    }
    throw WrongElements{std::string("format '") + format + "'"};
}

// "f", "<f4" without the size, "=d": the byte order must be the machine's.
calotype_type_t type_of_format(const char *format, Py_ssize_t bytes) {
    const char *letter = format ? format : "B";
    if (*letter == '>' || *letter == '!') {
        throw ArrayError("the array has big-endian elements");
    }
    letter += *letter == '@' || *letter == '=' || *letter == '<';
    if (*letter == 0 || letter[1] != 0) {
        throw WrongElements{std::string("format '") + format + "'"};
    }
    return type_of_letter(*letter, bytes, format ? format : "B");
}

int64_t in_elements(int64_t bytes, int64_t size, int dimension) {
    // Without a division, where every call comes by.
    if ((size & (size - 1)) == 0 && (bytes & (size - 1)) == 0) {
        return bytes >> __builtin_ctzll(uint64_t(size));
    }
    if (bytes % size != 0) {
        throw ArrayError("the array has a stride of " + std::to_string(bytes) +
                         " bytes in dimension " + std::to_string(dimension) +
                         ", must be a multiple of the " + std::to_string(size) +
                         " bytes of an element");
    }
    return bytes / size;
}

// Sizes come from whoever made the array.
int64_t product(int64_t a, int64_t b) {
    int64_t result = 0;
    if (__builtin_mul_overflow(a, b, &result)) {
        throw ArrayError("the array reaches over more bytes than there are addresses");
    }
    return result;
}

int64_t sum(int64_t a, int64_t b) {
    int64_t result = 0;
    if (__builtin_add_overflow(a, b, &result)) {
        throw ArrayError("the array reaches over more bytes than there are addresses");
    }
    return result;
}

void check_dimensions(int64_t dimensions) {
    if (dimensions < 0 || dimensions > max_array_dimensions) {
        throw ArrayError("the array has " + std::to_string(dimensions) + " dimensions, at most " +
                         std::to_string(max_array_dimensions));
    }
}

calotype_type_t type_of_dlpack(const dlpack::DataType &t) {
    const bool has_bits = t.bits == 8 || t.bits == 16 || t.bits == 32 || t.bits == 64;
    if (t.lanes == 1 && has_bits) {
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
    throw WrongElements{"DLPack type (" + std::to_string(t.code) + ", " + std::to_string(t.bits) +
                        ", " + std::to_string(t.lanes) + ")"};
}

int64_t int_at(PyObject *tuple, Py_ssize_t i) {
    const int64_t value = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
    if (PyErr_Occurred()) {
        throw ArrayError("the array's interface is wrong: " + take_python_error());
    }
    return value;
}

// What DLPack and the CUDA array interface call a stream: the default one is 1, as 0 says nothing.
uint64_t number_of_stream(const void *stream) {
    return stream ? reinterpret_cast<uint64_t>(stream) : 1;
}

// What the array calls the type of its elements, as "bfloat16" or "torch.float32"; or nothing.
std::string dtype_text(PyObject *object) {
    const Ref dtype(attribute_of(object, "dtype"));
    const Ref text(dtype ? PyObject_Str(dtype.get()) : nullptr);
    const char *chars = text ? PyUnicode_AsUTF8AndSize(text.get(), nullptr) : nullptr;
    forget_python_error();
    return chars ? chars : "";
}

// numpy has no type of its own for them, and says of those of ml_dtypes that they are two bytes.
bool has_bfloat_elements(PyObject *object) {
    return dtype_text(object) == "bfloat16";
}

// A dictionary, or null where there is none. Of a property that the class has, what it raises is said.
PyObject *interface_of(PyObject *object, const char *name) {
    PyObject *found = PyObject_GetAttrString(object, name);
    if (!found && !PyErr_ExceptionMatches(PyExc_AttributeError)) {
        const std::string why = take_python_error();
        if (has_attribute(object, name)) {
            throw ArrayError("the array gives no view of its memory: " + why);
        }
    }
    PyErr_Clear();
    if (found && !PyDict_Check(found)) {
        Py_CLEAR(found);
    }
    return found;
}

// They have an interface, too: of memory that is gone when they have said where it is.
bool is_numpy_scalar(PyObject *object) {
    const Ref name(PyUnicode_FromString("numpy"));
    const Ref numpy(name ? PyImport_GetModule(name.get()) : nullptr);
    const Ref scalars(numpy ? attribute_of(numpy.get(), "generic") : nullptr);
    const bool is_it = scalars && PyObject_IsInstance(object, scalars.get()) == 1;
    forget_python_error();
    return is_it;
}

// Those of numpy's dates and times say that they are eight bytes.
bool is_numpy_time(PyObject *object) {
    const std::string dtype = is_numpy_scalar(object) ? dtype_text(object) : "";
    return dtype.starts_with("datetime64") || dtype.starts_with("timedelta64");
}

const char *const negative_text =
    "the array's elements are the negatives of those in its memory (torch's negative bit); pass "
    "what resolve_neg() makes of it";

const char *const mask_text =
    "the array has a mask, which pipelines do not know; pass its data or what filled() makes of it";

// Arrays of numpy.ma share the memory of their elements and say nothing of their mask.
void check_mask(PyObject *object) {
    const Ref name(PyUnicode_FromString("numpy.ma"));
    const Ref masked_arrays(name ? PyImport_GetModule(name.get()) : nullptr);
    if (!masked_arrays) {
        PyErr_Clear();
        return;  // without that module there is none
    }
    const Ref is_masked(PyObject_CallMethod(masked_arrays.get(), "isMaskedArray", "O", object));
    const Ref mask(is_masked.get() == Py_True ? attribute_of(object, "mask") : nullptr);
    const Ref no_mask(attribute_of(masked_arrays.get(), "nomask"));
    forget_python_error();
    if (mask && mask.get() != no_mask.get()) {
        throw ArrayError(mask_text);
    }
}

// With the highest version that we know, or as before there were versions.
PyObject *call_dlpack(PyObject *object, PyObject *stream) {
    Ref method(PyObject_GetAttrString(object, "__dlpack__"));
    Ref nothing(PyTuple_New(0));
    Ref options(stream ? Py_BuildValue("{s(ii)sO}", "max_version", 1, 1, "stream", stream)
                       : Py_BuildValue("{s(ii)}", "max_version", 1, 1));
    PyObject *capsule = PyObject_Call(method.get(), nothing.get(), options.get());
    if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        Ref older(stream ? Py_BuildValue("{sO}", "stream", stream) : PyDict_New());
        capsule = PyObject_Call(method.get(), nothing.get(), older.get());
    }
    if (!capsule) {
        const std::string why = take_python_error();
        const std::string dtype = dtype_text(object);
        throw ArrayError("the array" + (dtype.empty() ? "" : " of " + dtype) +
                         " gives no view of its memory: " + why);
    }
    return capsule;
}

// Memory of an array without elements, which may say that it has none: null would ask for bounds.
alignas(64) unsigned char no_elements[64];

// Versions of torch that have no functions for callers in C: its current stream of the device.
bool current_stream_of_torch(PyObject *object, int device, void **stream) {
    Ref module(PyObject_GetAttrString(reinterpret_cast<PyObject *>(Py_TYPE(object)), "__module__"));
    const char *name = module && PyUnicode_Check(module.get())
                           ? PyUnicode_AsUTF8AndSize(module.get(), nullptr)
                           : nullptr;
    PyErr_Clear();
    if (!name || (strcmp(name, "torch") != 0 && strncmp(name, "torch.", 6) != 0)) {
        return false;
    }
    Ref torch(PyImport_ImportModule("torch._C"));
    Ref number(torch ? PyObject_CallMethod(torch.get(), "_cuda_getCurrentRawStream", "i", device)
                     : nullptr);
    const unsigned long long value = number ? PyLong_AsUnsignedLongLong(number.get()) : 0;
    const bool is_known = number && !PyErr_Occurred();
    PyErr_Clear();
    *stream = cuda::plain_stream(value);
    return is_known;
}

}  // namespace

const char *format_of(calotype_type_t t) {
    const bool has_all_bits = t.bits == 8 || t.bits == 16 || t.bits == 32 || t.bits == 64;
    const bool is_bool = t.code == calotype_type_uint && t.bits == 1;
    if (t.lanes != 1 || !(has_all_bits || is_bool)) {
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

// Of its own, or of its class.
static bool has_interface(PyObject *object, const char *name) {
    return has_attribute(object, name) || Ref(attribute_of(object, name));
}

bool is_array_like(PyObject *object) {
    // Lists of sizes come by here: each attribute that is not there is an exception.
    if (PyType_Check(object) || PyUnicode_Check(object) || PyList_CheckExact(object) ||
        PyTuple_CheckExact(object)) {
        return false;
    }
    return PyObject_CheckBuffer(object) || exchange_api_of(object) ||
           has_attribute(object, "__dlpack__") || has_interface(object, "__array_interface__") ||
           has_interface(object, "__cuda_array_interface__");
}

Imported Array::import(PyObject *object, ViewFor use, void *const *consumer, AskedStream *asked) {
    release();
    Imported imported = Imported::nothing;
    try {
        imported = find(object, use, consumer, asked);
    } catch (const WrongElements &wrong) {
        const std::string dtype = dtype_text(object);
        throw ArrayError("the array has elements of " +
                         (dtype.empty() ? wrong.written : "type " + dtype) +
                         ", which is no type of pipelines");
    }
    if (imported == Imported::done) {
        check_memory();
    }
    return imported;
}

void Array::check_memory() {
    bool is_empty = false;
    for (int i = 0; i < dimensions; i++) {
        if (extent[i] < 0) {
            throw ArrayError("Out of range dimensions in buffer conversion: the array has extent " +
                             std::to_string(extent[i]) + " in dimension " + std::to_string(i) +
                             ", must be at least 0");
        }
        is_empty |= extent[i] == 0;
    }
    if (!data && !is_empty) {
        throw ArrayError("the array says that its elements are at address 0");
    }
    if (!data && is_on_host()) {
        data = no_elements;
    }
}

// First what is cheap. The CUDA array interface is asked before DLPack where it names its stream:
// then nothing is made to wait if that is the one of the call.
Imported Array::find(PyObject *object, ViewFor use, void *const *consumer, AskedStream *asked) {
    if (use == ViewFor::call && import_numpy(object)) {
        return Imported::done;
    }
    if (PyObject_CheckBuffer(object)) {
        const bool is_done =
            import_buffer(object) || (has_bfloat_elements(object) && import_interface(object));
        if (is_done) {
            if (!is_known_numpy_class(object)) {
                check_mask(object);
            }
            return Imported::done;
        }
    }
    if (const dlpack::ExchangeApi *api = exchange_api_of(object)) {
        import_exchange(object, *api, use, asked);
        check_negative_bit(object, use);
        return Imported::done;
    }
    if (import_cuda_interface(object)) {
        return Imported::done;
    }
    if (has_attribute(object, "__dlpack__")) {
        const Imported done = import_dlpack(object, consumer);
        if (done == Imported::done) {
            check_negative_bit(object, use);
        }
        if (done != Imported::nothing) {
            return done;
        }
    }
    return import_interface(object) ? Imported::done : Imported::nothing;
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
    stream = nullptr;
    has_stream = false;
}

std::string Array::place() const {
    if (device.type == dlpack::CPU || device.type == dlpack::CUDAHost) {
        return "the host";
    }
    return is_on_cuda() ? "CUDA device " + std::to_string(device.id)
                        : "a device of DLPack's type " + std::to_string(device.type);
}

void Array::copy_shape(calotype_dimension_t *to, bool reverse) const {
    for (int i = 0; i < dimensions; i++) {
        const int from = reverse ? dimensions - 1 - i : i;
        if (extent[from] > INT_MAX || stride[from] > INT_MAX || stride[from] < INT_MIN) {
            throw ArrayError("Out of range dimensions in buffer conversion: the array has extent " +
                             std::to_string(extent[from]) + " and stride " +
                             std::to_string(stride[from]) + " in dimension " +
                             std::to_string(from) + ", both must fit in 32 bits");
        }
        to[i] = calotype_dimension_t(0, int32_t(extent[from]), int32_t(stride[from]));
    }
}

// Of a call the array is an argument, which keeps it.
bool Array::import_numpy(PyObject *object) {
    const NumpyArray *a = numpy_array(object, &type);
    if (!a || a->dimensions > max_array_dimensions) {
        return false;
    }
    const auto least = std::min_element(a->extent, a->extent + a->dimensions);
    const bool has_single = a->dimensions > 0 && *least == 1;
    if (a->dimensions > 0 && *least < 1) {
        return false;
    }
    data = a->data;
    dimensions = a->dimensions;
    read_only = a->is_read_only();
    device = {dlpack::CPU, 0};
    const int bytes = type.bytes();
    for (int i = 0; i < dimensions; i++) {
        extent[i] = a->extent[i];
        stride[i] = in_elements(a->stride[i], bytes, i);
    }
    // Where there is one coordinate numpy's stride may be anything. The buffer protocol sets it right, too.
    if (has_single && (a->flags & NumpyArray::c_contiguous)) {
        set_dense_strides();
    } else if (has_single && (a->flags & NumpyArray::f_contiguous)) {
        for (int64_t i = 0, next = 1; i < dimensions; next *= extent[i++]) {
            stride[i] = next;
        }
    }
    return true;
}

bool Array::import_buffer(PyObject *object) {
    if (PyObject_GetBuffer(object, &view_, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
        // Such as elements that have no format: another protocol may have them.
        view_ = {};
        forget_python_error();
        return false;
    }
    try {
        check_dimensions(view_.ndim);
        type = type_of_format(view_.format, view_.itemsize);
        data = view_.buf;
        dimensions = view_.ndim;
        read_only = view_.readonly != 0;
        device = {dlpack::CPU, 0};
        // Without strides, which arrays of ctypes never have, the elements follow one another.
        int64_t dense = view_.itemsize;
        for (int i = dimensions - 1; i >= 0; i--) {
            extent[i] = view_.shape ? view_.shape[i] : view_.len / view_.itemsize;
            stride[i] = in_elements(view_.strides ? view_.strides[i] : dense, view_.itemsize, i);
            dense *= extent[i];
        }
        if (dimensions == 1 && view_.len == 8 && is_numpy_time(object)) {
            throw WrongElements{"a time"};
        }
        learn_numpy_array(object, view_, type);
    } catch (...) {
        release();
        throw;
    }
    return true;
}

void Array::import_exchange(PyObject *object, const dlpack::ExchangeApi &api, ViewFor use,
                            AskedStream *asked) {
    int status = 0;
    if (use == ViewFor::call && api.look) {
        dlpack::Tensor tensor;
        status = api.look(object, &tensor);
        if (status == 0) {
            read_only = false;
            take_tensor(tensor);
        }
    } else {
        status = api.share(object, &versioned_);
        if (status == 0) {
            read_only = (versioned_->flags & dlpack::read_only_flag) != 0;
            take_tensor(versioned_->tensor);
        }
    }
    if (status == 0 && is_on_cuda()) {
        AskedStream here;
        AskedStream &known = asked ? *asked : here;
        if (known.library != &api || known.device.type != device.type ||
            known.device.id != device.id) {
            known = {&api, device, nullptr};
            status = api.current_stream(device.type, device.id, &known.stream);
            known.library = status == 0 ? &api : nullptr;
        }
        stream = cuda::plain_stream(reinterpret_cast<uint64_t>(known.stream));
        has_stream = true;
    }
    if (status != 0) {
        throw ArrayError("the array gives no view of its memory: " + take_python_error());
    }
}

// Imaginary parts of conjugated arrays of torch: every second element of the memory of others, to be
// negated. DLPack says nothing of it. In calls rows of neighbours are not asked, which most arrays are.
void Array::check_negative_bit(PyObject *object, ViewFor use) const {
    if (type.code != calotype_type_float) {
        return;
    }
    for (int i = 0; use == ViewFor::call && i < dimensions; i++) {
        if (extent[i] > 1 && stride[i] % 2 != 0) {
            return;
        }
    }
    const Ref method(attribute_of(object, "is_neg"));
    const Ref is_negative(method ? PyObject_CallNoArgs(method.get()) : nullptr);
    forget_python_error();
    if (is_negative.get() == Py_True) {
        throw ArrayError(negative_text);
    }
}

Imported Array::import_dlpack(PyObject *object, void *const *consumer) {
    Ref where(PyObject_CallMethod(object, "__dlpack_device__", nullptr));
    if (!where && !PyErr_ExceptionMatches(PyExc_AttributeError)) {
        throw ArrayError("the array gives no view of its memory: " + take_python_error());
    }
    if (!where) {
        forget_python_error();
        return Imported::nothing;
    }
    if (!PyTuple_Check(where.get()) || PyTuple_Size(where.get()) != 2) {
        throw ArrayError("the array's __dlpack_device__ gives " + described(where.get()) +
                         ", must be a tuple of the type and the number of a device");
    }
    const int64_t type = int_at(where.get(), 0);
    if (type != dlpack::CUDA && type != dlpack::CUDAManaged) {
        Ref capsule(call_dlpack(object, nullptr));
        take_capsule(capsule.get());
        return Imported::done;
    }
    void *current = nullptr;
    const bool is_known = current_stream_of_torch(object, int(int_at(where.get(), 1)), &current);
    if (!is_known && !consumer) {
        return Imported::needs_stream;
    }
    Ref number(is_known ? PyLong_FromLong(-1)
                        : PyLong_FromUnsignedLongLong(number_of_stream(*consumer)));
    Ref capsule(call_dlpack(object, number.get()));
    take_capsule(capsule.get());
    stream = current;
    has_stream = is_known;
    return Imported::done;
}

void Array::take_capsule(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        versioned_ = static_cast<dlpack::ManagedVersioned *>(
            PyCapsule_GetPointer(capsule, "dltensor_versioned"));
        PyCapsule_SetName(capsule, "used_dltensor_versioned");
        if (versioned_->version.major != 1) {
            throw ArrayError("the array speaks DLPack " +
                             std::to_string(versioned_->version.major) + ", must be 1");
        }
        read_only = (versioned_->flags & dlpack::read_only_flag) != 0;
        take_tensor(versioned_->tensor);
    } else if (PyCapsule_IsValid(capsule, "dltensor")) {
        managed_ = static_cast<dlpack::Managed *>(PyCapsule_GetPointer(capsule, "dltensor"));
        PyCapsule_SetName(capsule, "used_dltensor");
        read_only = false;
        take_tensor(managed_->tensor);
    } else {
        throw ArrayError("the array's __dlpack__ gives no DLPack capsule");
    }
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
        next = product(next, extent[i]);
    }
}

bool Array::import_interface(PyObject *object) {
    Ref interface(interface_of(object, "__array_interface__"));
    if (!interface || is_numpy_scalar(object)) {
        return false;
    }
    take_interface(object, interface.get());
    device = {dlpack::CPU, 0};
    if (!view_.obj) {
        Py_INCREF(object);
        owner_ = object;
    }
    return true;
}

// Of an address and whether that is read-only, or of an object that has the buffer protocol, which
// pictures of PIL give: those bytes are made for who asks.
void Array::take_interface_memory(PyObject *where, PyObject *offset) {
    if (PyTuple_Check(where)) {
        data = PyLong_AsVoidPtr(PyTuple_GetItem(where, 0));
        read_only = PyObject_IsTrue(PyTuple_GetItem(where, 1)) == 1;
        return;
    }
    if (PyObject_GetBuffer(where, &view_, PyBUF_SIMPLE) != 0) {
        view_ = {};
        return;
    }
    data = static_cast<uint8_t *>(view_.buf) + (offset ? PyLong_AsLongLong(offset) : 0);
    read_only = view_.readonly != 0;
}

// All elements are within the memory of the object that the interface names.
void Array::check_interface_memory() const {
    if (!view_.obj) {
        return;
    }
    const int64_t bytes = type.bytes();
    int64_t first = static_cast<uint8_t *>(data) - static_cast<uint8_t *>(view_.buf);
    int64_t last = first + bytes;
    for (int i = 0; i < dimensions; i++) {
        if (extent[i] == 0) {
            return;
        }
        const int64_t reach = product(product(sum(extent[i], -1), stride[i]), bytes);
        int64_t &end = reach < 0 ? first : last;
        end = sum(end, reach);
    }
    if (first < 0 || last > view_.len) {
        throw ArrayError("the array's interface names " + std::to_string(view_.len) +
                         " bytes, its elements are from " + std::to_string(first) + " to " +
                         std::to_string(last));
    }
}

// Before version 3 it does not say in the order of which stream the array is used; then DLPack is
// better, if there is that.
bool Array::import_cuda_interface(PyObject *object) {
    // torch's property raises for tensors on the host, which have DLPack.
    const bool has_dlpack = has_attribute(object, "__dlpack__");
    const char *const name = "__cuda_array_interface__";
    Ref interface(has_dlpack ? attribute_of(object, name) : interface_of(object, name));
    if (!interface || !PyDict_Check(interface.get())) {
        return false;
    }
    PyObject *version = PyDict_GetItemString(interface.get(), "version");
    const bool names_stream = version && PyLong_Check(version) && PyLong_AsLong(version) >= 3;
    if (!names_stream && has_dlpack) {
        return false;
    }
    take_interface(object, interface.get());
    device = {dlpack::CUDA, 0};
    if (data) {
        device.id = cuda::place_of(reinterpret_cast<uint64_t>(data)).device;
    }
    take_cuda_stream(interface.get());
    Py_INCREF(object);
    owner_ = object;
    return true;
}

void Array::take_cuda_stream(PyObject *interface) {
    PyObject *number = PyDict_GetItemString(interface, "stream");
    if (!number || number == Py_None) {
        // Nothing to wait for; what follows waits for the default stream.
        has_stream = true;
        return;
    }
    const unsigned long long value = PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred()) {
        throw ArrayError("the array's stream is wrong: " + take_python_error());
    }
    if (value == 0) {
        throw ArrayError(
            "the array's stream is 0, must be None, 1 for the default one or a handle");
    }
    stream = cuda::plain_stream(value);
    has_stream = true;
}

void Array::take_interface(PyObject *object, PyObject *interface) {
    PyObject *shape = PyDict_GetItemString(interface, "shape");
    PyObject *where = PyDict_GetItemString(interface, "data");
    PyObject *strides = PyDict_GetItemString(interface, "strides");
    PyObject *text = PyDict_GetItemString(interface, "typestr");
    const char *format = text ? PyUnicode_AsUTF8AndSize(text, nullptr) : nullptr;
    const bool is_memory = where && (PyObject_CheckBuffer(where) ||
                                     (PyTuple_Check(where) && PyTuple_Size(where) == 2));
    if (!shape || !PyTuple_Check(shape) || !is_memory || !format || strlen(format) < 3) {
        PyErr_Clear();
        throw ArrayError("the array's interface has no shape, data or typestr");
    }
    const int64_t size = atoll(format + 2);
    if (size < 1) {
        throw WrongElements{std::string("format '") + format + "'"};
    }
    if (format[0] == '>' && size > 1) {
        throw ArrayError("the array has big-endian elements");
    }
    PyObject *mask = PyDict_GetItemString(interface, "mask");
    if (mask && mask != Py_None) {
        throw ArrayError(mask_text);
    }
    // The letters differ from those of the buffer protocol.
    const char kind = format[1] == 'b'   ? '?'
                      : format[1] == 'i' ? 'i'
                      : format[1] == 'u' ? 'I'
                      : format[1] == 'f' ? 'f'
                                         : 'V';
    const bool is_bfloat = kind == 'V' && size == 2 && has_bfloat_elements(object);
    type =
        is_bfloat ? calotype_type_t{calotype_type_bfloat, 16} : type_of_letter(kind, size, format);
    check_dimensions(PyTuple_Size(shape));
    dimensions = int(PyTuple_Size(shape));
    take_interface_memory(where, PyDict_GetItemString(interface, "offset"));
    if (PyErr_Occurred()) {
        throw ArrayError("the array's interface is wrong: " + take_python_error());
    }
    const bool has_strides = strides && strides != Py_None;
    if (has_strides && (!PyTuple_Check(strides) || PyTuple_Size(strides) != dimensions)) {
        throw ArrayError("the array's interface has no stride for each dimension");
    }
    for (int i = 0; i < dimensions; i++) {
        extent[i] = int_at(shape, i);
        stride[i] = has_strides ? in_elements(int_at(strides, i), size, i) : 0;
    }
    if (!has_strides) {
        set_dense_strides();
    }
    check_interface_memory();
}

}  // namespace calotype::python
