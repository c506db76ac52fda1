// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a str of Python becomes a std::string and the other way round; in place of
// nanobind/stl/string.h.
#pragma once

#include <string>

#include <nanobind/nanobind.h>

namespace nanobind::detail {

// Names of files may hold bytes that are no UTF-8, and Python has surrogates in their places; they
// become those bytes. What must be UTF-8 is looked at where it is used.
template<>
struct type_caster<std::string> {
    NB_TYPE_CASTER(std::string, const_name("str"))

    bool from_python(handle h, uint32_t, cleanup_list *) noexcept {
        if (!PyUnicode_Check(h.ptr())) {
            return false;
        }
        for (const char *errors : {"strict", "surrogateescape", "surrogatepass"}) {
            PyObject *bytes = PyUnicode_AsEncodedString(h.ptr(), "utf-8", errors);
            if (bytes) {
                value.assign(PyBytes_AsString(bytes), size_t(PyBytes_Size(bytes)));
                Py_DECREF(bytes);
                return true;
            }
            PyErr_Clear();
        }
        return false;
    }
    static handle from_cpp(const std::string &text, rv_policy, cleanup_list *) noexcept {
        return PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "surrogateescape");
    }
};

}  // namespace nanobind::detail
