// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who holds Python's lock (the GIL).
//
// While the interpreter ends, Python ends each other thread that asks for the lock, within the
// request: it unwinds the thread's stack, whose destructors would use Python without the lock or
// are not allowed to be left like that. Such a thread sleeps from then on, as Python 3.14 has it.
// Code of Python asks for the lock at any time, so that calls of it are ended like that, too. Once the
// interpreter has ended there is no lock to ask for, while other threads may run on until exit() is through.
#pragma once

#include <Python.h>

#include <unistd.h>

#include <exception>

namespace calotype::python {

[[noreturn]] inline void sleep_to_the_end() {
    for (;;) {
        pause();
    }
}

/// Before the lock is asked for: does not come back if there is none any more. The thread that ends the
/// interpreter has a state to the last.
inline void sleep_if_python_has_ended() {
    if (!Py_IsInitialized() && !PyGILState_GetThisThreadState()) {
        sleep_to_the_end();
    }
}

/// In a catch (...): what was thrown. It is not come back from where Python is ending the thread, as a
/// handler must not be left then.
inline std::exception_ptr caught() {
    const std::exception_ptr thrown = std::current_exception();
    if (!thrown) {
        sleep_to_the_end();
    }
    return thrown;
}

/// f(), which runs code of Python while destructors around it need the lock.
template<typename F>
auto run_python(const F &f) -> decltype(f()) {
    try {
        return f();
    } catch (...) {
        caught();
        throw;
    }
}

/// Lets other threads of Python run as long as it lives.
class ReleasedGil {
public:
    ReleasedGil() : state_(PyEval_SaveThread()) {
    }
    ~ReleasedGil() {
        sleep_if_python_has_ended();
        try {
            PyEval_RestoreThread(state_);
        } catch (...) {
            sleep_to_the_end();
        }
    }
    ReleasedGil(const ReleasedGil &) = delete;
    ReleasedGil &operator=(const ReleasedGil &) = delete;

private:
    PyThreadState *state_;
};

/// Holds the lock, on any thread.
class HeldGil {
public:
    HeldGil() {
        sleep_if_python_has_ended();
        try {
            state_ = PyGILState_Ensure();
        } catch (...) {
            sleep_to_the_end();
        }
    }
    ~HeldGil() {
        PyGILState_Release(state_);
    }
    HeldGil(const HeldGil &) = delete;
    HeldGil &operator=(const HeldGil &) = delete;

private:
    PyGILState_STATE state_;
};

}  // namespace calotype::python
