// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a memoized Func meets the cache of the runtime (runtime/abi/memoization.h). Helper of
// flatten_storage, since the cache owns the storage.
#pragma once

#include <vector>

#include "lower/context.h"

namespace calotype::internal {

/// The storage of each value of a Func.
struct MemoizedStorage {
    std::vector<std::string> buffers;  ///< one a value
    std::vector<Type> types;           ///< of elements in memory
    std::vector<Expr> mins, sizes, strides;
    std::vector<Expr> extents;  ///< that are allocated
};

/// Around the storage of memoized f: the key, the headers and the lookup, and the storage that the
/// lookup found or made.
Stmt look_up_memoized(const Function &f, const MemoizedStorage &storage, const Stmt &body,
                      const LowerContext &ctx);

/// Inside of that: true if the result was not found and must be computed.
Expr memoized_is_missing(const Function &f);
/// Inside of that: enter the result, which has been computed, in the cache.
Stmt store_memoized(const Function &f);

}  // namespace calotype::internal
