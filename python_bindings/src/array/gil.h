// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who holds Python's lock (the GIL).
//
// While the interpreter ends, Python ends each other thread that asks for the lock, within the
// request: it unwinds the thread's stack, whose destructors would use Python without the lock or
// are not allowed to be left like that. Such a thread sleeps from then on, as Python 3.14 has it.
#pragma once

#include <Python.h>

#include <unistd.h>

namespace calotype::python {

[[noreturn]] inline void sleep_to_the_end() {
    for (;;) {
        pause();
    }
}

/// Lets other threads of Python run as long as it lives.
class ReleasedGil {
public:
    ReleasedGil() : state_(PyEval_SaveThread()) {
    }
    ~ReleasedGil() {
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
