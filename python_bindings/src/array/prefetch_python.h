// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A Prefetch as an object of Python. Both extension modules make them, so that it is no class of
// either: the class is calotype._prefetch.Prefetch, and has the Prefetch in a capsule.
#pragma once

#include <nanobind/nanobind.h>

#include "gil.h"
#include "prefetch.h"

namespace calotype::python {

/// An object of that class. `await` is the module's function _await_prefetch.
inline nanobind::object to_python(std::unique_ptr<Prefetch> prefetch, nanobind::handle await) {
    namespace nb = nanobind;
    const uint32_t modules = prefetch->modules();
    nb::capsule capsule(prefetch.release(), "calotype_prefetch",
                        [](void *p) noexcept { delete static_cast<Prefetch *>(p); });
    return nb::module_::import_("calotype._prefetch").attr("Prefetch")(capsule, await, modules);
}

/// Defines _await_prefetch(capsule, milliseconds): None until all is loaded, then what went wrong.
inline void bind_prefetch(nanobind::module_ &m) {
    namespace nb = nanobind;
    m.def("_await_prefetch", [](nb::capsule capsule, uint32_t milliseconds) -> nb::object {
        auto *prefetch = static_cast<Prefetch *>(capsule.data("calotype_prefetch"));
        std::string problem;
        bool is_done = false;
        {
            ReleasedGil without_gil;
            is_done = prefetch->wait(milliseconds, &problem);
        }
        return is_done ? nb::object(nb::str(problem.c_str())) : nb::none();
    });
}

}  // namespace calotype::python
