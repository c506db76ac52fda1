// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CWriter: writes the body of one lowered function as C++17 statements.
//
// Every value gets a name: `const T t12 = ...;`. Vectors are ct_vec<T, N>; what is done lane by
// lane is written once, for lane i, inside of ct_map. The helpers (ct_*) are in c_preamble.cpp.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "codegen/parallel_tasks.h"
#include "ir/module.h"
#include "ir/stmt_nodes.h"
#include "legalize/legalize.h"
#include "support/scope.h"
#include "target/target.h"

namespace calotype::internal {

/// What the functions of one file share.
struct CFile {
    const LoweredModule &module;
    const Target &target;
    std::ostringstream functions;                ///< tasks of parallel loops, finished
    std::map<std::string, std::string> externs;  ///< prototypes by name
    std::set<std::string> cpp_functions;         ///< declarations of those with C++ linkage
    int next_name = 0;
};

class CWriter {
public:
    CWriter(CFile &file, int indent = 1) : file_(file), indent_(indent) {
    }

    /// The variable of that IR name is written so, and has that type.
    void bind(const std::string &name, const std::string &text, Type type) {
        symbols_.push(name, {text, type});
    }
    void emit(const Stmt &s);
    /// The name (or literal) that holds the value.
    std::string emit(const Expr &e);
    std::string text() const {
        return out_.str();
    }

    // Used by the table of intrinsics.

    void line(const std::string &text);
    /// A new constant of the type with that value.
    std::string define(Type t, const std::string &value);
    /// A new constant, computed lane by lane: `scalar` is given the texts of the operands' lanes.
    std::string map(Type t, const std::vector<Expr> &operands,
                    const std::function<std::string(const std::vector<std::string> &)> &scalar);
    std::string fresh(const std::string &prefix);
    std::string user_context();
    CFile &file() {
        return file_;
    }
    void open(const std::string &head);
    void close();
    std::string emit_intrinsic(const Call *op);
    /// What expressions and intrinsics can be written in C++, for legalize().
    static Capabilities capabilities();

    static std::string type_name(Type t);
    /// The type of a parameter of a C++ function, for a value or the lanes of one: a handle's own.
    static std::string parameter_type_name(Type t);

private:
    struct Name {
        std::string text;
        Type type;
    };

#define EXPR(Name) std::string emit_node(const Name *op);
#define STMT(Name) void emit_node(const Name *op);
#include "ir/nodes.def"

    template<typename Op>
    std::string arithmetic(const Op *op, const char *symbol);
    template<typename Op>
    std::string comparison(const Op *op, const char *symbol);
    /// Declares the function; how a call of it names it.
    std::string declare_cpp_function(const Call *op);
    std::string declare_c_function(const Call *op);
    std::string extern_call(const Call *op);
    /// Puts what the body uses into a struct for the function; `inner` gets it from there. The
    /// address of the struct.
    std::string closure_of(const Stmt &body, const std::string &variable,
                           const std::string &function, CWriter &inner);
    void write_task(const std::string &function, const std::string &parameters,
                    const CWriter &inner);
    void parallel_loop(const For *op);
    std::string task_row(const ParallelTask &task);
    void run_tasks(const std::vector<ParallelTask> &tasks);
    std::string allocation_bytes(const Allocate *op);
    void heap_allocation(const Allocate *op);
    bool atomic_store(const Store *op);
    void body_with(const std::string &name, const std::string &text, Type type, const Stmt &body);

    CFile &file_;
    std::ostringstream out_;
    int indent_;
    Scope<Name> symbols_;
    Scope<std::string> guards_;    ///< of allocations: the object that frees them
    bool in_task_ = false;         ///< written is a task, which has a task_parent
    std::string atomic_producer_;  ///< not empty: stores are atomic updates
};

/// The helpers that every file begins with.
extern const char *const c_preamble;

}  // namespace calotype::internal
