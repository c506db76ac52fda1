// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which types of arrays have DLPack's functions for callers in C.
#pragma once

#include <Python.h>

#include "dlpack.h"

namespace calotype::python {

/// The functions of the type of an array, or null. Remembered for each type. With the GIL.
const dlpack::ExchangeApi *exchange_api_of(PyObject *array);

}  // namespace calotype::python
