// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "loop_directives.h"

namespace calotype::python {

namespace {

template<typename T>
void bind_all(PythonClass<T> &c) {
    bind_splits(c);
    bind_tiles(c);
    bind_loop_types(c);
    bind_partitions(c);
    bind_promises(c);
}

}  // namespace

void bind_loop_directives(PythonClass<Func> &c) {
    bind_all(c);
}

void bind_loop_directives(PythonClass<Stage> &c) {
    bind_all(c);
}

}  // namespace calotype::python
