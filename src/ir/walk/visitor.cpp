// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/visitor.h"

#include <array>
#include <memory_resource>
#include <unordered_set>

#include "ir/walk/field_walk.h"

namespace calotype {

void Expr::accept(internal::Visitor *visitor) const {
    (*visitor)(*this);
}

}  // namespace calotype

namespace calotype::internal {

void Stmt::accept(Visitor *visitor) const {
    (*visitor)(*this);
}

void Visitor::operator()(const Expr &e) {
    if (e.defined()) {
        dispatch(e.get(), [&](const auto *op) { visit(op); });
    }
}

void Visitor::operator()(const Stmt &s) {
    if (s.defined()) {
        dispatch(s.get(), [&](const auto *op) { visit(op); });
    }
}

#define EXPR(Name)                                                                                 \
    void Visitor::visit(const Name *op) {                                                          \
        for_each_child(*op, [&](const auto &child) { (*this)(child); });                           \
    }
#define STMT(Name) EXPR(Name)
#include "ir/nodes.def"

// Memory is given back at once: visitors are many, and most are small.
struct GraphVisitor::Seen {
    std::array<std::byte, 1024> first;
    std::pmr::monotonic_buffer_resource memory{first.data(), first.size()};
    std::pmr::unordered_set<const Node *> nodes{&memory};
};

GraphVisitor::GraphVisitor() : seen_(new Seen) {
}

GraphVisitor::~GraphVisitor() {
    delete seen_;
}

void GraphVisitor::operator()(const Expr &e) {
    if (e.defined() && is_first_visit(seen_->nodes, e.get())) {
        Visitor::operator()(e);
    }
}

void GraphVisitor::operator()(const Stmt &s) {
    if (s.defined() && is_first_visit(seen_->nodes, s.get())) {
        Visitor::operator()(s);
    }
}

}  // namespace calotype::internal
