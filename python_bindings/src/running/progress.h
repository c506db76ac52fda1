// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "args.h"

namespace calotype::python {

/// The class _Progress, by which calotype.progress learns what is compiled.
void bind_progress(PythonModule &m);

}  // namespace calotype::python
