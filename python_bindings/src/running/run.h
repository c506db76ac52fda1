// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running pipelines from Python.
#pragma once

#include <calotype/runtime/abi/device_context.h>

#include "active_runs.h"
#include "args.h"
#include "call.h"

namespace calotype::python {

/// The context of one run: what the pipeline prints goes to sys.stdout.
class PythonContext : public JITUserContext {
public:
    PythonContext();
    PythonContext(const PythonContext &) = delete;
    PythonContext &operator=(const PythonContext &) = delete;
    /// What code is passed to work there; null: on the default context and stream.
    void *on(const calotype_device_context *where);
    /// Calls f() without the GIL, and raises what functions of Python have raised in it, rather
    /// than what became of that.
    template<typename F>
    void run(const F &f) {
        std::exception_ptr thrown;
        {
            ReleasedGil without_gil;
            const ActiveRun run;
            try {
                f();
            } catch (...) {
                thrown = caught();
            }
        }
        check();
        if (thrown) {
            std::rethrow_exception(thrown);
        }
    }
    /// What a function of Python has raised that a run calls, on whichever of its threads. If it is
    /// not known of which run, then of the next that ends. With the GIL.
    static void keep_raised(const nb::python_error &e);

private:
    void check();
    static void print(JITUserContext *context, const char *text);
    std::exception_ptr raised_;
    calotype_device_context where_ = {};
};

/// realize(sizes) gives a Buffer, or a tuple of them; realize(buffers) fills them and gives None.
nb::object realize(Pipeline p, nb::handle sizes_or_buffers, const Target &target);
void infer_input_bounds(Pipeline p, nb::handle sizes_or_buffers, const Target &target);

/// A Callable as Python calls it.
nb::object to_python_callable(const Callable &c, const Target &target);

/// The JIT's code for a target, as what is called.
Callee callee_of(const Target &target);

}  // namespace calotype::python
