// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ReductionDomain: the loops and the predicate of an RDom.
#pragma once

#include <string>
#include <vector>

#include "ir/expr.h"
#include "ir/symbol.h"

namespace calotype::internal {

/// One dimension of a reduction domain: var = min .. min + extent - 1.
struct ReductionVariable {
    std::string var;
    Expr min, extent;
};

/// The Symbol that every RVar Variable of one RDom carries.
struct ReductionDomainContents : Symbol {
    explicit ReductionDomainContents(std::string name)
        : Symbol(SymbolKind::ReductionDomain, std::move(name)) {
    }
    std::vector<ReductionVariable> domain;  ///< innermost first
    /// True by default; a conjunction of all `where`s. Its RVars carry no symbol here, or the
    /// domain would own itself.
    Expr predicate;
    bool frozen = false;  ///< used in a definition: `where` may no longer be added
};

/// A handle to a reduction domain, undefined by default.
class ReductionDomain {
public:
    ReductionDomain() = default;
    explicit ReductionDomain(SymbolPtr symbol);
    ReductionDomain(const std::string &name, std::vector<ReductionVariable> domain);

    bool defined() const {
        return contents_.defined();
    }
    bool same_as(const ReductionDomain &other) const {
        return contents_ == other.contents_;
    }
    const std::vector<ReductionVariable> &domain() const {
        return contents_->domain;
    }
    /// The condition in terms of the domain's RVars.
    Expr predicate() const;
    /// Conjoin a condition; a CompileError if the domain is already part of a definition.
    void where(Expr condition);
    void freeze() {
        contents_->frozen = true;
    }
    bool frozen() const {
        return contents_->frozen;
    }
    SymbolPtr symbol() const {
        return contents_;
    }

private:
    IntrusivePtr<ReductionDomainContents> contents_;
};

}  // namespace calotype::internal
