// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What types of arrays offer to callers in C: DLPack's functions, and the coordinates of Buffers.
#pragma once

#include <Python.h>

#include "dlpack.h"

namespace calotype::python {

/// The functions of the type of an array, or null. Remembered for each type. With the GIL.
const dlpack::ExchangeApi *exchange_api_of(PyObject *array);

/// What Buffers of the language are asked by modules that do not know them, in a capsule that the
/// static method __calotype_buffer__ of their class gives: the buffer protocol has no coordinates.
struct BufferApi {
    static constexpr const char *capsule_name = "calotype_buffer";
    /// The first coordinate of each dimension, in the order of the Buffer.
    void (*copy_mins)(PyObject *buffer, int32_t *mins);
};

/// The functions of the type of an object, or null. As above.
const BufferApi *buffer_api_of(PyObject *object);

}  // namespace calotype::python
