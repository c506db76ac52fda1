// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/check_definition.h"

#include "support/error.h"

namespace calotype::internal {

DefinitionCheck::DefinitionCheck(std::string func, std::string what,
                                 const std::vector<std::string> &pure_args,
                                 const ReductionDomain &domain)
    : func_(std::move(func)), what_(std::move(what)), domain_(domain) {
    for (const std::string &arg : pure_args) {
        bound_.push(arg);
    }
}

void DefinitionCheck::visit(const Variable *op) {
    if (!op->symbol.defined()) {
        user_assert(bound_.contains(op->name))
            << what_ << " uses variable " << op->name << ", which is none of its arguments";
        return;
    }
    if (op->symbol->kind != SymbolKind::ReductionDomain) {
        return;
    }
    ReductionDomain d(op->symbol);
    if (!domain_.defined()) {
        domain_ = d;
    }
    first_rvar_ = first_rvar_.empty() ? op->name : first_rvar_;
    user_assert(domain_.same_as(d)) << what_ << " uses RVars of two reduction domains, "
                                    << domain_.symbol()->name << " and " << d.symbol()->name;
}

void DefinitionCheck::visit(const Let *op) {
    (*this)(op->value);
    ScopedBinding<> bind(bound_, op->name);
    (*this)(op->body);
}

void DefinitionCheck::visit(const Call *op) {
    GraphVisitor::visit(op);
    if (op->call_kind != CallKind::Func) {
        return;
    }
    if (op->name == func_) {
        calls_self_ = true;
    }
    if (op->symbol.defined()) {
        called_.push_back(Function(op->symbol).contents());
    }
}

}  // namespace calotype::internal
