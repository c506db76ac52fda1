// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/schedule/check_parameters.h"

#include "ir/constants.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include "support/error.h"

namespace calotype::internal {

void check_int32_of_parameters(const Expr &e, const std::string &what) {
    user_assert(Int(32).can_represent(e.type()) || is_const(e))
        << what << " has type " << e.type() << ", must fit in int32";
    class OnlyParameters : public GraphVisitor {
    public:
        std::string bad;

    private:
        using GraphVisitor::visit;
        void visit(const Variable *op) override {
            if (!op->symbol.defined() || op->symbol->kind != SymbolKind::Parameter) {
                bad = op->name;
            }
        }
    } only_parameters;
    only_parameters(e);
    user_assert(only_parameters.bad.empty())
        << what << " depends on variable " << only_parameters.bad
        << ", only parameters are allowed";
}

}  // namespace calotype::internal
