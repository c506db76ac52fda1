// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks the invariants of the IR that `make` cannot see: scoping, types of names at their uses,
// arity of intrinsics, storage in scope.
#pragma once

#include <string>
#include <vector>

#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// Which names are visible from outside, and which stage of lowering the IR is in.
struct VerifyOptions {
    bool flat_storage =
        false;  ///< after storage flattening: no Provide, Realize, Func or Image calls
    bool vector_loops_gone = false;    ///< after vectorize: no Vectorized For
    bool unrolled_loops_gone = false;  ///< after unroll: no Unrolled For
    bool hints_gone = false;           ///< after simplify_late: no likely, no promise_clamped
    bool gpu_loops_gone = false;       ///< after offload_kernels
    bool hoisting_gone = false;        ///< after hoist_storage: no HoistedStorage
    bool mutexes_gone = false;         ///< after lower_atomics: no Atomic has a mutex
    bool closed = false;  ///< every Variable must be defined by an enclosing Let, LetStmt, For or
                          ///< `free_names`
    std::vector<std::string> free_names;
};

/// Throws InternalError that names the node (printed), the rule and the pass (`where`) if an
/// invariant does not hold.
void verify(const Stmt &s, const VerifyOptions &options, const std::string &where);
void verify(const Expr &e, const VerifyOptions &options, const std::string &where);

}  // namespace calotype::internal
