// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/stmt_nodes.h"

#include "ir/constants.h"
#include "ir/node_assert.h"
#include "ir/walk/node_memory.h"

namespace calotype::internal {

namespace {

void check_condition(const Expr &condition, const char *what) {
    node_assert(condition.defined() && condition.type() == Bool())
        << what << " with a condition of type " << condition.type();
}

void check_bounds(const Region &bounds, const char *what, const std::string &name) {
    for (const Range &r : bounds) {
        node_assert(r.min.defined() && r.extent.defined())
            << what << " of " << name << " with undefined bounds";
        node_assert(r.min.type().is_scalar() && r.extent.type().is_scalar())
            << what << " of " << name << " with bounds of types " << r.min.type() << " and "
            << r.extent.type();
    }
}

}  // namespace

Stmt LetStmt::make(const std::string &name, Expr value, Stmt body) {
    node_assert(value.defined()) << "LetStmt " << name << " of undefined";
    auto *node = new StoredNode<LetStmt>;
    node->name = name;
    node->value = std::move(value);
    node->body = std::move(body);
    return node;
}

Stmt AssertStmt::make(Expr condition, Expr message) {
    check_condition(condition, "AssertStmt");
    node_assert(message.defined() && message.type() == Int(32))
        << "AssertStmt with a message of type " << message.type();
    auto *node = new StoredNode<AssertStmt>;
    node->condition = std::move(condition);
    node->message = std::move(message);
    return node;
}

Stmt ProducerConsumer::make(const std::string &name, bool is_producer, Stmt body) {
    auto *node = new StoredNode<ProducerConsumer>;
    node->name = name;
    node->is_producer = is_producer;
    node->body = std::move(body);
    return node;
}

namespace {
/// min + extent - 1, a constant where both are.
Expr last_of(const Expr &min, const Expr &extent) {
    const auto first = as_const_int(min), count = as_const_int(extent);
    if (first && count) {
        return make_const(min.type(), *first + *count - 1);
    }
    const Expr one = make_const(min.type(), 1);
    return is_const_zero(min) ? Sub::make(extent, one) : Sub::make(Add::make(min, extent), one);
}
}  // namespace

Stmt For::make(const std::string &name, Expr min, Expr extent, ForType for_type,
               Partition partition, DeviceAPI device_api, Stmt body) {
    node_assert(min.defined() && extent.defined()) << "For " << name << " with undefined bounds";
    node_assert(min.type() == extent.type() && min.type().is_scalar() &&
                min.type().is_int_or_uint())
        << "For " << name << " from a " << min.type() << " over a " << extent.type();
    auto *node = new StoredNode<For>;
    node->name = name;
    node->min = std::move(min);
    node->extent = std::move(extent);
    node->max = last_of(node->min, node->extent);
    node->for_type = for_type;
    node->partition = partition;
    node->device_api = device_api;
    node->body = std::move(body);
    return node;
}

Stmt Acquire::make(Expr semaphore, Expr count, Stmt body) {
    node_assert(semaphore.defined() && count.defined()) << "Acquire of undefined";
    auto *node = new StoredNode<Acquire>;
    node->semaphore = std::move(semaphore);
    node->count = std::move(count);
    node->body = std::move(body);
    return node;
}

Stmt Store::make(const std::string &name, Expr value, Expr index) {
    const int lanes = value.type().lanes();
    return make(name, std::move(value), std::move(index), const_true(lanes), Alignment());
}

Stmt Store::make(const std::string &name, Expr value, Expr index, Expr predicate,
                 Alignment alignment, SymbolPtr symbol, bool is_streaming) {
    node_assert(value.defined() && index.defined() && predicate.defined())
        << "Store to " << name << " with undefined operand";
    node_assert(value.type().lanes() == index.type().lanes())
        << "Store of " << value.type() << " to " << name << " at index of type " << index.type();
    node_assert(predicate.type() == Bool(value.type().lanes()))
        << "Store of " << value.type() << " to " << name << " under a predicate of type "
        << predicate.type();
    auto *node = new StoredNode<Store>;
    node->name = name;
    node->is_streaming = is_streaming;
    node->value = std::move(value);
    node->index = std::move(index);
    node->predicate = std::move(predicate);
    node->alignment = alignment;
    node->symbol = std::move(symbol);
    return node;
}

Stmt Provide::make(const std::string &name, std::vector<Expr> values, std::vector<Expr> args,
                   Expr predicate) {
    node_assert(!values.empty()) << "Provide of nothing to " << name;
    for (const Expr &e : values) {
        node_assert(e.defined()) << "Provide of undefined to " << name;
    }
    for (const Expr &e : args) {
        node_assert(e.defined()) << "Provide to " << name << " at undefined coordinates";
    }
    node_assert(predicate.defined() && predicate.type().is_bool())
        << "Provide to " << name << " under a predicate of type " << predicate.type();
    auto *node = new StoredNode<Provide>;
    node->name = name;
    node->values = std::move(values);
    node->args = std::move(args);
    node->predicate = std::move(predicate);
    return node;
}

Stmt Allocate::make(const std::string &name, Type type, MemoryType memory_type,
                    std::vector<Expr> extents, Expr condition, Stmt body, Expr new_expr,
                    const std::string &free_function, int padding) {
    for (const Expr &e : extents) {
        node_assert(e.defined() && e.type().is_scalar())
            << "Allocate " << name << " with an extent of " << e.type();
    }
    check_condition(condition, "Allocate");
    node_assert(!new_expr.defined() || new_expr.type().is_handle())
        << "Allocate " << name << " of memory given as " << new_expr.type();
    auto *node = new StoredNode<Allocate>;
    node->name = name;
    node->type = type;
    node->memory_type = memory_type;
    node->extents = std::move(extents);
    node->condition = std::move(condition);
    node->body = std::move(body);
    node->new_expr = std::move(new_expr);
    node->free_function = free_function;
    node->padding = padding;
    return node;
}

int32_t Allocate::constant_size() const {
    int64_t product = 1;
    for (const Expr &e : extents) {
        const std::optional<int64_t> extent = as_const_int(e);
        if (!extent || *extent < 0 || *extent > INT32_MAX) {
            return 0;
        }
        product *= *extent;
        if (product > INT32_MAX) {
            return 0;
        }
    }
    return int32_t(product);
}

Stmt Free::make(const std::string &name) {
    auto *node = new StoredNode<Free>;
    node->name = name;
    return node;
}

Stmt Realize::make(const std::string &name, std::vector<Type> types, MemoryType memory_type,
                   Region bounds, Expr condition, Stmt body) {
    check_bounds(bounds, "Realize", name);
    check_condition(condition, "Realize");
    node_assert(!types.empty()) << "Realize of " << name << " without types";
    auto *node = new StoredNode<Realize>;
    node->name = name;
    node->types = std::move(types);
    node->memory_type = memory_type;
    node->bounds = std::move(bounds);
    node->condition = std::move(condition);
    node->body = std::move(body);
    return node;
}

Stmt HoistedStorage::make(const std::string &name, Stmt body) {
    auto *node = new StoredNode<HoistedStorage>;
    node->name = name;
    node->body = std::move(body);
    return node;
}

Block::~Block() = default;

Stmt Block::make(Stmt first, Stmt rest) {
    if (!first.defined()) {
        return rest;
    }
    if (!rest.defined()) {
        return first;
    }
    // Gather a chain on the left, so that chains lean to the right without recursion.
    std::vector<Stmt> chain;
    while (const Block *b = first.as<Block>()) {
        chain.push_back(b->first);
        first = Stmt(b->rest);
    }
    chain.push_back(std::move(first));
    for (size_t i = chain.size(); i-- > 0;) {
        auto *node = new StoredNode<Block>;
        node->first = std::move(chain[i]);
        node->rest = std::move(rest);
        rest = node;
    }
    return rest;
}

Stmt Block::make(const std::vector<Stmt> &stmts) {
    Stmt result;
    for (size_t i = stmts.size(); i-- > 0;) {
        result = make(stmts[i], std::move(result));
    }
    return result;
}

Stmt Fork::make(Stmt first, Stmt rest) {
    if (!first.defined()) {
        return rest;
    }
    if (!rest.defined()) {
        return first;
    }
    auto *node = new StoredNode<Fork>;
    node->first = std::move(first);
    node->rest = std::move(rest);
    return node;
}

Stmt IfThenElse::make(Expr condition, Stmt then_case, Stmt else_case) {
    check_condition(condition, "IfThenElse");
    auto *node = new StoredNode<IfThenElse>;
    node->condition = std::move(condition);
    node->then_case = std::move(then_case);
    node->else_case = std::move(else_case);
    return node;
}

Stmt Evaluate::make(Expr value) {
    node_assert(value.defined()) << "Evaluate of undefined";
    auto *node = new StoredNode<Evaluate>;
    node->value = std::move(value);
    return node;
}

Stmt Prefetch::make(const std::string &name, std::vector<Type> types, Region bounds,
                    const std::string &at, const std::string &from, Expr offset,
                    PrefetchBoundStrategy strategy, Expr condition, Stmt body, SymbolPtr symbol) {
    check_bounds(bounds, "Prefetch", name);
    check_condition(condition, "Prefetch");
    node_assert(offset.defined() && offset.type().is_scalar())
        << "Prefetch with offset of " << offset.type();
    auto *node = new StoredNode<Prefetch>;
    node->name = name;
    node->types = std::move(types);
    node->bounds = std::move(bounds);
    node->at = at;
    node->from = from;
    node->offset = std::move(offset);
    node->strategy = strategy;
    node->condition = std::move(condition);
    node->body = std::move(body);
    node->symbol = std::move(symbol);
    return node;
}

Stmt Atomic::make(const std::string &producer_name, const std::string &mutex_name, Stmt body) {
    auto *node = new StoredNode<Atomic>;
    node->producer_name = producer_name;
    node->mutex_name = mutex_name;
    node->body = std::move(body);
    return node;
}

}  // namespace calotype::internal
