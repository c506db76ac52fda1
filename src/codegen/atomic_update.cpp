// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/atomic_update.h"

#include "ir/equality.h"
#include "ir/queries.h"
#include "ir/visitor.h"

namespace calotype::internal {

namespace {

bool is_replaced(const Load *load, const Store *store) {
    return load && load->name == store->name && equal(load->index, store->index);
}

class FindReplaced : public GraphVisitor {
public:
    explicit FindReplaced(const Store *store) : store_(store) {
    }
    Expr load;

private:
    using GraphVisitor::visit;
    void visit(const Load *op) override {
        load = is_replaced(op, store_) ? Expr(op) : load;
        GraphVisitor::visit(op);
    }

    const Store *store_;
};

}  // namespace

Expr replaced_value(const Store *op) {
    FindReplaced find(op);
    find(op->value);
    return find.load;
}

Expr other_operand(const Store *op, const Expr &a, const Expr &b) {
    const Expr rest = is_replaced(a.as<Load>(), op)   ? b
                      : is_replaced(b.as<Load>(), op) ? a
                                                      : Expr();
    return rest.defined() && !uses_buffer(rest, op->name) ? rest : Expr();
}

Expr updated_lane(const Store *op, const Expr &replaced, int lane) {
    const Type t = op->value.type();
    const Expr old = Variable::make(t.element_of(), old_value);
    if (t.is_scalar()) {
        return substitute(replaced, old, op->value);
    }
    const Expr all = substitute(replaced, Broadcast::make(old, t.lanes()), op->value);
    return Shuffle::make_extract_element(all, lane);
}

}  // namespace calotype::internal
