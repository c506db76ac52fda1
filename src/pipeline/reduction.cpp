// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/reduction.h"

#include "ir/constants.h"
#include "ir/expr_nodes.h"
#include "ir/printer.h"
#include "support/error.h"

namespace calotype {

ReductionDomain::ReductionDomain(SymbolPtr symbol) {
    internal_assert(symbol.defined() && symbol->kind == SymbolKind::ReductionDomain)
        << "not a reduction domain";
    contents_ = IntrusivePtr<ReductionDomainContents>(
        static_cast<ReductionDomainContents *>(symbol.get()));
}

ReductionDomain::ReductionDomain(const std::string &name, std::vector<ReductionVariable> domain)
    : contents_(new ReductionDomainContents(name)) {
    contents_->domain = std::move(domain);
    contents_->predicate = const_true();
}

void ReductionDomain::where(Expr condition) {
    user_assert(defined()) << "where on an undefined reduction domain";
    user_assert(!frozen()) << "reduction domain " << contents_->name
                           << " is already used in a definition, where must come before that";
    user_assert(condition.defined() && condition.type() == Bool())
        << "condition of where on reduction domain " << contents_->name << " has type "
        << condition.type() << ", must be bool";
    contents_->predicate = is_trivially_true(contents_->predicate)
                               ? std::move(condition)
                               : And::make(contents_->predicate, std::move(condition));
}

}  // namespace calotype
