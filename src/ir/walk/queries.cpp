// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/queries.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/visitor.h"
#include "ir/walk/field_walk.h"
#include "ir/walk/search.h"

namespace calotype::internal {

namespace {

/// Calls found() for each free Variable, until it returns true. A node that is shared is entered
/// once for each set of bound names it is met under.
class FreeVariableVisitor : public Visitor {
public:
    void operator()(const Expr &e) override {
        if (e.defined() && !done_ && is_first_visit(seen_, e.get())) {
            Visitor::operator()(e);
        }
    }
    void operator()(const Stmt &s) override {
        if (s.defined() && !done_ && is_first_visit(seen_, s.get())) {
            Visitor::operator()(s);
        }
    }

protected:
    using Visitor::visit;
    /// True if the search is over.
    virtual bool found(const std::string &name) = 0;
    /// Whether it matters that the name is bound: false for names that found() ignores.
    virtual bool matters(const std::string &name) const = 0;

    void visit(const Variable *op) override {
        if (!bound_.count(op->name)) {
            done_ = found(op->name);
        }
    }
    void visit(const Let *op) override {
        (*this)(op->value);
        visit_body(op->name, op->body);
    }
    void visit(const LetStmt *op) override {
        (*this)(op->value);
        visit_body(op->name, op->body);
    }
    void visit(const For *op) override {
        (*this)(op->min);
        (*this)(op->extent);
        visit_body(op->name, op->body);
    }

    template<typename Handle>
    void visit_body(const std::string &name, const Handle &body) {
        if (!matters(name) || bound_.count(name)) {
            (*this)(body);
            return;
        }
        std::unordered_set<const Node *> seen_outside;
        seen_.swap(seen_outside);
        bound_.insert(name);
        (*this)(body);
        bound_.erase(name);
        seen_.swap(seen_outside);
    }

private:
    std::unordered_set<const Node *> seen_;
    std::unordered_set<std::string> bound_;
    bool done_ = false;
};

template<typename Matches>
class FreeVariableSearch : public FreeVariableVisitor {
public:
    explicit FreeVariableSearch(const Matches &matches) : matches_(matches) {
    }
    bool result = false;

protected:
    bool matters(const std::string &name) const override {
        return matches_(name);
    }
    bool found(const std::string &name) override {
        result |= matches_(name);
        return result;
    }

private:
    const Matches &matches_;
};

class AllFreeVariables : public FreeVariableVisitor {
public:
    std::set<std::string> names;

protected:
    bool matters(const std::string &) const override {
        return true;
    }
    bool found(const std::string &name) override {
        names.insert(name);
        return false;
    }
};

class BoundNames : public GraphVisitor {
public:
    std::vector<std::string> names;

protected:
    using GraphVisitor::visit;

    void visit(const Let *op) override {
        names.push_back(op->name);
        GraphVisitor::visit(op);
    }
    void visit(const LetStmt *op) override {
        names.push_back(op->name);
        GraphVisitor::visit(op);
    }
    void visit(const For *op) override {
        names.push_back(op->name);
        GraphVisitor::visit(op);
    }
};

class NamesUsed : public GraphVisitor {
public:
    std::set<std::string> names;

protected:
    using GraphVisitor::visit;

    void visit(const Variable *op) override {
        names.insert(op->name);
    }
    void visit(const Load *op) override {
        names.insert(op->name);
        GraphVisitor::visit(op);
    }
    void visit(const Store *op) override {
        names.insert(op->name);
        GraphVisitor::visit(op);
    }
    void visit(const Call *op) override {
        if (op->call_type == CallKind::Func) {
            names.insert(op->name);
        }
        GraphVisitor::visit(op);
    }
    void visit(const Provide *op) override {
        names.insert(op->name);
        GraphVisitor::visit(op);
    }
};

/// The names that a visitor of the kind collects.
template<typename Collector, typename Handle>
auto names_by(const Handle &h) {
    Collector collector;
    collector(h);
    return std::move(collector.names);
}

template<typename Handle, typename Matches>
bool any_free(const Handle &h, const Matches &matches) {
    FreeVariableSearch<Matches> search(matches);
    search(h);
    return search.result;
}

template<typename Handle>
std::vector<std::string> all_free(const Handle &h) {
    const std::set<std::string> names = names_by<AllFreeVariables>(h);
    return {names.begin(), names.end()};
}

bool names_buffer(const Node *node, const std::string &name) {
    if (const Load *load = node_as<Load>(node)) {
        return load->name == name;
    }
    if (const Store *store = node_as<Store>(node)) {
        return store->name == name;
    }
    if (const Provide *provide = node_as<Provide>(node)) {
        return provide->name == name;
    }
    const Call *call = node_as<Call>(node);
    return call && (call->call_type == CallKind::Func || call->call_type == CallKind::Image) &&
           call->name == name;
}

bool is_call_of(const Node *node, Intrinsic id) {
    const Call *call = node_as<Call>(node);
    return call && call->is_intrinsic(id);
}

bool is_likely(const Node *node) {
    const Call *call = node_as<Call>(node);
    return call && call->is_likely();
}

}  // namespace

bool uses_var(const Expr &e, const std::string &name) {
    return any_free(e, [&](const std::string &used) { return used == name; });
}

bool uses_var(const Stmt &s, const std::string &name) {
    return any_free(s, [&](const std::string &used) { return used == name; });
}

bool any_free_variable(const Expr &e, const std::function<bool(const std::string &)> &matches) {
    return any_free(e, matches);
}

bool uses_any_var(const Expr &e, const std::vector<std::string> &names) {
    return any_free(e, [&](const std::string &used) {
        return std::find(names.begin(), names.end(), used) != names.end();
    });
}

std::vector<std::string> free_variables(const Expr &e) {
    return all_free(e);
}

std::vector<std::string> free_variables(const Stmt &s) {
    return all_free(s);
}

std::vector<std::string> bound_names(const Expr &e) {
    return names_by<BoundNames>(e);
}

std::vector<std::string> bound_names(const Stmt &s) {
    return names_by<BoundNames>(s);
}

std::set<std::string> names_used(const Expr &e) {
    return names_by<NamesUsed>(e);
}

std::set<std::string> names_used(const Stmt &s) {
    return names_by<NamesUsed>(s);
}

bool uses_buffer(const Expr &e, const std::string &name) {
    return contains_node(e, [&](const Node *node) { return names_buffer(node, name); });
}

bool uses_buffer(const Stmt &s, const std::string &name) {
    return contains_node(s, [&](const Node *node) { return names_buffer(node, name); });
}

bool contains_kind(const Expr &e, NodeKind kind) {
    return contains_node(e, [=](const Node *node) { return node->kind == kind; });
}

bool contains_kind(const Stmt &s, NodeKind kind) {
    return contains_node(s, [=](const Node *node) { return node->kind == kind; });
}

bool contains_intrinsic(const Expr &e, Intrinsic id) {
    return contains_node(e, [=](const Node *node) { return is_call_of(node, id); });
}

bool contains_intrinsic(const Stmt &s, Intrinsic id) {
    return contains_node(s, [=](const Node *node) { return is_call_of(node, id); });
}

bool contains_likely(const Expr &e) {
    return contains_node(e, is_likely);
}

bool contains_likely(const Stmt &s) {
    return contains_node(s, is_likely);
}

bool is_pure(const Expr &e) {
    return !contains_node(e, [](const Node *node) {
        if (const Call *call = node_as<Call>(node)) {
            return !call->is_pure();
        }
        // What a parameter or constant image holds does not change while the pipeline runs.
        const Load *load = node_as<Load>(node);
        return load && !load->symbol.defined();
    });
}

bool has_effects(const Expr &e) {
    return contains<Call>(e, [](const Call *call) { return !call->is_pure(); });
}

bool is_simple(const Expr &e) {
    return !contains_node(e, [](const Node *node) {
        const Call *call = node_as<Call>(node);
        return (call && !call->is_likely()) || node->kind == NodeKind::Load ||
               node->kind == NodeKind::Let || node->kind == NodeKind::Shuffle ||
               node->kind == NodeKind::VectorReduce;
    });
}

bool is_trivial(const Expr &e) {
    if (const Broadcast *b = e.as<Broadcast>()) {
        return is_trivial(b->value);
    }
    return e.as<Variable>() || is_const(e);
}

}  // namespace calotype::internal
