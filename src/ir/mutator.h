// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mutator: rebuild an expression or statement. Override `visit` for the nodes you change; the
// default rebuilds a node from its mutated children, and returns the same node if no child changed.
#pragma once

#include <utility>

#include "ir/stmt_nodes.h"

namespace calotype::internal {

class Mutator {
public:
    virtual ~Mutator() = default;
    /// Undefined stays undefined.
    virtual Expr mutate(const Expr &e);
    virtual Stmt mutate(const Stmt &s);
    Region mutate(const Region &r);
    std::vector<Expr> mutate(const std::vector<Expr> &v);
    /// Shorthand, so that a Mutator can be called like a function.
    template<typename T>
    T operator()(const T &t) {
        return mutate(t);
    }

protected:
#define EXPR(Name) virtual Expr visit(const Name *op);
#define STMT(Name) virtual Stmt visit(const Name *op);
#include "ir/nodes.def"
};

/// A Mutator that leaves expressions as they are.
class StmtMutator : public Mutator {
public:
    using Mutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }
};

/// A Mutator that rewrites each shared node once.
class GraphMutator : public Mutator {
public:
    GraphMutator();
    ~GraphMutator() override;
    using Mutator::mutate;
    Expr mutate(const Expr &e) override;
    Stmt mutate(const Stmt &s) override;

private:
    struct Memo;
    Memo *memo_;
};

}  // namespace calotype::internal
