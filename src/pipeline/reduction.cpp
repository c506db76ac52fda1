// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/reduction.h"

#include <algorithm>

#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/printer.h"
#include "support/error.h"

namespace calotype {

using namespace internal;

ReductionDomain::ReductionDomain(SymbolPtr symbol) {
    internal_assert(symbol.defined() && symbol->kind == SymbolKind::ReductionDomain)
        << "not a reduction domain";
    contents_ =
        IntrusivePtr<ReductionDomainContents>(static_cast<ReductionDomainContents *>(symbol.get()));
}

ReductionDomain::ReductionDomain(const std::string &name, std::vector<ReductionVariable> domain)
    : contents_(new ReductionDomainContents(name)) {
    contents_->domain = std::move(domain);
    contents_->predicate = const_true();
}

namespace {

// Gives or takes the symbol of Variables named as the domain's.
class SetSymbol : public GraphMutator {
public:
    SetSymbol(const std::vector<ReductionVariable> &domain, SymbolPtr symbol)
        : domain_(domain), symbol_(std::move(symbol)) {
    }

private:
    using GraphMutator::visit;
    Expr visit(const Variable *op) override {
        const bool own = std::any_of(domain_.begin(), domain_.end(),
                                     [&](const ReductionVariable &v) { return v.var == op->name; });
        return own ? Variable::make(op->type, op->name, symbol_) : Expr(op);
    }
    const std::vector<ReductionVariable> &domain_;
    const SymbolPtr symbol_;
};

}  // namespace

Expr ReductionDomain::predicate() const {
    return SetSymbol(domain(), symbol()).mutate(contents_->predicate);
}

void ReductionDomain::where(Expr condition) {
    user_assert(defined()) << "where on an undefined reduction domain";
    user_assert(!frozen()) << "reduction domain " << contents_->name
                           << " is already used in a definition, where must come before that";
    user_assert(condition.defined() && condition.type() == Bool())
        << "condition of where on reduction domain " << contents_->name << " has type "
        << condition.type() << ", must be bool";
    condition = SetSymbol(domain(), nullptr).mutate(condition);
    contents_->predicate = is_trivially_true(contents_->predicate)
                               ? std::move(condition)
                               : And::make(contents_->predicate, std::move(condition));
}

}  // namespace calotype
