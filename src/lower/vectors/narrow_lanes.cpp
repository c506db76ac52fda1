// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two questions are asked of a value. Its low 16 bits are needed by sums, differences and products,
// which carry nothing down, so their operands may be anything:
//
//     low(a * b + c) == low(a) * low(b) + low(c)
//
// The value itself, as a uint16 or an int16 that all its values fit, is needed by quotients, shifts,
// minima and comparisons: there the operands must fit, too. A value that fits is its low bits.
#include "lower/vectors/narrow_lanes.h"

#include <map>
#include <optional>

#include "arith/fixed_point.h"
#include "ir/constants.h"
#include "ir/language/match_types.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/with.h"
#include "lower/values/bool_bytes.h"
#include "lower/vectors/count_work.h"
#include "lower/vectors/narrow_long_lanes.h"
#include "lower/vectors/narrowing.h"

namespace calotype::internal {

namespace {

bool is_wide(const Type &t) {
    return t.is_vector() && t.is_int_or_uint() && t.bits() >= 32;
}

bool is_small_integer(const Type &t) {
    return t.is_int_or_uint() && t.bits() <= 16;
}

class LaneNarrower : public StoredLanesMutator {
public:
    explicit LaneNarrower(const LowerContext &ctx) : target_(ctx.target) {
    }

    using GraphMutator::mutate;
    Expr mutate(const Expr &e) override {
        if (!e.defined() || !is_wide(e.type())) {
            return GraphMutator::mutate(e);
        }
        const auto found = wide_.find(e.get());
        if (found != wide_.end()) {
            return found->second.second;
        }
        const Expr as_is = GraphMutator::mutate(e), narrow = narrowed(e);
        const bool is_less = narrow.defined() && count_work(Cast::make(e.type(), narrow), target_) <
                                                     count_work(as_is, target_);
        const Expr result = is_less ? Cast::make(e.type(), narrow) : as_is;
        wide_.emplace(e.get(), std::make_pair(e, result));
        return result;
    }

private:
    using StoredLanesMutator::visit;

    Expr visit(const Cast *op) override {
        if (op->type.element_of() == Int(16) && is_wide(op->value.type()) &&
            fits(ranges_(op->value), Int(16))) {
            if (const Expr product = rounded_product(op->value, op->type); product.defined()) {
                return product;
            }
        }
        if (const Expr known = clamped(op); known.defined()) {
            return known;
        }
        const bool from_wide = is_wide(op->value.type()) && is_small_integer(op->type);
        const Expr narrow = from_wide ? narrowed(op->value) : Expr();
        if (narrow.defined()) {
            const Expr as_is = Cast::make(op->type, GraphMutator::mutate(op->value));
            const Expr result = cast(op->type, narrow);
            return count_work(result, target_) <= count_work(as_is, target_) ? result : as_is;
        }
        return GraphMutator::visit(op);
    }

    Expr visit(const Call *op) override {
        if (!op->is_intrinsic(Intrinsic::saturating_cast) || !op->type.is_vector()) {
            return GraphMutator::visit(op);
        }
        const Expr &value = op->args[0];
        const Expr known = saturated(value, op->type);
        const Expr narrow = !known.defined() && is_wide(value.type()) ? narrowed(value) : Expr();
        return known.defined()    ? known
               : narrow.defined() ? Call::make(op->type, op->intrinsic, {narrow})
                                  : GraphMutator::visit(op);
    }

    /// What is clamped to the limits of the type that it becomes is saturated to it.
    Expr clamped(const Cast *op) {
        const Expr value =
            op->type.is_vector() ? value_before_saturation(op->value, op->type) : Expr();
        return value.defined() ? saturated(value, op->type) : Expr();
    }

    /// A value of a wider type, saturated to t, where one operation of that type does both.
    Expr saturated(const Expr &e, const Type &t) {
        if (!e.type().is_int_or_uint() || e.type().bits() <= t.bits()) {
            return Expr();
        }
        if (const Add *op = e.as<Add>()) {
            return in_type(Intrinsic::saturating_add, op->a, op->b, t);
        }
        if (const Sub *op = e.as<Sub>(); op && e.type().is_int()) {
            return in_type(Intrinsic::saturating_sub, op->a, op->b, t);
        }
        return t.element_of() == Int(16) ? rounded_product(e, t) : Expr();
    }

    /// The operation on numbers of type t, if both are.
    Expr in_type(Intrinsic id, const Expr &a, const Expr &b, const Type &t) {
        const Expr x = as_type(a, t), y = x.defined() ? as_type(b, t) : Expr();
        return y.defined() ? Call::make(t, id, {x, y}) : Expr();
    }

    Expr as_type(const Expr &e, const Type &t) {
        if (t.bits() == 16 && is_wide(e.type())) {
            return fits(ranges_(e), t.element_of()) ? value(e, t) : Expr();
        }
        const Expr narrow = t.bits() == 8 ? lossless_cast(t, e) : Expr();
        return narrow.defined() ? mutate(narrow) : narrow;
    }

    /// (a * b + 2^14) / 2^15
    Expr rounded_product(const Expr &e, const Type &t) {
        const Div *quotient = e.as<Div>();
        const Call *shifted = Call::as_intrinsic(e, Intrinsic::shift_right);
        const bool is_by_15 = quotient  ? is_const(quotient->b, 1 << 15)
                              : shifted ? is_const(shifted->args[1], 15)
                                        : false;
        const Add *sum = is_by_15 ? (quotient ? quotient->a : shifted->args[0]).as<Add>() : nullptr;
        const Mul *product = sum && is_const(sum->b, 1 << 14) ? sum->a.as<Mul>() : nullptr;
        const Expr a = product && is_wide(e.type()) ? as_type(product->a, t) : Expr(),
                   b = a.defined() ? as_type(product->b, t) : Expr();
        return b.defined() ? Call::make(t, Intrinsic::rounding_mul_shift_right,
                                        {a, b, make_const(UInt(16, t.lanes()), 15)})
                           : Expr();
    }

    /// The type of 16 bits that a value fits, if there is one: the unsigned one first, in which
    /// quotients are less work.
    std::optional<Type> fitting(const Expr &e) {
        for (const Type t : {UInt(16), Int(16)}) {
            if (fits(ranges_(e), t)) {
                return t.with_lanes(e.type().lanes());
            }
        }
        return {};
    }

    std::optional<Type> fitting(const Expr &a, const Expr &b) {
        const ConstantInterval both = union_of(ranges_(a), ranges_(b));
        for (const Type t : {UInt(16), Int(16)}) {
            if (fits(both, t)) {
                return t.with_lanes(a.type().lanes());
            }
        }
        return {};
    }

    /// The value in 16 bits, undefined if there is no such.
    Expr narrowed(const Expr &e) {
        const std::optional<Type> t = fitting(e);
        return t ? value(e, *t) : Expr();
    }

    /// Among types of up to 16 bits, where the sign of those between does not matter.
    static Expr cast(const Type &t, Expr e) {
        while (e.defined() && e.as<Cast>() && e.type().bits() == 16 && is_16_bits(e.as<Cast>())) {
            e = e.as<Cast>()->value;
        }
        const auto constant = e.defined() ? as_const_int(e) : std::nullopt;
        return !e.defined() || e.type() == t ? e
               : constant                    ? make_const(t, *constant)
                                             : Cast::make(t, e);
    }

    static bool is_16_bits(const Cast *op) {
        return op->value.type().is_int_or_uint() && op->value.type().bits() == 16;
    }

    /// The value in a type of 16 bits that it fits; undefined if that is not made of narrow values.
    Expr value(const Expr &e, const Type &t) {
        const auto key = std::make_pair(e.get(), t.is_int());
        const auto found = values_.find(key);
        if (found != values_.end()) {
            return found->second.second;
        }
        const Expr operation = value_of_operation(e, t);
        const Expr result = operation.defined() ? cast(t, operation) : cast(t, low(e));
        values_.emplace(key, std::make_pair(e, result));
        return result;
    }

    /// Of operations that need their operands' values.
    Expr value_of_operation(const Expr &e, const Type &t) {
        switch (e.kind()) {
        case NodeKind::Div:
            return quotient(e.as<Div>()->a, as_const_int(e.as<Div>()->b), false);
        case NodeKind::Mod:
            return quotient(e.as<Mod>()->a, as_const_int(e.as<Mod>()->b), true);
        case NodeKind::Min:
            return extreme(e.as<Min>());
        case NodeKind::Max:
            return extreme(e.as<Max>());
        case NodeKind::Call:
            return value_of_call(e.as<Call>());
        case NodeKind::Select: {
            const Select *op = e.as<Select>();
            const Expr a = value(op->true_value, t), b = value(op->false_value, t);
            return a.defined() && b.defined() ? Select::make(condition(op->condition), a, b)
                                              : Expr();
        }
        default:
            return Expr();
        }
    }

    template<typename MinMax>
    Expr extreme(const MinMax *op) {
        const std::optional<Type> t = fitting(op->a, op->b);
        const Expr a = t ? value(op->a, *t) : Expr(), b = t ? value(op->b, *t) : Expr();
        return a.defined() && b.defined() ? MinMax::make(a, b) : Expr();
    }

    Expr value_of_call(const Call *op) {
        if (op->is_intrinsic(Intrinsic::shift_right)) {
            const auto by = as_const_int(op->args[1]);
            return by && *by > 0 && *by < 15 ? quotient(op->args[0], int64_t(1) << *by, false)
                                             : Expr();
        }
        if (op->is_intrinsic(Intrinsic::abs)) {
            const std::optional<Type> t = fitting(op->args[0]);
            const Expr a = t && t->is_int() ? value(op->args[0], *t) : Expr();
            return a.defined() ? Call::make(t->with_code(Type::UInt), op->intrinsic, {a}) : Expr();
        }
        if (op->is_intrinsic(Intrinsic::absd)) {
            const std::optional<Type> t = fitting(op->args[0], op->args[1]);
            const Expr a = t ? value(op->args[0], *t) : Expr(),
                       b = t ? value(op->args[1], *t) : Expr();
            return a.defined() && b.defined()
                       ? Call::make(t->with_code(Type::UInt), op->intrinsic, {a, b})
                       : Expr();
        }
        return Expr();
    }

    /// a / by, or the remainder.
    Expr quotient(const Expr &a, const std::optional<int64_t> &by, bool is_remainder) {
        if (!by || *by <= 0) {
            return Expr();
        }
        const std::optional<Type> t = fitting(a);
        if (!t) {
            return *by == 2 && !is_remainder ? half_of_sum(a) : Expr();
        }
        const Expr numerator = fits(ConstantInterval::single(*by), *t) ? value(a, *t) : Expr();
        if (!numerator.defined()) {
            return Expr();
        }
        const Expr divisor = make_const(*t, *by);
        return is_remainder ? Mod::make(numerator, divisor) : Div::make(numerator, divisor);
    }

    /// (a + b) / 2 or (a + b + 1) / 2, where a and b fit and the sum does not.
    Expr half_of_sum(const Expr &sum) {
        const Add *op = sum.as<Add>();
        const Add *inner = op && is_const(op->b, 1) ? op->a.as<Add>() : nullptr;
        const Add *terms = inner ? inner : op;
        const std::optional<Type> t = terms ? fitting(terms->a, terms->b) : std::nullopt;
        const Expr a = t ? value(terms->a, *t) : Expr(), b = t ? value(terms->b, *t) : Expr();
        return a.defined() && b.defined()
                   ? Call::make(*t,
                                inner ? Intrinsic::rounding_halving_add : Intrinsic::halving_add,
                                {a, b})
                   : Expr();
    }

    /// A condition, in which comparisons are of 16 bits where that can be.
    Expr condition(const Expr &e) {
        switch (e.kind()) {
#define ARITH(Name, symbol)
#define COMPARE(Name, symbol)                                                                      \
    case NodeKind::Name:                                                                           \
        return comparison(e.as<Name>());
#define LOGIC(Name, symbol)                                                                        \
    case NodeKind::Name:                                                                           \
        return Name::make(condition(e.as<Name>()->a), condition(e.as<Name>()->b));
#include "ir/nodes.def"
        default:
            return mutate(e);
        }
    }

    template<typename Comparison>
    Expr comparison(const Comparison *op) {
        const bool wide = is_wide(op->a.type());
        const std::optional<Type> t = wide ? fitting(op->a, op->b) : std::nullopt;
        const Expr a = t ? value(op->a, *t) : Expr(), b = t ? value(op->b, *t) : Expr();
        return a.defined() && b.defined() ? Comparison::make(a, b) : mutate(Expr(op));
    }

    /// The low 16 bits, as uint16; undefined if that is not made of narrow values.
    Expr low(const Expr &e) {
        const auto found = lows_.find(e.get());
        if (found != lows_.end()) {
            return found->second.second;
        }
        const Expr result = low_of_operation(e, UInt(16, e.type().lanes()));
        lows_.emplace(e.get(), std::make_pair(e, result));
        return result;
    }

    Expr low_of_operation(const Expr &e, const Type &t) {
        if (is_const(e)) {
            return low_of_constant(e, t);
        }
        switch (e.kind()) {
        case NodeKind::Cast: {
            const Expr &inner = e.as<Cast>()->value;
            return is_small_integer(inner.type()) ? cast(t, mutate(inner))
                   : is_wide(inner.type())        ? low(inner)
                                                  : Expr();
        }
        case NodeKind::Add:
            return low_of_both(e.as<Add>());
        case NodeKind::Sub:
            return low_of_both(e.as<Sub>());
        case NodeKind::Mul:
            return low_of_both(e.as<Mul>());
        case NodeKind::Broadcast: {
            const Broadcast *op = e.as<Broadcast>();
            return op->value.type().is_scalar() && !op->value.as<Load>()
                       ? Broadcast::make(Cast::make(t.element_of(), op->value), op->lanes)
                       : Expr();
        }
        case NodeKind::Shuffle:
            return low_of_shuffle(e.as<Shuffle>());
        case NodeKind::Call:
            return low_of_call(e.as<Call>(), t);
        default: {
            // Not from value() again: what it finds is found there first.
            const std::optional<Type> fit = fitting(e);
            const Expr known = fit ? value_of_operation(e, *fit) : Expr();
            return cast(t, known);
        }
        }
    }

    static Expr low_of_constant(const Expr &e, const Type &t) {
        const auto i = as_const_int(e);
        const auto u = as_const_uint(e);
        const uint64_t bits = i ? uint64_t(*i) : u ? *u : 0;
        return i || u ? make_const(t, bits & 0xffff) : Expr();
    }

    template<typename T>
    Expr low_of_both(const T *op) {
        const Expr a = low(op->a), b = a.defined() ? low(op->b) : Expr();
        return b.defined() ? T::make(a, b) : Expr();
    }

    Expr low_of_shuffle(const Shuffle *op) {
        std::vector<Expr> vectors;
        for (const Expr &v : op->vectors) {
            vectors.push_back(v.type().is_vector() ? low(v) : Expr());
            if (!vectors.back().defined()) {
                return Expr();
            }
        }
        return Shuffle::make(vectors, op->indices);
    }

    Expr low_of_call(const Call *op, const Type &t) {
        if (op->is_likely()) {
            const Expr inner = low(op->args[0]);
            return inner.defined() ? Call::make(t, op->intrinsic, {inner}) : Expr();
        }
        if (op->is_intrinsic(Intrinsic::shift_left)) {
            const auto by = as_const_int(op->args[1]);
            const Expr inner = by && *by >= 0 && *by < 16 ? low(op->args[0]) : Expr();
            return inner.defined() ? inner * make_const(t, int64_t(1) << *by) : Expr();
        }
        const std::optional<Type> fit = fitting(op);
        return cast(t, fit ? value_of_call(op) : Expr());
    }

    template<typename Key>
    using Known = std::map<Key, std::pair<Expr, Expr>>;  ///< with the expression, which lives on

    const Target &target_;
    ValueRanges ranges_;
    Known<const ExprNode *> wide_, lows_;
    Known<std::pair<const ExprNode *, bool>> values_;
};

}  // namespace

Stmt narrow_lanes(const Stmt &s, LowerContext &ctx) {
    return LaneNarrower(ctx).mutate(narrow_long_lanes(combine_bool_bytes(s)));
}

}  // namespace calotype::internal
