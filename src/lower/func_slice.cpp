// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/func_slice.h"

#include <unordered_map>
#include <unordered_set>

#include "ir/mutator.h"
#include "ir/visitor.h"

namespace calotype::internal {

namespace {

/// Whether expressions call one of the Funcs; each shared node is looked at once.
class CallsFuncs {
public:
    explicit CallsFuncs(const std::set<std::string> &names) : names_(names) {
    }

    bool in(const Expr &e) {
        auto known = known_.find(e.get());
        if (known != known_.end()) {
            return known->second;
        }
        Search search(names_);
        search(e);
        known_.emplace(e.get(), search.found);
        return search.found;
    }

private:
    class Search : public GraphVisitor {
    public:
        explicit Search(const std::set<std::string> &names) : names_(names) {
        }
        bool found = false;

    private:
        using GraphVisitor::visit;
        void visit(const Call *op) override {
            found = found || names_.count(op->name);
            if (!found) {
                GraphVisitor::visit(op);
            }
        }
        const std::set<std::string> &names_;
    };

    const std::set<std::string> &names_;
    std::unordered_map<const ExprNode *, bool> known_;
};

/// Statements are rebuilt from the inside out, so that it is known which lets are needed.
class UsesOf : public StmtMutator {
public:
    explicit UsesOf(const std::set<std::string> &names) : names_(names), calls_(names) {
    }

private:
    using Mutator::visit;

    /// Names of variables in what is kept.
    class Variables : public GraphVisitor {
    public:
        std::unordered_set<std::string> names;

    private:
        using GraphVisitor::visit;
        void visit(const Variable *op) override {
            names.insert(op->name);
        }
    };

    /// The expression is part of what is kept.
    const Expr &keep(const Expr &e) {
        variables_(e);
        return e;
    }

    template<typename T>
    Stmt leaf(const T *op, bool used) {
        if (!used) {
            return Stmt();
        }
        variables_(Stmt(op));
        return op;
    }

    Stmt visit(const Provide *op) override {
        bool used = names_.count(op->name) || calls_.in(op->predicate);
        for (const std::vector<Expr> *list : {&op->values, &op->args}) {
            for (const Expr &e : *list) {
                used = used || calls_.in(e);
            }
        }
        return leaf(op, used);
    }
    Stmt visit(const Evaluate *op) override {
        return leaf(op, calls_.in(op->value));
    }
    Stmt visit(const AssertStmt *op) override {
        return leaf(op, calls_.in(op->condition) || calls_.in(op->message));
    }
    Stmt visit(const Store *op) override {
        return leaf(op, calls_.in(op->value) || calls_.in(op->index) || calls_.in(op->predicate));
    }
    Stmt visit(const Free *) override {
        return Stmt();
    }

    Stmt visit(const LetStmt *op) override {
        const Stmt body = mutate(op->body);
        const bool needed =
            (body.defined() && variables_.names.count(op->name)) || calls_.in(op->value);
        return needed ? LetStmt::make(op->name, keep(op->value), body) : body;
    }
    Stmt visit(const Block *op) override {
        return Block::make(mutate(op->first), mutate(op->rest));
    }
    Stmt visit(const IfThenElse *op) override {
        const Stmt then_case = mutate(op->then_case), else_case = mutate(op->else_case);
        if (!then_case.defined() && !else_case.defined() && !calls_.in(op->condition)) {
            return Stmt();
        }
        return IfThenElse::make(keep(op->condition),
                                then_case.defined() ? then_case : Evaluate::make(0), else_case);
    }
    Stmt visit(const For *op) override {
        const Stmt body = mutate(op->body);
        if (!body.defined() && !calls_.in(op->min) && !calls_.in(op->extent)) {
            return Stmt();
        }
        return For::make(op->name, keep(op->min), keep(op->extent), op->for_type, op->partition,
                         op->device_api, body.defined() ? body : Evaluate::make(0));
    }
    Stmt visit(const ProducerConsumer *op) override {
        const Stmt body = mutate(op->body);
        return body.defined() ? ProducerConsumer::make(op->name, op->is_producer, body) : body;
    }
    Stmt visit(const Realize *op) override {
        return mutate(op->body);
    }
    Stmt visit(const HoistedStorage *op) override {
        return mutate(op->body);
    }
    Stmt visit(const Prefetch *op) override {
        return mutate(op->body);
    }
    Stmt visit(const Atomic *op) override {
        const Stmt body = mutate(op->body);
        return body.defined() ? Atomic::make(op->producer_name, op->mutex_name, body) : body;
    }

    const std::set<std::string> &names_;
    CallsFuncs calls_;
    Variables variables_;
};

}  // namespace

Stmt slice_for_func(const std::string &name, const Stmt &s) {
    return slice_for_funcs({name}, s);
}

Stmt slice_for_funcs(const std::set<std::string> &names, const Stmt &s) {
    return UsesOf(names).mutate(s);
}

}  // namespace calotype::internal
