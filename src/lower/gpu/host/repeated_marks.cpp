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

bool runs_in_a_row(const Stmt &s) {
    return s.as<Block>() || s.as<LetStmt>() || s.as<ProducerConsumer>() || s.as<Allocate>();
}

/// Walks backwards over what runs in a row.
class RepeatedMarks : public StmtMutator {
public:
    Stmt mutate(const Stmt &s) override {
        if (!s.defined() || runs_in_a_row(s)) {
            return StmtMutator::mutate(s);
        }
        const Evaluate *evaluate = s.as<Evaluate>();
        if (const std::string *header = evaluate ? marked_header(evaluate) : nullptr) {
            return follow_.insert(*header).second ? s : Stmt();
        }
        // What is inside runs more than once, or not always: marks there are those of another row.
        std::set<std::string> outside;
        outside.swap(follow_);
        const Stmt result = StmtMutator::mutate(s);
        outside.swap(follow_);
        forget_what_sees(s);
        return result;
    }

private:
    using StmtMutator::mutate;
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

    Stmt visit(const Block *op) override {
        const Stmt rest = mutate(op->rest);
        return Block::make(mutate(op->first), rest);
    }
    // No row goes from one of two ways to the other.
    Stmt visit(const IfThenElse *op) override {
        const Stmt then_case = mutate(op->then_case);
        follow_.clear();
        return IfThenElse::make(op->condition, then_case, mutate(op->else_case));
    }
    Stmt visit(const Fork *op) override {
        const Stmt first = mutate(op->first);
        follow_.clear();
        return Fork::make(first, mutate(op->rest));
    }
    Stmt visit(const LetStmt *op) override {
        const Stmt body = mutate(op->body);
        forget_what_sees(op->value);
        follow_.erase(op->name);
        return body.same_as(op->body) ? Stmt(op) : LetStmt::make(op->name, op->value, body);
    }

    std::set<std::string> follow_;  ///< headers that are marked later in the row
};

}  // namespace

Stmt without_repeated_marks(const Stmt &s) {
    return RepeatedMarks().mutate(s);
}

}  // namespace calotype::internal
