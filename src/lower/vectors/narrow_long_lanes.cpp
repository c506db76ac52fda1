// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/vectors/narrow_long_lanes.h"

#include <unordered_map>
#include <utility>

#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/with.h"
#include "lower/vectors/narrowing.h"

namespace calotype::internal {

namespace {

class NarrowLongLanes : public StoredLanesMutator {
private:
    using StoredLanesMutator::visit;

    Expr visit(const Cast *op) override {
        const bool leaves = is_long(op->value.type()) && !is_long(op->type);
        const Expr narrow = leaves ? in_32_bits(op->value) : Expr();
        return narrow.defined() ? cast(op->type, narrow) : GraphMutator::visit(op);
    }

    static bool is_long(const Type &t) {
        return t.is_vector() && t.is_int_or_uint() && t.bits() == 64;
    }

    /// The value as an int32; undefined if it, or what it is made of, may be none.
    Expr in_32_bits(const Expr &e) {
        const auto found = known_.find(e.get());
        if (found != known_.end()) {
            return found->second.second;
        }
        const Expr result = fits(ranges_(e), Int(32)) ? made_in_32_bits(e) : Expr();
        known_.emplace(e.get(), std::make_pair(e, result));
        return result;
    }

    Expr made_in_32_bits(const Expr &e) {
        const Type t = Int(32, e.type().lanes());
        if (const auto i = as_const_int(e)) {
            return make_const(t, *i);
        }
        switch (e.kind()) {
        case NodeKind::Cast: {
            const Expr &value = e.as<Cast>()->value;
            const bool is_short = value.type().is_int_or_uint() && value.type().bits() <= 32;
            return is_short && fits(ranges_(value), Int(32)) ? cast(t, mutate(value)) : Expr();
        }
        case NodeKind::Broadcast: {
            const Expr &value = e.as<Broadcast>()->value;
            return value.type().is_scalar() ? Broadcast::make(cast(Int(32), value), t.lanes())
                                            : Expr();
        }
        case NodeKind::Add:
            return of_both(e.as<Add>());
        case NodeKind::Sub:
            return of_both(e.as<Sub>());
        case NodeKind::Mul:
            return of_both(e.as<Mul>());
        case NodeKind::Min:
            return of_both(e.as<Min>());
        case NodeKind::Max:
            return of_both(e.as<Max>());
        case NodeKind::Div:
            return of_both(e.as<Div>());
        case NodeKind::Mod:
            return of_both(e.as<Mod>());
        default:
            return Expr();
        }
    }

    template<typename T>
    Expr of_both(const T *op) {
        const Expr a = in_32_bits(op->a), b = a.defined() ? in_32_bits(op->b) : Expr();
        return b.defined() ? T::make(a, b) : Expr();
    }

    ValueRanges ranges_;
    std::unordered_map<const ExprNode *, std::pair<Expr, Expr>> known_;
};

}  // namespace

Stmt narrow_long_lanes(const Stmt &s) {
    return NarrowLongLanes().mutate(s);
}

}  // namespace calotype::internal
