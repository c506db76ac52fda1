// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The statement nodes; conventions as in ir/expr_nodes.h. An undefined Stmt is the empty statement.
#pragma once

#include <tuple>

#include "ir/enums.h"
#include "ir/expr_nodes.h"

namespace calotype::internal {

struct LetStmt : StmtBase<NodeKind::LetStmt> {
    std::string name;
    Expr value;
    Stmt body;
    static Stmt make(const std::string &name, Expr value, Stmt body);
    auto fields() const {
        return std::tie(name, value, body);
    }
};

/// If the condition is false, evaluate `message` (an int32 call that reports the error) and leave
/// the pipeline with its value.
struct AssertStmt : StmtBase<NodeKind::AssertStmt> {
    Expr condition, message;
    static Stmt make(Expr condition, Expr message);
    auto fields() const {
        return std::tie(condition, message);
    }
};

/// Marks the code that computes Func `name` (is_producer) or that reads it.
struct ProducerConsumer : StmtBase<NodeKind::ProducerConsumer> {
    std::string name;
    bool is_producer;
    Stmt body;
    static Stmt make(const std::string &name, bool is_producer, Stmt body);
    static Stmt make_produce(const std::string &name, Stmt body) {
        return make(name, true, std::move(body));
    }
    static Stmt make_consume(const std::string &name, Stmt body) {
        return make(name, false, std::move(body));
    }
    auto fields() const {
        return std::tie(name, is_producer, body);
    }
};

/// name = min, min + 1, ..., min + extent - 1.
struct For : StmtBase<NodeKind::For> {
    std::string name;
    Expr min, extent;
    Expr max;  ///< the last value, made of those two
    ForType for_type;
    Partition partition;
    DeviceAPI device_api;
    Stmt body;
    static Stmt make(const std::string &name, Expr min, Expr extent, ForType for_type,
                     Partition partition, DeviceAPI device_api, Stmt body);
    auto fields() const {
        return std::tie(name, min, extent, for_type, partition, device_api, body);
    }
};

/// Wait until `count` can be taken from the semaphore, then run body.
struct Acquire : StmtBase<NodeKind::Acquire> {
    Expr semaphore, count;
    Stmt body;
    static Stmt make(Expr semaphore, Expr count, Stmt body);
    auto fields() const {
        return std::tie(semaphore, count, body);
    }
};

/// Store value at flat `index` of buffer `name`; lanes whose predicate is false are left alone.
struct Store : StmtBase<NodeKind::Store> {
    std::string name;
    Expr value, index, predicate;
    Alignment alignment;
    SymbolPtr symbol;
    bool is_streaming = false;  ///< around the cache, where the machine can
    static Stmt make(const std::string &name, Expr value, Expr index, Expr predicate,
                     Alignment alignment, SymbolPtr symbol = nullptr, bool is_streaming = false);
    static Stmt make(const std::string &name, Expr value, Expr index);
    /// To what is declared as a buffer (a Parameter, which may be undefined).
    template<typename Declaration, typename = decltype(std::declval<Declaration>().contents())>
    static Stmt make(const std::string &name, Expr value, Expr index, const Declaration &declared,
                     Expr predicate, Alignment alignment, bool is_streaming = false) {
        return make(name, std::move(value), std::move(index), std::move(predicate), alignment,
                    declared.contents(), is_streaming);
    }
    auto fields() const {
        return std::tie(name, value, index, predicate, alignment, is_streaming);
    }
};

/// Set Func `name` at integer coordinates `args` (one value a tuple element), where predicate
/// holds.
struct Provide : StmtBase<NodeKind::Provide> {
    std::string name;
    std::vector<Expr> values, args;
    Expr predicate;
    static Stmt make(const std::string &name, std::vector<Expr> values, std::vector<Expr> args,
                     Expr predicate);
    auto fields() const {
        return std::tie(name, values, args, predicate);
    }
};

/// Storage of product(extents) elements (plus padding), named `name`, alive in body and where
/// condition holds. new_expr, if defined, yields the memory instead of the allocator; free_function
/// then frees it ("" = nothing).
struct Allocate : StmtBase<NodeKind::Allocate> {
    std::string name;
    Type type;
    MemoryType memory_type;
    std::vector<Expr> extents;
    Expr condition;
    Stmt body;
    Expr new_expr;
    std::string free_function;
    int padding = 0;
    static Stmt make(const std::string &name, Type type, MemoryType memory_type,
                     std::vector<Expr> extents, Expr condition, Stmt body, Expr new_expr = Expr(),
                     const std::string &free_function = "", int padding = 0);
    /// Product of the extents if they are constant and fit 32 bits, else 0.
    int32_t constant_size() const;
    int32_t constant_allocation_size() const {
        return constant_size();
    }
    auto fields() const {
        return std::tie(name, type, memory_type, extents, condition, body, new_expr, free_function,
                        padding);
    }
};

/// End of life of an Allocate, possibly before its body ends.
struct Free : StmtBase<NodeKind::Free> {
    std::string name;
    static Stmt make(const std::string &name);
    auto fields() const {
        return std::tie(name);
    }
};

/// Multi-dimensional storage of Func `name` over `bounds`, one buffer a type, alive in body where
/// condition holds.
struct Realize : StmtBase<NodeKind::Realize> {
    std::string name;
    std::vector<Type> types;
    MemoryType memory_type;
    Region bounds;
    Expr condition;
    Stmt body;
    static Stmt make(const std::string &name, std::vector<Type> types, MemoryType memory_type,
                     Region bounds, Expr condition, Stmt body);
    auto fields() const {
        return std::tie(name, types, memory_type, bounds, condition, body);
    }
};

/// The loop level to which the storage of Func `name` is hoisted.
struct HoistedStorage : StmtBase<NodeKind::HoistedStorage> {
    std::string name;
    Stmt body;
    static Stmt make(const std::string &name, Stmt body);
    auto fields() const {
        return std::tie(name, body);
    }
};

/// first, then rest. Chains lean to the right.
struct Block : StmtBase<NodeKind::Block> {
    Stmt first, rest;
    /// A chain of any length ends without a call of the stack for each link.
    ~Block() override;
    static Stmt make(Stmt first,
                     Stmt rest);  ///< either may be undefined; then the other is the result
    static Stmt make(const std::vector<Stmt> &stmts);
    auto fields() const {
        return std::tie(first, rest);
    }
};

/// first and rest at the same time.
struct Fork : StmtBase<NodeKind::Fork> {
    Stmt first, rest;
    static Stmt make(Stmt first, Stmt rest);
    auto fields() const {
        return std::tie(first, rest);
    }
};

struct IfThenElse : StmtBase<NodeKind::IfThenElse> {
    Expr condition;
    Stmt then_case, else_case;
    static Stmt make(Expr condition, Stmt then_case, Stmt else_case = Stmt());
    auto fields() const {
        return std::tie(condition, then_case, else_case);
    }
};

/// Evaluate for its effects.
struct Evaluate : StmtBase<NodeKind::Evaluate> {
    Expr value;
    static Stmt make(Expr value);
    auto fields() const {
        return std::tie(value);
    }
};

/// Hint: the region `bounds` of buffer `name` is needed soon. Until inject_prefetch it has none.
struct Prefetch : StmtBase<NodeKind::Prefetch> {
    std::string name;
    std::vector<Type> types;
    Region bounds;
    std::string at, from;  ///< loop names
    Expr offset;
    PrefetchBoundStrategy strategy;
    Expr condition;
    Stmt body;
    SymbolPtr symbol;
    static Stmt make(const std::string &name, std::vector<Type> types, Region bounds,
                     const std::string &at, const std::string &from, Expr offset,
                     PrefetchBoundStrategy strategy, Expr condition, Stmt body,
                     SymbolPtr symbol = nullptr);
    auto fields() const {
        return std::tie(name, types, bounds, at, from, offset, strategy, condition, body);
    }
};

/// Stores in body to `producer` are atomic read-modify-writes; mutex_name, if not empty, is the
/// mutex array to hold.
struct Atomic : StmtBase<NodeKind::Atomic> {
    std::string producer_name, mutex_name;
    Stmt body;
    static Stmt make(const std::string &producer_name, const std::string &mutex_name, Stmt body);
    auto fields() const {
        return std::tie(producer_name, mutex_name, body);
    }
};

}  // namespace calotype::internal
