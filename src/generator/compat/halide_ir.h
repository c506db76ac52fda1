// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Part of Halide.h: the nodes, and the classes that walk over them. All nodes are found in
// Halide::Internal; visitors and mutators may be written as classes or as sets of lambdas.
#pragma once

#include <ostream>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "calotype.h"
#include "halide_names.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/expr_nodes.h"
#include "ir/mutator.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "ir/stmt_nodes.h"
#include "ir/visitor.h"
#include "support/scope.h"

namespace calotype {
namespace Internal {

#define EXPR(Name) using internal::Name;
#define STMT(Name) using internal::Name;
#include "ir/nodes.def"
using internal::CallKind;
using internal::NodeKind;
using internal::Scope;
using internal::ScopedBinding;
using IRNode = internal::Node;
using LoweredFunc = internal::LoweredFunction;

/// Marks loads around the cache in programs for Halide; here they are a field of Load, and no code
/// has a node of this class.
struct StreamingLoads;

/// Writes code as the operators << do.
class IRPrinter {
public:
    explicit IRPrinter(std::ostream &out) : out_(out) {
    }
    virtual ~IRPrinter() = default;
    void print(const Expr &e) {
        out_ << e;
    }
    void print(const Stmt &s) {
        out_ << s;
    }

private:
    std::ostream &out_;
};

/// Calls in lowered code as programs for Halide look for them, for visitors to see: functions of the
/// runtime by the names that they have there, and a prefetch with the number of its accesses (one)
/// and their distance behind the index.
class HalideForms {
public:
    Expr of(const Expr &e);

private:
    /// With the expressions that they are made of. Programs keep pointers to what they saw.
    std::unordered_map<const IRNode *, std::pair<Expr, Expr>> made_;
};

// Classes, not aliases: derived classes say IRMutator::visit(op).
class IRMutator : public internal::Mutator {
public:
    using Mutator::Mutator;
};
class IRGraphMutator : public internal::GraphMutator {
public:
    using GraphMutator::GraphMutator;
};
class IRVisitor : public internal::Visitor {
public:
    using Visitor::Visitor;
    using Visitor::operator();
    void operator()(const Expr &e) override {
        Visitor::operator()(forms_.of(e));
    }

private:
    HalideForms forms_;
};
class IRGraphVisitor : public internal::GraphVisitor {
public:
    using GraphVisitor::GraphVisitor;

protected:
    /// Visit what was not visited before.
    virtual void include(const Expr &e) {
        GraphVisitor::operator()(forms_.of(e));
    }
    virtual void include(const Stmt &s) {
        GraphVisitor::operator()(s);
    }

public:
    void operator()(const Expr &e) override {
        include(e);
    }
    void operator()(const Stmt &s) override {
        include(s);
    }

private:
    HalideForms forms_;
};

/// One object that can be called as any of several lambdas.
template<typename... Lambdas>
struct LambdaOverloads : Lambdas... {
    using Lambdas::operator()...;
    explicit LambdaOverloads(Lambdas... lambdas) : Lambdas(std::move(lambdas))... {
    }
};

/// Calls the lambda (auto *self, const Node *op) that takes the node's type; without one it goes
/// into the children. A lambda does that by self->visit_base(op), and visits others by (*self)(e).
template<typename... Lambdas>
class LambdaVisitor final : public IRVisitor {
public:
    explicit LambdaVisitor(Lambdas... lambdas) : handlers_(std::move(lambdas)...) {
    }
    template<typename T>
    void visit_base(const T *op) {
        IRVisitor::visit(op);
    }

protected:
#define EXPR(Name)                                                                                 \
    void visit(const Name *op) override {                                                          \
        handle(op);                                                                                \
    }
#define STMT(Name) EXPR(Name)
#include "ir/nodes.def"

private:
    template<typename T>
    void handle(const T *op) {
        if constexpr (std::is_invocable<decltype(handlers_) &, LambdaVisitor *, const T *>::value) {
            handlers_(this, op);
        } else {
            visit_base(op);
        }
    }
    LambdaOverloads<Lambdas...> handlers_;
};

template<typename IR, typename... Lambdas>
void visit_with(const IR &ir, Lambdas &&...lambdas) {
    LambdaVisitor<std::decay_t<Lambdas>...> visitor(std::forward<Lambdas>(lambdas)...);
    visitor(ir);
}

/// The same for mutators: lambdas give an Expr or Stmt.
template<typename... Lambdas>
class LambdaMutator final : public IRMutator {
public:
    explicit LambdaMutator(Lambdas... lambdas) : handlers_(std::move(lambdas)...) {
    }
    template<typename T>
    auto visit_base(const T *op) {
        return IRMutator::visit(op);
    }

protected:
#define EXPR(Name)                                                                                 \
    Expr visit(const Name *op) override {                                                          \
        return handle(op);                                                                         \
    }
#define STMT(Name)                                                                                 \
    Stmt visit(const Name *op) override {                                                          \
        return handle(op);                                                                         \
    }
#include "ir/nodes.def"

private:
    template<typename T>
    auto handle(const T *op) {
        using Result = decltype(visit_base(op));
        if constexpr (std::is_invocable<decltype(handlers_) &, LambdaMutator *, const T *>::value) {
            return Result(handlers_(this, op));
        } else {
            return visit_base(op);
        }
    }
    LambdaOverloads<Lambdas...> handlers_;
};

/// Calls a lambda (auto *self, const Expr &e) or (auto *self, const Stmt &s) for every expression
/// or statement; it goes on by self->mutate_base(e).
template<typename... Lambdas>
class LambdaMutatorGeneric final : public IRMutator {
public:
    explicit LambdaMutatorGeneric(Lambdas... lambdas) : handlers_(std::move(lambdas)...) {
    }
    template<typename T>
    auto mutate_base(const T &ir) {
        return IRMutator::mutate(ir);
    }
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return handle(e);
    }
    Stmt mutate(const Stmt &s) override {
        return handle(s);
    }

private:
    template<typename T>
    T handle(const T &ir) {
        if constexpr (std::is_invocable<decltype(handlers_) &, LambdaMutatorGeneric *,
                                        const T &>::value) {
            return handlers_(this, ir);
        } else {
            return mutate_base(ir);
        }
    }
    LambdaOverloads<Lambdas...> handlers_;
};

template<typename IR, typename... Lambdas>
IR mutate_with(const IR &ir, Lambdas &&...lambdas) {
    using Overloads = LambdaOverloads<std::decay_t<Lambdas>...>;
    using Generic = LambdaMutatorGeneric<std::decay_t<Lambdas>...>;
    if constexpr (std::is_invocable<Overloads &, Generic *, const Expr &>::value ||
                  std::is_invocable<Overloads &, Generic *, const Stmt &>::value) {
        return Generic(std::forward<Lambdas>(lambdas)...).mutate(ir);
    } else {
        return LambdaMutator<std::decay_t<Lambdas>...>(std::forward<Lambdas>(lambdas)...)
            .mutate(ir);
    }
}

/// Equality and order of graphs cost no more than those of trees here, and are the same.
template<typename IR>
bool graph_equal(const IR &a, const IR &b) {
    return internal::equal(a, b);
}
template<typename IR>
bool less_than(const IR &a, const IR &b) {
    return internal::compare(a, b) < 0;
}
template<typename IR>
bool graph_less_than(const IR &a, const IR &b) {
    return internal::compare(a, b) < 0;
}
inline bool equal(const Expr &a, int b) {
    return internal::equal(a, Expr(b));
}

inline bool expr_uses_var(const Expr &e, const std::string &name) {
    return internal::uses_var(e, name);
}
inline bool stmt_uses_var(const Stmt &s, const std::string &name) {
    return internal::uses_var(s, name);
}
/// Whether a name that the scope holds occurs.
template<typename IR, typename T>
bool stmt_or_expr_uses_vars(const IR &ir, const Scope<T> &names) {
    for (const std::string &name : internal::names_used(ir)) {
        if (names.contains(name)) {
            return true;
        }
    }
    return false;
}
template<typename T>
bool expr_uses_vars(const Expr &e, const Scope<T> &names) {
    return stmt_or_expr_uses_vars(e, names);
}
template<typename T>
bool stmt_uses_vars(const Stmt &s, const Scope<T> &names) {
    return stmt_or_expr_uses_vars(s, names);
}
template<typename IR>
IR graph_substitute(const std::string &name, const Expr &replacement, const IR &ir) {
    return substitute(name, replacement, ir);
}
template<typename IR>
IR graph_substitute(const Expr &find, const Expr &replacement, const IR &ir) {
    return substitute(find, replacement, ir);
}

}  // namespace Internal
}  // namespace calotype
