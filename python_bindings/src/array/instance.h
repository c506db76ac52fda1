// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The value in an object of one of our classes, for functions that Python calls without nanobind.
#pragma once

#include <nanobind/nanobind.h>

#include "array.h"

namespace calotype::python {

/// An ArrayError if there is none: the object was made by __new__ alone, or its class's __init__
/// does not call that of ours.
template<typename T>
T &instance(PyObject *object) {
    if (!nanobind::inst_ready(object)) {
        throw ArrayError(std::string("an object of class ") +
                         nanobind::type_name(nanobind::type<T>()).c_str() +
                         " is used whose __init__ was never called");
    }
    return *nanobind::inst_ptr<T>(object);
}

/// In another interpreter than the main one false, with an ImportError: what the modules and
/// nanobind keep in static variables is of the interpreter that imports them first.
inline bool is_main_interpreter() {
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) {
        return true;
    }
    PyErr_SetString(PyExc_ImportError, "calotype can be used in the main interpreter alone");
    return false;
}

}  // namespace calotype::python
