// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes: of what is realized, and of Buffers.
#include "bindings.h"

namespace calotype::python {

namespace {

// Numbers of numpy are such, too. An array without dimensions is a number as well, but has an
// element that can be set. Most are ints, which are not asked: each "no" is an exception.
bool is_size(nb::handle h) {
    return PyLong_Check(h.ptr()) ||
           (!nb::inst_check(h) && PyIndex_Check(h.ptr()) &&
            !has(reinterpret_cast<PyObject *>(Py_TYPE(h.ptr())), "__setitem__"));
}

int to_size(nb::handle h, size_t i, const char *of) {
    long long size = -1;
    int overflow = 0;
    if (PyIndex_Check(h.ptr())) {
        PyObject *index = PyNumber_Index(h.ptr());
        if (!index) {
            nb::raise_python_error();
        }
        size = PyLong_AsLongLongAndOverflow(index, &overflow);
        Py_DECREF(index);
    }
    call_assert(overflow == 0 && size >= 0 && size <= INT32_MAX)
        << "size " << i << " of " << of << " is " << describe(h)
        << ", must be an integer from 0 to 2147483647";
    return int(size);
}

}  // namespace

bool are_sizes(nb::handle h) {
    if (h.is_none()) {
        return true;
    }
    if (!PyTuple_Check(h.ptr()) && !PyList_Check(h.ptr())) {
        return false;
    }
    for (nb::handle item : nb::iter(h)) {
        if (!is_size(item)) {
            return false;
        }
    }
    return true;
}

std::vector<int> to_sizes(nb::handle h, const char *of) {
    std::vector<int> sizes;
    if (!h.is_none()) {
        for (nb::handle item : nb::iter(h)) {
            sizes.push_back(to_size(item, sizes.size(), of));
        }
    }
    return sizes;
}

bool is_iterable(nb::handle h) {
    const nb::object method = nb::steal(attribute_of(h.type().ptr(), "__iter__"));
    return method.is_valid() && !method.is_none();
}

nb::object list_or_arguments(const nb::args &args) {
    const bool is_list = args.size() == 1 && is_iterable(args[0]);
    return is_list ? nb::object(args[0]) : nb::object(args);
}

bool is_sequence(nb::handle h) {
    return PySequence_Check(h.ptr()) && !PyUnicode_Check(h.ptr()) && !PyBytes_Check(h.ptr()) &&
           !nb::inst_check(h);
}

std::vector<int> to_buffer_sizes(nb::handle h) {
    return to_sizes(h, "a Buffer");
}

}  // namespace calotype::python
