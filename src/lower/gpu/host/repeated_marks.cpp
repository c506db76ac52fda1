// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/host/repeated_marks.h"

#include "ir/mutator.h"
#include "ir/visitor.h"

#include <set>

namespace calotype::internal {

namespace {

const std::string *marked_header(const Evaluate *op) {
    const Call *call = op->value.as<Call>();
    if (!call || !call->is_intrinsic(Intrinsic::buffer_set_host_dirty)) {
        return nullptr;
    }
    const Variable *header = call->args.at(0).as<Variable>();
    return header ? &header->name : nullptr;
}

/// Finds whether a statement may end the pipeline, and which variables it names.
class WhatItSees : public GraphVisitor {
public:
    bool may_end = false;
    std::set<std::string> names;

private:
    using GraphVisitor::visit;
    void visit(const AssertStmt *op) override {
        may_end = true;
        GraphVisitor::visit(op);
    }
    void visit(const Variable *op) override {
        names.insert(op->name);
    }
};

/// Walks backwards over what runs in a row.
class RepeatedMarks : public StmtMutator {
private:
    using StmtMutator::visit;

    template<typename Node>
    void forget_what_sees(const Node &node) {
        WhatItSees seen;
        seen(node);
        if (seen.may_end) {
            follow_.clear();
        }
        for (const std::string &name : seen.names) {
            follow_.erase(name);
        }
    }

    Stmt visit_leaf(const Stmt &s) {
        forget_what_sees(s);
        return s;
    }

    /// What runs more than once, or not always: marks within it are those of a row of its own.
    template<typename Node>
    Stmt visit_inner(const Node *op) {
        std::set<std::string> outside;
        outside.swap(follow_);
        const Stmt result = StmtMutator::visit(op);
        outside.swap(follow_);
        forget_what_sees(Stmt(op));
        return result;
    }

    Stmt visit(const Block *op) override {
        const Stmt rest = mutate(op->rest);
        return Block::make(mutate(op->first), rest);
    }
    Stmt visit(const LetStmt *op) override {
        const Stmt body = mutate(op->body);
        forget_what_sees(op->value);
        follow_.erase(op->name);
        return body.same_as(op->body) ? Stmt(op) : LetStmt::make(op->name, op->value, body);
    }
    Stmt visit(const Evaluate *op) override {
        const std::string *header = marked_header(op);
        if (!header) {
            return visit_leaf(op);
        }
        return follow_.insert(*header).second ? Stmt(op) : Stmt();
    }
    Stmt visit(const Store *op) override {
        return visit_leaf(op);
    }
    Stmt visit(const AssertStmt *op) override {
        return visit_leaf(op);
    }
    Stmt visit(const IfThenElse *op) override {
        return visit_inner(op);
    }
    Stmt visit(const For *op) override {
        return visit_inner(op);
    }
    Stmt visit(const Fork *op) override {
        return visit_inner(op);
    }
    Stmt visit(const Acquire *op) override {
        return visit_inner(op);
    }
    Stmt visit(const Atomic *op) override {
        return visit_inner(op);
    }
    Stmt visit(const Prefetch *op) override {
        return visit_inner(op);
    }

    std::set<std::string> follow_;  ///< headers that are marked later in the row
};

}  // namespace

Stmt without_repeated_marks(const Stmt &s) {
    return RepeatedMarks().mutate(s);
}

}  // namespace calotype::internal
