// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is done before the interpreter ends.
#pragma once

#include "bindings.h"
#include "gil.h"

namespace calotype::python {

/// Has f() called then, without the GIL; once, however often this is reached. With the GIL.
template<typename F>
void call_at_exit(const F &f) {
    static bool is_registered = false;
    if (!is_registered) {
        nb::module_::import_("atexit").attr("register")(nb::cpp_function([f]() {
            const ReleasedGil without_gil;
            f();
        }));
        is_registered = true;
    }
}

}  // namespace calotype::python
