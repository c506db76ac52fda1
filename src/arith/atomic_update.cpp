// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/atomic_update.h"

#include <numeric>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

/// Copies of an index may have lets of their own, by different names.
bool is_same(const Expr &a, const Expr &b) {
    return equal(a, b) || equal(substitute_in_all_lets(a), substitute_in_all_lets(b));
}

bool is_replaced(const Load *load, const Store *store) {
    return load && load->name == store->name && is_same(load->index, store->index);
}

/// Lane i is base + i * stride.
struct Lanes {
    Expr base;
    int64_t stride = 0;
};

Lanes lanes_of(const Expr &index) {
    if (const Ramp *op = index.as<Ramp>()) {
        const std::optional<int64_t> stride = as_const_int(op->stride);
        return stride && op->base.type().is_scalar() ? Lanes{op->base, *stride} : Lanes();
    }
    const Broadcast *op = index.as<Broadcast>();
    const Expr base = op ? op->value : index;
    return base.type().is_scalar() ? Lanes{base, 0} : Lanes();
}

/// Whether no lane of one index is a lane of the other, as they differ modulo some number.
bool never_meet(const Expr &a, const Expr &b) {
    const Lanes p = lanes_of(a), q = lanes_of(b);
    if (!p.base.defined() || !q.base.defined() || p.base.type() != q.base.type()) {
        return false;
    }
    const Alignment apart = modulus_remainder(simplify(p.base - q.base));
    const int64_t step = std::gcd(std::gcd(p.stride, q.stride), apart.modulus);
    return step == 0 ? apart.remainder != 0 : apart.remainder % step != 0;
}

class FindReplaced : public GraphVisitor {
public:
    explicit FindReplaced(const Store *store) : store_(store) {
    }
    Expr load;
    Expr unknown;  ///< a load that may be of the same element, in another form

private:
    using GraphVisitor::visit;
    void visit(const Load *op) override {
        if (is_replaced(op, store_)) {
            load = op;
        } else if (op->name == store_->name && !never_meet(op->index, store_->index)) {
            unknown = op;
        }
        GraphVisitor::visit(op);
    }

    const Store *store_;
};

}  // namespace

Expr replaced_value(const Store *op) {
    FindReplaced find(op);
    find(op->value);
    internal_assert(find.load.defined() || !find.unknown.defined())
        << "the atomic update of " << op->name << " at " << op->index
        << " may read what it replaces in a form that is not an update: " << op->value;
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
