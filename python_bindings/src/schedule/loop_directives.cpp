// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "loop_directives.h"

namespace calotype::python {

namespace {

template<typename T>
void bind_all(nb::class_<T> &c) {
    bind_splits(c);
    bind_tiles(c);
    bind_loop_types(c);
    bind_partitions(c);
    bind_promises(c);
}

}  // namespace

void bind_loop_directives(nb::class_<Func> &c) {
    bind_all(c);
}

void bind_loop_directives(nb::class_<Stage> &c) {
    bind_all(c);
}

}  // namespace calotype::python
