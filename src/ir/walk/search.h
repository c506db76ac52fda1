// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Looking for nodes of one kind, wherever they are.
#pragma once

#include <utility>

#include "ir/visitor.h"

namespace calotype::internal {

/// Calls `visit` on nodes until it returns true; each node is seen once, before what it is made of.
template<typename F>
class NodeSearch : public GraphVisitor {
public:
    explicit NodeSearch(F &visit) : visit_(visit) {
    }
    bool found = false;

    void operator()(const Expr &e) override {
        found = found || (e.defined() && visit_(static_cast<const Node *>(e.get())));
        if (!found) {
            GraphVisitor::operator()(e);
        }
    }
    void operator()(const Stmt &s) override {
        found = found || (s.defined() && visit_(static_cast<const Node *>(s.get())));
        if (!found) {
            GraphVisitor::operator()(s);
        }
    }

private:
    F &visit_;
};

/// True if `matches(const Node *)` holds for a node of the expression or statement.
template<typename Handle, typename F>
bool contains_node(const Handle &h, F &&matches) {
    NodeSearch<F> search(matches);
    search(h);
    return search.found;
}

template<typename T>
const T *node_as(const Node *node) {
    return node->kind == T::kind_tag ? static_cast<const T *>(node) : nullptr;
}

/// True if there is a node of that kind for which `matches(const T *)` holds.
template<typename T, typename Handle, typename F>
bool contains(const Handle &h, F &&matches) {
    return contains_node(h, [&](const Node *node) {
        const T *op = node_as<T>(node);
        return op && matches(op);
    });
}

/// Calls f(const T *) on every node of that kind, once.
template<typename T, typename Handle, typename F>
void for_each(const Handle &h, F &&f) {
    contains_node(h, [&](const Node *node) {
        if (const T *op = node_as<T>(node)) {
            f(op);
        }
        return false;
    });
}

}  // namespace calotype::internal
