// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs that are under way, for the end of the interpreter to wait for.
#pragma once

namespace calotype::python {

/// A run, as long as it lives. Once the interpreter has begun to end, other threads than the one that ends it sleep in
/// place of beginning one.
class ActiveRun {
public:
    ActiveRun();
    ~ActiveRun();
    ActiveRun(const ActiveRun &) = delete;
    ActiveRun &operator=(const ActiveRun &) = delete;
};

/// Before the interpreter ends, runs that are under way come to their ends, or have had two seconds to do so: the
/// functions of Python that they call, on threads that Python does not know, have nowhere to run afterwards, and
/// the closures that ctypes makes of them do not ask. With the GIL.
void wait_for_runs_at_exit();

}  // namespace calotype::python
