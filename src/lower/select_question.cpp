// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/select_question.h"

#include "ir/constants.h"
#include "ir/expr_nodes.h"
#include "ir/visitor.h"

namespace calotype::internal {

namespace {

class FindQuestion : public GraphVisitor {
public:
    Expr question;

private:
    using GraphVisitor::visit;
    void visit(const Select *op) override {
        find_in(op->condition);
        if (!question.defined()) {
            GraphVisitor::visit(op);
        }
    }
    void find_in(const Expr &condition) {
        if (const And *both = condition.as<And>()) {
            find_in(both->a);
        } else if (const Or *either = condition.as<Or>()) {
            find_in(either->a);
        } else if (const Not *no = condition.as<Not>()) {
            find_in(no->a);
        } else if (!is_const(condition)) {
            question = condition;
        }
    }
};

}  // namespace

Expr select_question(const Expr &e) {
    FindQuestion finder;
    finder(e);
    return finder.question;
}

}  // namespace calotype::internal
