// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Division of a statement into the parallel tasks that calotype_do_parallel_tasks takes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// A piece of work that can run beside others: a loop, and what each of its iterations waits for.
struct ParallelTask {
    std::string loop_variable;  ///< empty: one iteration
    Expr min = 0, extent = 1;
    bool serial = false;
    std::vector<std::pair<Expr, Expr>> acquires;  ///< semaphore, count
    Stmt body;
    int min_threads = 1;  ///< to be sure to come to its end
};

/// The branches of a Fork; of any other statement one task: a loop that is parallel or whose
/// iterations wait for something, or the statement itself.
std::vector<ParallelTask> parallel_tasks(const Stmt &s);

}  // namespace calotype::internal
