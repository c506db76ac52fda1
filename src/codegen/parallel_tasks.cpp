// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/parallel_tasks.h"

#include <algorithm>

#include "ir/queries.h"
#include "ir/visitor.h"

namespace calotype::internal {

namespace {

/// One thread, or one for each task of a fork in the statement.
int threads_needed(const Stmt &s) {
    class Count : public Visitor {
    public:
        int needed = 1;

    protected:
        using Visitor::visit;
        void visit(const Fork *op) override {
            needed = std::max(needed, threads_needed(op->first) + threads_needed(op->rest));
        }
    } count;
    count(s);
    return count.needed;
}

/// The acquisition that s is, if it is the same in each iteration of the loop (may be null): only
/// then can it be made before an iteration begins.
const Acquire *acquired_before(const Stmt &s, const For *loop) {
    const Acquire *op = s.as<Acquire>();
    const bool varies =
        op && loop && (uses_var(op->count, loop->name) || uses_var(op->semaphore, loop->name));
    return varies ? nullptr : op;
}

void collect(const Stmt &s, std::vector<ParallelTask> *tasks) {
    if (const Fork *fork = s.as<Fork>()) {
        collect(fork->first, tasks);
        collect(fork->rest, tasks);
        return;
    }
    ParallelTask task;
    task.body = s;
    const For *loop = s.as<For>();
    const bool is_parallel = loop && loop->for_type == ForType::Parallel;
    const bool is_loop = is_parallel || (loop && loop->for_type == ForType::Serial &&
                                         acquired_before(loop->body, loop));
    if (is_loop) {
        task.loop_variable = loop->name;
        task.min = loop->min;
        task.extent = loop->extent;
        task.serial = !is_parallel;
        task.body = loop->body;
    }
    while (const Acquire *acquire = acquired_before(task.body, is_loop ? loop : nullptr)) {
        task.acquires.emplace_back(acquire->semaphore, acquire->count);
        task.body = acquire->body;
    }
    task.min_threads = threads_needed(task.body);
    tasks->push_back(std::move(task));
}

}  // namespace

std::vector<ParallelTask> parallel_tasks(const Stmt &s) {
    std::vector<ParallelTask> tasks;
    collect(s, &tasks);
    return tasks;
}

}  // namespace calotype::internal
