// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Visitor: walk an expression or statement. Override `visit` for the nodes you care about; the
// default goes into the children.
#pragma once

#include "ir/stmt_nodes.h"

namespace calotype::internal {

class Visitor {
public:
    virtual ~Visitor() = default;
    /// Visit a node by its kind; undefined handles are skipped.
    virtual void operator()(const Expr &e);
    virtual void operator()(const Stmt &s);

protected:
#define EXPR(Name) virtual void visit(const Name *op);
#define STMT(Name) virtual void visit(const Name *op);
#include "ir/nodes.def"
};

/// A Visitor that enters each shared node once: use it for anything that need not see repetition
/// (DAG-sized, not tree-sized).
class GraphVisitor : public Visitor {
public:
    GraphVisitor();
    ~GraphVisitor() override;
    void operator()(const Expr &e) override;
    void operator()(const Stmt &s) override;

private:
    struct Seen;
    Seen *seen_;
};

}  // namespace calotype::internal
