// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work: what it costs to compute an expression once.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/expr.h"

namespace calotype::internal {

/// Calls of one Func or input.
struct Calls {
    double all = 0;  ///< that differ in their coordinates or in the value of a tuple
    double strided =
        0;  ///< whose neighbours in the innermost dimension are not neighbours in memory
    double gathers = 0;  ///< at coordinates that are data: lanes of a vector are read one by one
    double uniform = 0;  ///< the same for all lanes
};

struct Work {
    /// In additions. What is the same is computed once; what loops have outside of them when their
    /// ends are cut off (the clamps of boundary conditions) and plain coordinates are free.
    double operations = 0;
    std::map<std::string, Calls> calls;
    int widest_bits = 8;  ///< of any value
};

/// `lane` is the variable along which vectors lie: what does not depend on it is nearly free. Empty:
/// there are no vectors.
void add_work(const std::vector<Expr> &values, const std::string &lane, Work &work);

}  // namespace calotype::internal
