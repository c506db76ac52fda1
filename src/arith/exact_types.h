// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types whose arithmetic does not wrap.
#pragma once

#include "ir/type.h"

namespace calotype::internal {

/// True of int32 and int64: their arithmetic is taken not to overflow, so sums may be reordered and
/// moved from one side of a comparison to the other.
inline bool is_exact_int(Type t) {
    return t.is_int() && !t.can_overflow();
}

/// The same of floats, too, whose arithmetic is rounded but keeps the order.
inline bool never_wraps(Type t) {
    return t.is_float() || is_exact_int(t);
}

}  // namespace calotype::internal
