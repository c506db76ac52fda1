// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses in terms of coordinates. Helper of the passes in this folder.
#pragma once

#include <string>
#include <vector>

#include "ir/expr.h"
#include "target/target.h"

namespace calotype::internal {

/// int32, or int64 where buffers may be large.
Type index_type(const Target &target);

/// The index in a buffer of the element with these coordinates, by the Variables of its shape.
/// Of storage made in the pipeline (`is_own`) the mins are near: (arg - min) stays small and often
/// cancels. Of other buffers the part that has no argument is one term, the same for all accesses.
Expr flat_index(const std::string &buffer, const std::vector<Expr> &args, bool is_own,
                const Type &index_type);

}  // namespace calotype::internal
