// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The type that a handle points to, where it is known.
#pragma once

#include "ir/type_of.h"

namespace calotype::internal {

/// True for T * and T const *.
template<typename T>
bool points_to(const Type &t) {
    return t.handle_type &&
           (t.same_handle_type(type_of<T *>()) || t.same_handle_type(type_of<const T *>()));
}

}  // namespace calotype::internal
