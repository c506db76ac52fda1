// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/reduction.h"

#include <algorithm>

#include "ir/constants.h"
#include "ir/printer.h"
#include "ir/walk/own_symbol.h"
#include "support/error.h"

namespace calotype::internal {

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

/// The condition with the symbol, or none, at the domain's variables.
Expr with_symbol(const Expr &condition, const SymbolPtr &symbol,
                 const std::vector<ReductionVariable> &domain) {
    return with_own_symbol(condition, symbol, [&](const std::string &name, const SymbolPtr &) {
        return std::any_of(domain.begin(), domain.end(),
                           [&](const ReductionVariable &v) { return v.var == name; });
    });
}

}  // namespace

Expr ReductionDomain::predicate() const {
    return with_symbol(contents_->predicate, symbol(), domain());
}

void ReductionDomain::where(Expr condition) {
    user_assert(defined()) << "where on an undefined reduction domain";
    user_assert(!frozen()) << "reduction domain " << contents_->name
                           << " is already used in a definition, where must come before that";
    user_assert(condition.defined() && condition.type() == Bool())
        << "condition of where on reduction domain " << contents_->name << " has type "
        << condition.type() << ", must be bool";
    condition = with_symbol(condition, nullptr, domain());
    contents_->predicate = is_trivially_true(contents_->predicate)
                               ? std::move(condition)
                               : And::make(contents_->predicate, std::move(condition));
}

}  // namespace calotype::internal
