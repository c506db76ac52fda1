// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running pipelines from Python.
#pragma once

#include "args.h"

namespace calotype::python {

/// The context of one run: what the pipeline prints goes to sys.stdout.
class PythonContext : public JITUserContext {
public:
    PythonContext();
    PythonContext(const PythonContext &) = delete;
    PythonContext &operator=(const PythonContext &) = delete;
    /// Raises what sys.stdout raised, if anything. With the GIL.
    void check() const;

private:
    static void print(JITUserContext *context, const char *text);
    std::exception_ptr raised_;
};

/// realize(sizes) gives a Buffer, or a tuple of them; realize(buffers) fills them and gives None.
nb::object realize(Pipeline p, nb::handle sizes_or_buffers, const Target &target);
void infer_input_bounds(Pipeline p, nb::handle sizes_or_buffers, const Target &target);

/// A Callable as Python calls it.
nb::object to_python_callable(const Callable &c);

}  // namespace calotype::python
