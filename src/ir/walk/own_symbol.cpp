// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/walk/own_symbol.h"

#include "ir/expr_nodes.h"
#include "ir/mutator.h"

namespace calotype::internal {

namespace {

class SetSymbol : public GraphMutator {
public:
    SetSymbol(const SymbolPtr &symbol, const IsOwn &is_own) : symbol_(symbol), is_own_(is_own) {
    }

private:
    using GraphMutator::visit;
    Expr visit(const Variable *op) override {
        return is_own_(op->name, op->symbol) ? Variable::make(op->type, op->name, symbol_)
                                             : Expr(op);
    }
    Expr visit(const Call *op) override {
        const Expr e = GraphMutator::visit(op);
        const Call *call = e.as<Call>();
        return call->call_type == CallKind::Image && is_own_(call->name, call->symbol)
                   ? Call::make(call->type, call->name, call->args, call->call_type,
                                call->value_index, symbol_)
                   : e;
    }

    const SymbolPtr &symbol_;
    const IsOwn &is_own_;
};

}  // namespace

Expr without_symbol(const Expr &e, const SymbolPtr &symbol) {
    return with_own_symbol(e, nullptr, [&](const std::string &, const SymbolPtr &other) {
        return other.get() == symbol.get();
    });
}

Expr with_own_symbol(const Expr &e, const SymbolPtr &symbol, const IsOwn &is_own) {
    return SetSymbol(symbol, is_own).mutate(e);
}

}  // namespace calotype::internal
