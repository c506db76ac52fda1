// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "interruptible.h"

namespace calotype::python {

Interruptible::Interruptible()
    : told_(ProgressScope::current()), steps_([this](const CompileStep &s) { step(s); }),
      polls_([this] { poll(); }) {
}

// On the thread that compiles.
void Interruptible::step(const CompileStep &s) {
    user_assert(!is_ended_) << "compiling " << s.pipeline << " is ended by a signal";
    if (told_) {
        told_(s);
    }
}

// On the thread that waits for it.
void Interruptible::poll() {
    if (is_ended_ || !Py_IsInitialized()) {
        return;
    }
    HeldGil gil;
    if (run_python(PyErr_CheckSignals) != 0) {
        raised_ = std::make_exception_ptr(nb::python_error());
        is_ended_ = true;
    }
}

void Interruptible::check() {
    if (raised_) {
        std::rethrow_exception(std::exchange(raised_, nullptr));
    }
}

}  // namespace calotype::python
