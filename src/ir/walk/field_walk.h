// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Generic access to the nodes through their fields(): what visitors, mutators, equality, hash and
// verifier are made of.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "ir/stmt_nodes.h"
#include "support/error.h"
#include "support/stack_guard.h"

namespace calotype::internal {

/// True where a walk meets the node for the first time. What only one other holds is met once, with that, and is not noted.
template<typename Set>
bool is_first_visit(Set &seen, const Node *node) {
    return node->is_unique() || seen.insert(node).second;
}

/// Calls f(static_cast<const T *>(node)) with the concrete node type T. Throws where the stack ends:
/// f may call this for the operands.
template<typename F>
decltype(auto) dispatch(const ExprNode *node, F &&f) {
    check_stack();
    switch (node->kind) {
#define EXPR(Name)                                                                                 \
    case NodeKind::Name:                                                                           \
        return f(static_cast<const Name *>(node));
#include "ir/nodes.def"
    default:
        internal_error << "not an expression: node kind " << int(node->kind);
    }
}

template<typename F>
decltype(auto) dispatch(const StmtNode *node, F &&f) {
    check_stack();
    switch (node->kind) {
#define STMT(Name)                                                                                 \
    case NodeKind::Name:                                                                           \
        return f(static_cast<const Name *>(node));
#include "ir/nodes.def"
    default:
        internal_error << "not a statement: node kind " << int(node->kind);
    }
}

/// Calls f on each field of a node, in order.
template<typename T, typename F>
void for_each_field(const T &node, F &&f) {
    std::apply([&](const auto &...field) { (f(field), ...); }, node.fields());
}

/// Calls f on each field of two nodes of one type, in order.
template<typename T, typename F>
void for_each_field_pair(const T &a, const T &b, F &&f) {
    const auto fa = a.fields(), fb = b.fields();
    [&]<size_t... I>(std::index_sequence<I...>) {
        (f(std::get<I>(fa), std::get<I>(fb)), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<decltype(fa)>>());
}

/// Calls f on every child (an Expr or Stmt, possibly undefined) that a field holds. Fields of other
/// types hold none.
template<typename F>
struct ChildVisitor {
    F f;
    void operator()(const Expr &e) {
        f(e);
    }
    void operator()(const Stmt &s) {
        f(s);
    }
    void operator()(const std::vector<Expr> &v) {
        for (const Expr &e : v) {
            f(e);
        }
    }
    void operator()(const Region &region) {
        for (const Range &r : region) {
            f(r.min);
            f(r.extent);
        }
    }
    template<typename Data>
    void operator()(const Data &) {
    }
};

template<typename T, typename F>
void for_each_child(const T &node, F f) {
    for_each_field(node, ChildVisitor<F>{std::move(f)});
}

}  // namespace calotype::internal
