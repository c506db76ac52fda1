// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/check_parameters.h"

#include "ir/constants.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include "support/error.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

class CheckKnown : public GraphVisitor {
public:
    CheckKnown(const std::string &what, Reads reads) : what_(what), reads_(reads) {
    }

private:
    using GraphVisitor::visit;
    void visit(const Variable *op) override {
        const bool is_parameter = op->symbol.defined() && op->symbol->kind == SymbolKind::Parameter;
        check(is_parameter || bound_.contains(op->name), "variable " + op->name);
    }
    void visit(const Call *op) override {
        const bool is_known = op->symbol.defined() && op->symbol->kind == SymbolKind::Image;
        const bool reads = op->call_type == CallKind::Func || op->call_type == CallKind::Image;
        const Reads needed = is_known ? Reads::KnownBuffers : Reads::Anything;
        check(!reads || needed <= reads_, "values of " + op->name);
        check(!op->is_intrinsic(Intrinsic::random), "a random number");
        check(!op->is_intrinsic(Intrinsic::undef), "an undefined value");
        GraphVisitor::visit(op);
    }
    void visit(const Let *op) override {
        (*this)(op->value);
        ScopedBinding<> bind(bound_, op->name);
        (*this)(op->body);
    }
    void check(bool holds, const std::string &found) const {
        user_assert(holds) << what_ << " depends on " << found << ", only parameters are allowed";
    }

    const std::string &what_;
    const Reads reads_;
    Scope<> bound_;
};

}  // namespace

void check_is_of_parameters(const Expr &e, const std::string &what, Reads reads) {
    CheckKnown check(what, reads);
    check(e);
}

void check_int32_of_parameters(const Expr &e, const std::string &what, Reads reads) {
    const bool is_integer = e.type().is_int_or_uint() && e.type().is_scalar();
    user_assert(Int(32).can_represent(e.type()) || (is_integer && is_const(e)))
        << what << " has type " << e.type() << ", must fit in int32";
    check_is_of_parameters(e, what, reads);
}

}  // namespace calotype::internal
