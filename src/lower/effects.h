// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the evaluation of an expression does besides yielding a value.
#pragma once

#include "ir/queries.h"
#include "ir/visitor.h"

namespace calotype::internal {

/// True if a call occurs for which `matches` holds.
template<typename Predicate>
bool has_call(const Expr &e, const Predicate &matches) {
    class Finder : public GraphVisitor {
    public:
        explicit Finder(const Predicate &matches) : matches_(matches) {
        }
        bool found = false;

    private:
        using GraphVisitor::visit;
        void visit(const Call *op) override {
            found = found || matches_(op);
            GraphVisitor::visit(op);
        }
        const Predicate &matches_;
    };
    Finder finder(matches);
    finder(e);
    return finder.found;
}

/// True if the expression calls something with an effect. Loads are no effect: unlike for
/// is_pure(), only evaluation counts.
inline bool has_effect(const Expr &e) {
    return has_call(e, [](const Call *op) { return !op->is_pure(); });
}

/// True if it may be evaluated where it is not needed: reading inputs is pure, but only what is
/// needed of them is there.
inline bool may_be_in_vain(const Expr &e) {
    return is_pure(e) && !contains_kind(e, NodeKind::Load);
}

/// True if a linkable supplies what is called: it may be there on a device alone.
inline bool is_linked(const Call *op) {
    return op->symbol && op->symbol->kind == SymbolKind::Linkable;
}

/// True if such a call occurs. It must stay in the kernel, or the host's code, that it stands in.
inline bool calls_linkable(const Expr &e) {
    return has_call(e, is_linked);
}

}  // namespace calotype::internal
