// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "numpy_array.h"

#include <algorithm>
#include <utility>

#include "ref.h"

namespace calotype::python {

namespace {

// Set once, when an array was seen to be laid out as expected.
PyTypeObject *array_class = nullptr;
bool is_laid_out_otherwise = false;

// Of most dtypes there is one object. Those met last are kept, so that no other comes to be at the
// address of one.
struct KnownType {
    PyObject *dtype = nullptr;
    calotype_type_t type;
};
constexpr int most_known = 16;
KnownType known[most_known];
int next_known = 0;

bool has_name(PyObject *object, const char *attribute, const char *name) {
    const Ref value(PyObject_GetAttrString(object, attribute));
    const bool is_it = value && PyUnicode_Check(value.get()) &&
                       PyUnicode_CompareWithASCIIString(value.get(), name) == 0;
    PyErr_Clear();
    return is_it;
}

bool is_array_class(PyTypeObject *type) {
    auto *object = reinterpret_cast<PyObject *>(type);
    const Ref size(PyObject_GetAttrString(object, "__basicsize__"));
    const bool is_large =
        size && PyLong_Check(size.get()) && PyLong_AsLong(size.get()) >= long(sizeof(NumpyArray));
    PyErr_Clear();
    return is_large && has_name(object, "__name__", "ndarray") &&
           has_name(object, "__module__", "numpy");
}

bool is_laid_out_as(const NumpyArray &a, const Py_buffer &view) {
    return a.data == view.buf && a.dimensions == view.ndim &&
           std::equal(view.shape, view.shape + view.ndim, a.extent) &&
           std::equal(view.strides, view.strides + view.ndim, a.stride) &&
           a.is_read_only() == (view.readonly != 0);
}

const NumpyArray &as_array(PyObject *object) {
    return *reinterpret_cast<const NumpyArray *>(object);
}

}  // namespace

const NumpyArray *numpy_array(PyObject *object, calotype_type_t *type) {
    if (Py_TYPE(object) != array_class) {
        return nullptr;
    }
    const NumpyArray &a = as_array(object);
    for (const KnownType &k : known) {
        if (k.dtype == a.dtype) {
            *type = k.type;
            return &a;
        }
    }
    return nullptr;
}

bool is_known_numpy_class(PyObject *object) {
    return Py_TYPE(object) == array_class;
}

void learn_numpy_array(PyObject *object, const Py_buffer &view, calotype_type_t type) {
#ifdef Py_GIL_DISABLED
    return;
#endif
    // Of other shapes the fields could be taken for each other.
    if (is_laid_out_otherwise || view.ndim < 1) {
        return;
    }
    if (!array_class) {
        if (!is_array_class(Py_TYPE(object))) {
            return;
        }
        is_laid_out_otherwise = !is_laid_out_as(as_array(object), view);
        if (is_laid_out_otherwise) {
            return;
        }
        Py_INCREF(reinterpret_cast<PyObject *>(Py_TYPE(object)));
        array_class = Py_TYPE(object);
    }
    if (Py_TYPE(object) == array_class) {
        PyObject *dtype = as_array(object).dtype;
        Py_INCREF(dtype);
        const Ref forgotten(std::exchange(known[next_known].dtype, dtype));
        known[next_known].type = type;
        next_known = (next_known + 1) % most_known;
    }
}

}  // namespace calotype::python
