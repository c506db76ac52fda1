// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How sequences of Python become std::vectors and the other way round; in place of
// nanobind/stl/vector.h.
#pragma once

#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/detail/nb_list.h>

#include "array.h"

namespace nanobind::detail {

// Sequences of the user's are code of Python. What ends programs, as KeyboardInterrupt, is raised
// out of that; all else says that the argument is of another kind.
template<typename T, typename Allocator>
struct type_caster<std::vector<T, Allocator>> : list_caster<std::vector<T, Allocator>, T> {
    bool from_python(handle h, uint32_t flags, cleanup_list *cleanup) {
        this->value.clear();
        if (PyUnicode_Check(h.ptr()) || PyBytes_Check(h.ptr()) || !PySequence_Check(h.ptr())) {
            return false;
        }
        const Py_ssize_t size = PySequence_Size(h.ptr());
        for (Py_ssize_t i = 0; i < size; i++) {
            const object item = steal(PySequence_GetItem(h.ptr(), i));
            make_caster<T> caster;
            if (!item.is_valid() ||
                !caster.from_python(item, flags_for_local_caster<T>(flags), cleanup) ||
                !caster.template can_cast<T>()) {
                calotype::python::forget_python_error();
                return false;
            }
            this->value.push_back(caster.operator cast_t<T>());
        }
        calotype::python::forget_python_error();
        return size >= 0;
    }
};

}  // namespace nanobind::detail
