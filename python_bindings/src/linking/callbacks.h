// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of Python as callbacks of linkables.
#pragma once

#include "args.h"

namespace calotype::python {

/// `linkable` with functions of Python that are called with a LinkableEvent: when a module that
/// holds it has been loaded, and before it is unloaded. None: there is no such callback.
Linkable with_callbacks(const Linkable &linkable, nb::object setup, nb::object teardown);

void bind_callbacks(PythonModule &m);

}  // namespace calotype::python
