// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Func: compiling and running.
#include "compiling.h"
#include "func_args.h"

namespace calotype::python {

void bind_func_compiling(PythonClass<Func> &c) {
    bind_writes(c);
    bind_statements(c);
    bind_multitarget(c);
    bind_running(c);
    c.def("pipeline", &Func::pipeline);
}

}  // namespace calotype::python
