// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// flatten_storage: turns coordinates into addresses.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Storage becomes one flat buffer a Func, coordinates become one index.
///
///     realize f[x0, w], [y0, h] of float32 { f(x, y) = im(x, y) }
///     ->
///     let f.min.0 = x0, f.extent.0 = w, f.stride.0 = 1
///     let f.min.1 = y0, f.extent.1 = h, f.stride.1 = f.extent.0 * f.stride.0
///     allocate f[float32 * f.extent.0 * f.extent.1]
///     f[(x - f.min.0)*f.stride.0 + (y - f.min.1)*f.stride.1] =
///         im[x*im.stride.0 + y*im.stride.1 - (im.min.0*im.stride.0 + im.min.1*im.stride.1)]
///
/// The order of dimensions in memory is that of the Func's schedule; where it names none, a dimension
/// that all vectors lie along is the first (lane_dimensions). align_storage rounds the extents (and so
/// strides) up. Indices are int32, int64 where the target has large buffers. Bools are bytes in memory.
/// `f.buffer`, where something takes the address of it, is a buffer header made on the stack.
///
/// Requires: one value a Func (split_tuples); names are unique.
/// Establishes: no Realize, Provide, and no calls of Funcs or images.
///     Outputs and inputs are addressed with the Variables `name.min.d`, `name.stride.d` of their
///     buffers; their Loads and Stores carry the Parameter or Image as symbol.
/// Order: before the loops are unrolled and vectorised, which only know flat memory.
Stmt flatten_storage(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
