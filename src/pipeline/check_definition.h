// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DefinitionCheck: which names, domains and Funcs the expressions of a definition refer to, and
// whether they may.
#pragma once

#include <string>
#include <vector>

#include "ir/visitor.h"
#include "pipeline/function.h"
#include "support/scope.h"

namespace calotype::internal {

/// Apply it to each expression of one definition; a CompileError that begins with `what` if an
/// expression names a variable other than `pure_args`, RVars and parameters, or RVars of two
/// domains, or has a type that no values have.
class DefinitionCheck : public GraphVisitor {
public:
    DefinitionCheck(std::string func, std::string what, const std::vector<std::string> &pure_args,
                    const ReductionDomain &domain = ReductionDomain());

    using GraphVisitor::operator();

    /// The one given, or else that of the RVars that occur; undefined if there are none.
    const ReductionDomain &domain() const {
        return domain_;
    }
    const std::string &first_rvar() const {
        return first_rvar_;
    }
    bool calls_self() const {
        return calls_self_;
    }
    const std::vector<IntrusivePtr<FunctionContents>> &called() const {
        return called_;
    }

private:
    using GraphVisitor::visit;
    void visit(const Variable *op) override;
    void visit(const Let *op) override;
    void visit(const Call *op) override;
    void visit(const Cast *op) override;

    std::string func_, what_;
    Scope<> bound_;
    ReductionDomain domain_;
    std::string first_rvar_;
    bool calls_self_ = false;
    std::vector<IntrusivePtr<FunctionContents>> called_;
};

/// A CompileError that begins with `what` if there are no values of the type, such as a float of 24 bits.
void check_has_values(const std::string &what, const Type &t);

/// A CompileError that begins with `what` if an update f(..., x, ...) = ... of pure Var x calls f
/// with anything else in x's place: iterations of x would depend on each other.
void check_calls_of_self(const std::string &what, const std::string &func,
                         const std::vector<std::string> &pure_args, const std::vector<Expr> &args,
                         const std::vector<Expr> &values);

/// A CompileError that begins with `what` if the values of a tuple, or the coordinates that they
/// are stored at, are undef under different conditions: a store is left out as a whole or not.
/// Values that are undef always stand apart.
void check_undefs_agree(const std::string &what, const std::string &func,
                        const std::vector<Expr> &args, const std::vector<Expr> &values);

}  // namespace calotype::internal
