// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Python.h>

namespace calotype::python {

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

}  // namespace calotype::python
