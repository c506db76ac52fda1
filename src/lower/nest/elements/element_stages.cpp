// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/nest/elements/element_stages.h"

#include <algorithm>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/walk/search.h"
#include "lower/effects.h"

namespace calotype::internal {

namespace {

/// A branch that is predicted wrongly costs about as much as that many operations.
constexpr int most_operations = 64;

bool reads_func_or_image(const Expr &e) {
    return contains<Call>(e, [](const Call *op) {
        return op->call_type == CallKind::Func || op->call_type == CallKind::Image;
    });
}

bool is_one(const Expr &extent, const LetScope &lets) {
    const Expr expanded = lets.expand(extent);
    return expanded.defined() && is_const_one(simplify(expanded));
}

/// What one side of a stage's definition computes.
class Operations : public GraphVisitor {
public:
    bool are_few() const {
        return plain_ && count_ <= most_operations;
    }

private:
    using GraphVisitor::visit;

#define COUNT(Node)                                                                                \
    void visit(const Node *op) override {                                                          \
        count_++;                                                                                  \
        GraphVisitor::visit(op);                                                                   \
    }
    COUNT(Add)
    COUNT(Sub)
    COUNT(Mul)
    COUNT(Min)
    COUNT(Max)
    COUNT(Select)
#undef COUNT

    void visit(const Div *op) override {
        divide(op->type, op->b);
        GraphVisitor::visit(op);
    }
    void visit(const Mod *op) override {
        divide(op->type, op->b);
        GraphVisitor::visit(op);
    }
    void divide(const Type &type, const Expr &by) {
        count_++;
        plain_ &= type.is_float() || is_const(by);
    }

    void visit(const Call *op) override {
        count_++;
        const bool reads = op->call_type == CallKind::Func || op->call_type == CallKind::Image;
        if (reads) {
            plain_ &= std::none_of(op->args.begin(), op->args.end(), reads_func_or_image);
        } else {
            plain_ &=
                op->call_type == CallKind::Intrinsic && op->is_pure() && !is_long_function(op);
        }
        GraphVisitor::visit(op);
    }

    int count_ = 0;
    bool plain_ = true;
};

/// The production of a Func, if it is there once and stores one element for each of its definitions.
class ElementProduction : public Visitor {
public:
    ElementProduction(const std::string &func, const LetScope &lets) : func_(func), lets_(lets) {
    }
    bool is_cheap() const {
        return one_element_ && operations_.are_few();
    }

private:
    using Visitor::visit;

    void visit(const ProducerConsumer *op) override {
        const bool own = op->is_producer && op->name == func_;
        one_element_ &= !inside_ || !op->is_producer;
        inside_ |= own;
        Visitor::visit(op);
        inside_ &= !own;
    }
    void visit(const LetStmt *op) override {
        const LetScope::Inside in(lets_, op->name, op->value);
        (*this)(op->body);
    }
    void visit(const For *op) override {
        one_element_ &= !inside_ || is_one(op->extent, lets_);
        (*this)(op->body);
    }
    void visit(const Provide *op) override {
        if (inside_) {
            one_element_ &= is_const_one(op->predicate);
            for (const Expr &e : op->values) {
                operations_(e);
            }
        }
    }
    void visit(const IfThenElse *op) override {
        one_element_ &= !inside_;
        Visitor::visit(op);
    }
    void visit(const Evaluate *) override {
        one_element_ &= !inside_;
    }
    void visit(const Realize *op) override {
        one_element_ &= !inside_;
        (*this)(op->body);
    }

    const std::string &func_;
    LetScope lets_;
    Operations operations_;
    bool inside_ = false;
    bool one_element_ = true;
};

}  // namespace

void ElementLoop::enter(const LetStmt *op) {
    lets_.push(op->name, op->value);
    if (!loops_.empty()) {
        loops_.back().push_back(op->name);
    }
}

void ElementLoop::leave(const LetStmt *) {
    lets_.pop();
    if (!loops_.empty()) {
        loops_.back().pop_back();
    }
}

void ElementLoop::enter(const For *op) {
    loops_.push_back({op->name});
    lets_.push(op->name, Expr());
}

void ElementLoop::leave(const For *) {
    loops_.pop_back();
    lets_.pop();
}

bool ElementLoop::asks_data_of_element(const Expr &condition) const {
    return !loops_.empty() && reads_func_or_image(condition) &&
           uses_any_var(condition, loops_.back());
}

bool ElementLoop::is_better_without(const Expr &condition, const std::string &func,
                                    const Stmt &body) const {
    if (!asks_data_of_element(condition)) {
        return false;
    }
    ElementProduction production(func, lets_);
    production(body);
    return production.is_cheap();
}

}  // namespace calotype::internal
