// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the evaluation of an expression does besides yielding a value.
#pragma once

#include "ir/visitor.h"

namespace calotype::internal {

/// True if the expression calls something with an effect. Loads are no effect: unlike for
/// is_pure(), only evaluation counts.
inline bool has_effect(const Expr &e) {
    class Finder : public GraphVisitor {
    public:
        bool found = false;

    private:
        using GraphVisitor::visit;
        void visit(const Call *op) override {
            found = found || !op->is_pure();
            GraphVisitor::visit(op);
        }
    };
    Finder finder;
    finder(e);
    return finder.found;
}

/// True if a linkable supplies what is called: it may be there on a device alone.
inline bool is_linked(const Call *op) {
    return op->symbol && op->symbol->kind == SymbolKind::Linkable;
}

/// True if such a call occurs. It must stay in the kernel, or the host's code, that it stands in.
inline bool calls_linkable(const Expr &e) {
    class Finder : public GraphVisitor {
    public:
        bool found = false;

    private:
        using GraphVisitor::visit;
        void visit(const Call *op) override {
            found = found || is_linked(op);
            GraphVisitor::visit(op);
        }
    };
    Finder finder;
    finder(e);
    return finder.found;
}

}  // namespace calotype::internal
