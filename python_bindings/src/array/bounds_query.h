// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a pipeline needs of its inputs for results of given sizes, asked of its compiled code.
#pragma once

#include <functional>
#include <vector>

#include "call.h"

namespace calotype::python {

/// For each buffer in order, input or output, the range that the code says for each axis of an
/// array.
struct AxisRange {
    int64_t min, extent;
};
using BufferRanges = std::vector<std::vector<AxisRange>>;

/// `outputs` has the shape of each output as an array, `scalars` a number for each scalar or None
/// for its default. `run` calls the argv function; what it throws is passed on. An ArrayError if
/// the numbers of them are wrong.
BufferRanges query_bounds(const Signature &signature, PyObject *outputs, PyObject *scalars,
                          const std::function<void(const void **argv)> &run);

/// The same as lists of lists of pairs; a new reference.
PyObject *to_python(const BufferRanges &ranges);

}  // namespace calotype::python
