// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parallel loops and tasks. What runs on other threads becomes a function of its own; what it uses
// is handed over in a struct on the caller's stack, the closure:
//
//     struct task1_closure { void *m2; int32_t m3; };
//     static int task1(void *user_context, int i6, uint8_t *closure_bytes) { ... }
//     ...
//     task1_closure closure4 = {f5, t6};
//     if (int code = calotype_do_par_for(user_context, task1, min, extent, (uint8_t *)&closure4))
//     ...
#include <set>

#include "codegen/c/c_writer.h"
#include "ir/conventions/names.h"
#include "ir/queries.h"

namespace calotype::internal {

std::string CWriter::closure_of(const Stmt &body, const std::string &variable,
                                const std::string &function, CWriter &inner) {
    std::set<std::string> used = names_used(body);
    used.erase(variable);
    used.erase(names::user_context);
    std::string members, values;
    for (const std::string &name : used) {
        if (const Name *n = symbols_.find(name)) {
            const std::string member = fresh("m"), type = type_name(n->type);
            members += "    " + type + (type.back() == '*' ? "" : " ") + member + ";\n";
            values += (values.empty() ? "" : ", ") + n->text;
            inner.bind(name, "closure->" + member, n->type);
        }
    }
    inner.bind(names::user_context, "user_context", Handle());
    const std::string struct_name = function + "_closure", closure = fresh("closure");
    file_.functions << "struct " << struct_name << " {\n" << members << "};\n\n";
    line(struct_name + " " + closure + " = {" + values + "};");
    return "reinterpret_cast<uint8_t *>(&" + closure + ")";
}

void CWriter::write_task(const std::string &function, const std::string &parameters,
                         const CWriter &inner) {
    file_.functions << "static int " << function << "(void *user_context, " << parameters << ") {\n"
                    << "    const " << function << "_closure *closure = reinterpret_cast<const "
                    << function << "_closure *>(closure_bytes);\n"
                    << "    (void)closure;\n"
                    << inner.text() << "    return 0;\n}\n\n";
}

void CWriter::parallel_loop(const For *op) {
    const std::vector<ParallelTask> tasks = parallel_tasks(op);
    if (in_task_ || !tasks[0].acquires.empty()) {
        run_tasks(tasks);
        return;
    }
    const std::string min = emit(op->min), extent = emit(op->extent), task = fresh("task"),
                      i = fresh("i");
    open("");
    CWriter inner(file_);
    const std::string closure = closure_of(op->body, op->name, task, inner);
    inner.bind(op->name, i, Int(32));
    inner.emit(op->body);
    write_task(task, "int " + i + ", uint8_t *closure_bytes", inner);
    open("if (int code = calotype_do_par_for(" + user_context() + ", " + task + ", " + min + ", " +
         extent + ", " + closure + "))");
    line("return code;");
    close();
    close();
}

// One row of the array of tasks. Iterations min .. min + extent - 1 are one call of the function.
std::string CWriter::task_row(const ParallelTask &task) {
    const std::string function = fresh("task"), semaphores = fresh("semaphores"), i = fresh("i");
    CWriter inner(file_);
    inner.in_task_ = true;
    const std::string closure = closure_of(task.body, task.loop_variable, function, inner);
    inner.open("for (int " + i + " = min; " + i + " - min < extent; " + i + "++)");
    inner.bind(task.loop_variable, i, Int(32));
    inner.emit(task.body);
    inner.close();
    write_task(function, "int min, int extent, uint8_t *closure_bytes, void *task_parent", inner);
    std::string acquires;
    for (const auto &[semaphore, count] : task.acquires) {
        const std::string pointer = "static_cast<calotype_semaphore_t *>(" + emit(semaphore) + ")";
        acquires += (acquires.empty() ? "{" : ", {") + pointer + ", " + emit(count) + "}";
    }
    if (!acquires.empty()) {
        line("calotype_semaphore_acquire_t " + semaphores + "[] = {" + acquires + "};");
    }
    return "{" + function + ", " + closure + ", \"" + function + "\", " +
           (acquires.empty() ? "nullptr" : semaphores) + ", " +
           std::to_string(task.acquires.size()) + ", " + emit(task.min) + ", " + emit(task.extent) +
           ", " + std::to_string(task.min_threads) + ", " + (task.serial ? "true" : "false") + "}";
}

void CWriter::run_tasks(const std::vector<ParallelTask> &tasks) {
    open("");
    std::string rows;
    for (const ParallelTask &task : tasks) {
        rows += (rows.empty() ? "" : ", ") + task_row(task);
    }
    const std::string array = fresh("tasks");
    line("calotype_parallel_task_t " + array + "[] = {" + rows + "};");
    open("if (int code = calotype_do_parallel_tasks(" + user_context() + ", " +
         std::to_string(tasks.size()) + ", " + array + ", " +
         (in_task_ ? "task_parent" : "nullptr") + "))");
    line("return code;");
    close();
    close();
}

void CWriter::emit_node(const Fork *op) {
    run_tasks(parallel_tasks(op));
}

void CWriter::emit_node(const Acquire *op) {
    run_tasks(parallel_tasks(op));
}

}  // namespace calotype::internal
