// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/storage/independent_values.h"

#include <numeric>

#include "arith/simplify.h"
#include "ir/equality.h"
#include "ir/queries.h"
#include "ir/visitor.h"

namespace calotype::internal {

namespace {

/// Copies of an expression have lets of their own, by different names.
bool is_same(const Expr &a, const Expr &b) {
    return equal(a, b) || equal(substitute_in_all_lets(a), substitute_in_all_lets(b));
}

bool is_element(const Call *op, const Provide *store, size_t i) {
    if (op->call_type != CallKind::Func || op->name != store->name || op->value_index != int(i) ||
        op->args.size() != store->args.size()) {
        return false;
    }
    for (size_t d = 0; d < op->args.size(); d++) {
        if (!is_same(op->args[d], store->args[d])) {
            return false;
        }
    }
    return true;
}

/// Whether two coordinates differ in all iterations, by what they are modulo some number.
bool never_equal(const Expr &a, const Expr &b) {
    if (a.type() != Int(32) || b.type() != Int(32)) {
        return false;
    }
    const Alignment x = modulus_remainder(a), y = modulus_remainder(b);
    const int64_t common = std::gcd(x.modulus, y.modulus);
    return common > 1 && (x.remainder - y.remainder) % common != 0;
}

class ReadsOther : public GraphVisitor {
public:
    ReadsOther(const Provide *store, size_t i) : store_(store), i_(i) {
    }
    bool found = false;

private:
    using GraphVisitor::visit;
    void visit(const Call *op) override {
        const bool reads = op->call_type == CallKind::Func && op->name == store_->name;
        found = found || (reads && !is_element(op, store_, i_) && !is_elsewhere(op));
        GraphVisitor::visit(op);
    }
    /// Whether no iteration stores what this reads.
    bool is_elsewhere(const Call *op) const {
        for (size_t d = 0; d < op->args.size() && d < store_->args.size(); d++) {
            if (never_equal(op->args[d], store_->args[d])) {
                return true;
            }
        }
        return false;
    }
    const Provide *store_;
    const size_t i_;
};

}  // namespace

bool reads_own_element(const Provide *op, size_t i) {
    ReadsOther other(op, i);
    other(op->values[i]);
    return !other.found;
}

bool has_independent_values(const Provide *op) {
    for (size_t i = 0; i < op->values.size(); i++) {
        if (!reads_own_element(op, i)) {
            return false;
        }
    }
    for (const Expr &e : op->args) {
        if (uses_buffer(e, op->name)) {
            return false;
        }
    }
    return !uses_buffer(op->predicate, op->name);
}

bool keeps_element(const Provide *op, size_t i) {
    const Call *value = op->values[i].as<Call>();
    return value && is_element(value, op, i);
}

}  // namespace calotype::internal
