// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// change_type makes a copy of the Func that computes in the other type, and makes the Func itself a
// call of that copy, converted back. The copy computes the same if the first values, the terms of
// all updates and the values in between are integers that the other type holds. What is in between
// follows from the range of the terms and from the number of iterations. If that number is not
// known, the copy gets a requirement that limits it, checked when the pipeline starts.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "arith/bounds.h"
#include "arith/const_bounds.h"
#include "arith/constant_interval.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/language/match_types.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/walk/search.h"
#include "lang/func.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype {

using namespace internal;

namespace {

/// A float's value as an integer, where it is converted from one or is a whole constant: else
/// undefined.
Expr as_integer(const Expr &e) {
    if (e.type().is_int_or_uint()) {
        return e;
    }
    if (const Cast *c = e.as<Cast>()) {
        return as_integer(c->value);
    }
    const auto number = as_const_float(e);
    return number && Int(32).can_represent(*number) ? Expr(int(*number)) : Expr();
}

/// a op b of floats that carry integers, as the widening operation on these.
template<typename Op>
Expr widened(const Op *op, Expr (*widening)(Expr, Expr)) {
    Expr a = as_integer(op->a), b = as_integer(op->b);
    if (!a.defined() || !b.defined()) {
        return Expr();
    }
    const Type t = is_const(a) ? b.type() : a.type();
    a = lossless_cast(t, a);
    b = lossless_cast(t, b);
    return a.defined() && b.defined() && t.bits() < 64 && op->type.can_represent(t) ? widening(a, b)
                                                                                    : Expr();
}

/// The value as an integer, where floats only carry one; e itself where not.
Expr without_floats(const Expr &e) {
    Expr result = as_integer(e);
    if (const Add *op = e.as<Add>(); op && !result.defined()) {
        result = widened(op, widening_add);
    } else if (const Sub *op = e.as<Sub>(); op && !result.defined()) {
        result = widened(op, widening_sub);
    } else if (const Mul *op = e.as<Mul>(); op && !result.defined()) {
        result = widened(op, widening_mul);
    }
    return result.defined() ? result : e;
}

/// The values of expressions, of which the definitions of the Funcs that they call say more than
/// their types do.
class ValueRanges {
public:
    /// The integers that e may be; everything where it may be something else.
    ConstantInterval of(const Expr &e, const Scope<Interval> &vars = Scope<Interval>()) {
        const Expr integer = without_floats(e);
        if (!integer.type().is_int_or_uint()) {
            return ConstantInterval::everything();
        }
        include_calls(integer);
        const Interval ends = bounds_of_expr(simplify(integer), vars, funcs_, true);
        const auto constant = [](const Expr &end) {
            return end.defined() ? as_const_int(simplify(end)) : std::nullopt;
        };
        return intersection(find_constant_bounds(integer, vars),
                            {constant(ends.min), constant(ends.max)});
    }

private:
    void include_calls(const Expr &e) {
        for_each<Call>(e, [&](const Call *op) {
            if (op->call_type != CallKind::Func || !op->symbol.defined() ||
                !seen_.insert(op->name).second) {
                return;
            }
            const Function f(op->symbol);
            for (int i = 0; f.can_be_inlined() && i < f.outputs(); i++) {
                const Expr &value = f.definition().values[size_t(i)];
                include_calls(value);
                funcs_[{f.name(), i}] =
                    bounds_of_expr(simplify(value), Scope<Interval>(), funcs_, true);
            }
        });
    }

    FuncValueBounds funcs_;
    std::set<std::string> seen_;
};

/// The integers that type t holds, each of them exactly.
ConstantInterval integers_in(const Type &t) {
    if (!t.is_float()) {
        const ConstantInterval all = ConstantInterval::of_type(t);
        return {all.min, all.max.value_or(INT64_MAX)};
    }
    const int digits = t.is_bfloat() ? 8 : t.bits() == 16 ? 11 : t.bits() == 32 ? 24 : 53;
    return {-(int64_t(1) << digits), int64_t(1) << digits};
}

/// Calls of the copy as values of the type that they have, not of its own.
class ReadsOfCopy : public GraphMutator {
public:
    ReadsOfCopy(const Function &copy, const Type &type) : copy_(copy), type_(type) {
    }

private:
    using GraphMutator::visit;
    Expr visit(const Call *op) override {
        const Expr e = GraphMutator::visit(op);
        const Call *call = e.as<Call>();
        return call->call_type == CallKind::Func && call->name == copy_.name()
                   ? cast(call->type, Call::make(type_, call->name, call->args, CallKind::Func, 0))
                   : e;
    }
    const Function &copy_;
    const Type type_;
};

/// An update f(args) = f(other args) op term; op is Call where the value is f(other args) alone.
struct Recurrence {
    NodeKind op;
    const Call *self;
    Expr term;
};

class TypeChange {
public:
    TypeChange(const Function &f, const Type &t, bool is_unsafe)
        : f_(f), type_(t), limit_(integers_in(t)), is_unsafe_(is_unsafe) {
    }

    /// The copy that computes in the type.
    Function copy() {
        Function result = f_.clone(internal::unique_name(f_.name() + "_typed"));
        copy_ = result;
        result.edit()->output_types = {type_};
        result.edit()->required_types.clear();
        result.make_output_buffers();
        result.edit()->init->values = {first_value()};
        for (size_t i = 0; i < f_->updates.size(); i++) {
            Definition &d = *result.edit()->updates[i];
            d.values = {update(int(i))};
            d.predicate = reads_of_copy(d.predicate);
            for (Expr &arg : d.args) {
                arg = reads_of_copy(arg);
            }
        }
        return result;
    }

private:
    void require(bool holds, const std::string &what) const {
        user_assert(holds || is_unsafe_)
            << "change_type of func " << f_.name() << " to " << type_ << ": " << what
            << " may not be one of its values; if it always is, say so by change_type(type, true)";
    }
    /// Checked when the pipeline starts.
    void require_of_run(const Expr &condition, const std::string &what) {
        if (!is_unsafe_) {
            copy_.edit()->requirements.push_back(
                {condition, {"change_type of func " + f_.name() + " needs " + what}});
        }
    }

    bool is_self(const Call *op) const {
        return op && op->call_type == CallKind::Func && op->name == f_.name();
    }
    bool calls_self(const Expr &e) const {
        return contains<Call>(e, [&](const Call *op) { return is_self(op); });
    }

    Expr call_of_copy(const std::vector<Expr> &args) const {
        return Call::make(type_, copy_.name(), args, CallKind::Func, 0);
    }

    /// What the clone's arguments and predicates read of the Func is converted back.
    Expr reads_of_copy(const Expr &e) const {
        return ReadsOfCopy(copy_, type_).mutate(e);
    }

    Expr retyped(const Expr &e, const Scope<Interval> &vars = Scope<Interval>()) {
        const Expr value = without_floats(e);
        const Expr exact = lossless_cast(type_, value);
        if (exact.defined()) {
            return exact;
        }
        const Call *product = value.as<Call>();
        if (product && product->is_intrinsic(Intrinsic::widening_mul) && type_.is_int_or_uint() &&
            limit_.contains(ranges_.of(value, vars)) &&
            limit_.contains(ranges_.of(product->args[0], vars)) &&
            limit_.contains(ranges_.of(product->args[1], vars))) {
            return cast(type_, product->args[0]) * cast(type_, product->args[1]);
        }
        return cast(type_, value);
    }

    /// The operator and the term of update i, if the Func's new value is made of an old one.
    std::optional<Recurrence> recurrence(int i) const {
        const Expr value = substitute_in_all_lets(f_.update(i).values[0]);
        if (!calls_self(value)) {
            return std::nullopt;
        }
        const std::string what =
            "change_type of func " + f_.name() + ": update " + std::to_string(i);
        if (is_self(value.as<Call>())) {
            return Recurrence{NodeKind::Call, value.as<Call>(), Expr()};
        }
        std::optional<Recurrence> found;
        const auto match = [&](const auto *op, bool commutes) {
            if (op && is_self(op->a.template as<Call>()) && !calls_self(op->b)) {
                found = {op->kind, op->a.template as<Call>(), op->b};
            } else if (op && commutes && is_self(op->b.template as<Call>()) && !calls_self(op->a)) {
                found = {op->kind, op->b.template as<Call>(), op->a};
            }
        };
        match(value.as<Add>(), true);
        match(value.as<Sub>(), false);
        match(value.as<Min>(), true);
        match(value.as<Max>(), true);
        match(value.as<And>(), true);
        match(value.as<Or>(), true);
        user_assert(found) << what
                           << " must be a sum, a difference, a minimum or a maximum of the func "
                              "and something else";
        return found;
    }

    static bool is_minimum(NodeKind op) {
        return op == NodeKind::Min || op == NodeKind::And;
    }

    /// What the copy begins with. A constant that the type does not hold may stand there if an
    /// update takes the minimum (maximum) of it and a smaller (larger) term for all elements.
    Expr first_value() {
        const Expr &first = f_.definition().values[0];
        reached_ = ranges_.of(first);
        const auto number = as_const_float(first);
        const auto op = f_.has_update_definition() ? recurrence(0) : std::nullopt;
        const bool is_min = op && op->op == NodeKind::Min, is_max = op && op->op == NodeKind::Max;
        const bool is_beyond = (is_min && ((number && *number > double(*limit_.max)) ||
                                           (reached_.min && *reached_.min > *limit_.max))) ||
                               (is_max && ((number && *number < double(*limit_.min)) ||
                                           (reached_.max && *reached_.max < *limit_.min)));
        if (!is_beyond) {
            require(limit_.contains(reached_), "its first value");
            return retyped(first);
        }
        require(updates_all_elements(), "its first value");
        reached_ = ConstantInterval::of(1, 0);
        return is_min ? type_.max() : type_.min();
    }

    /// Update 0 does, at least once each.
    bool updates_all_elements() {
        const Definition &d = f_.update(0);
        bool covers = is_const_one(simplify(d.predicate));
        for (size_t i = 0; i < d.args.size(); i++) {
            const Variable *v = d.args[i].as<Variable>();
            covers = covers && v && v->name == f_.args()[i];
        }
        for (const ReductionVariable &r : d.schedule.rvars) {
            const Expr is_there = simplify(r.extent > 0);
            covers = covers && !is_const_zero(is_there);
            if (!is_const(is_there)) {
                require_of_run(is_there, "an iteration of its first update");
            }
        }
        return covers;
    }

    /// The value of the update in the new type; keeps account of what values are reached.
    Expr update(int i) {
        const Definition &d = f_.update(i);
        const std::string what = "update " + std::to_string(i);
        Scope<Interval> rvars;
        for (const ReductionVariable &r : d.schedule.rvars) {
            rvars.push(r.var, Interval(r.min, simplify(r.min + r.extent - 1)));
        }
        const auto found = recurrence(i);
        if (!found) {
            const ConstantInterval values = ranges_.of(d.values[0], rvars);
            require(limit_.contains(values), "what " + what + " stores");
            reached_ = reached_.is_empty() ? values : union_of(reached_, values);
            return retyped(d.values[0], rvars);
        }
        std::vector<Expr> args;
        for (const Expr &arg : found->self->args) {
            user_assert(!calls_self(arg)) << "change_type of func " << f_.name() << ": " << what
                                          << " reads the func to find out where to read it";
            args.push_back(arg);
        }
        const Expr before = call_of_copy(args);
        if (found->op == NodeKind::Call) {
            return before;
        }
        const ConstantInterval term = ranges_.of(found->term, rvars);
        require(limit_.contains(term), "a term of " + what);
        const Expr y = retyped(found->term, rvars);
        if (found->op == NodeKind::Add || found->op == NodeKind::Sub) {
            const bool is_sum = found->op == NodeKind::Add;
            user_assert(!type_.is_bool()) << "change_type of func " << f_.name() << " to " << type_
                                          << ": " << what << " is a sum";
            add(is_sum ? term : ConstantInterval::single(0) - term, d, what);
            return is_sum ? before + y : before - y;
        }
        reached_ = reached_.is_empty() ? term : union_of(reached_, term);
        if (type_.is_bool()) {
            return is_minimum(found->op) ? before && y : before || y;
        }
        return is_minimum(found->op) ? min(before, y) : max(before, y);
    }

    /// The terms of all iterations are added to what is there.
    void add(const ConstantInterval &term, const Definition &d, const std::string &what) {
        ConstantInterval iterations = ConstantInterval::single(1);
        Expr count;
        bool is_known = true;
        for (const ReductionVariable &r : d.schedule.rvars) {
            const auto extent = as_const_int(simplify(r.extent));
            is_known = is_known && extent.has_value();
            iterations =
                iterations * ConstantInterval::single(std::max<int64_t>(extent.value_or(0), 0));
            const Expr n = cast<double>(max(r.extent, 0));
            count = count.defined() ? count * n : n;
        }
        const auto after = [&](const ConstantInterval &n) {
            return reached_ + term * union_of(n, ConstantInterval::single(0));
        };
        if (is_known) {
            require(limit_.contains(after(iterations)), "the sum of " + what);
            reached_ = after(iterations);
            return;
        }
        // The largest number of iterations that is safe.
        int64_t most = 0;
        for (int64_t step = int64_t(1) << 52; step > 0; step /= 2) {
            const bool fits = limit_.contains(after(ConstantInterval::single(most + step)));
            most += fits ? step : 0;
        }
        require_of_run(count <= make_const(Float(64), double(most)),
                       "at most " + std::to_string(most) + " iterations of " + what);
        reached_ = limit_;
    }

    const Function &f_;
    const Type type_;
    const ConstantInterval limit_;
    const bool is_unsafe_;
    ValueRanges ranges_;
    Function copy_;
    ConstantInterval reached_;  ///< by the values up to now; empty: there is none yet
};

}  // namespace

Func FuncDirectives::change_type(const Type &type, bool is_unsafe) {
    user_assert(func_.has_pure_definition())
        << "change_type of func " << func_.name() << ", which has no pure definition";
    user_assert(func_.outputs() == 1)
        << "change_type of func " << func_.name() << ", which has " << func_.outputs() << " values";
    user_assert(type.is_scalar() && (type.is_int_or_uint() || type.is_float()))
        << "change_type of func " << func_.name() << " to " << type << ", which is not a number";
    const Type old = func_.output_types()[0];
    if (type == old) {
        return self();
    }
    for (int i = 0; i < func_.stages(); i++) {
        user_assert(func_.stage(i)->specializations.empty())
            << "change_type of func " << func_.name() << ", which has specializations";
    }
    const Func typed(TypeChange(func_, type, is_unsafe).copy());
    FunctionContents &f = *func_.contents();
    const bool was_frozen = f.frozen;
    // What concerns the values of the Func rather than how they are computed stays with it.
    FuncSchedule schedule;
    schedule.wrappers = f.schedule.wrappers;
    schedule.bounds = f.schedule.bounds;
    schedule.estimates = f.schedule.estimates;
    schedule.storage_dims = f.schedule.storage_dims;
    f.frozen = false;
    f.init = nullptr;
    f.updates.clear();
    f.requirements.clear();
    f.copy_to.reset();
    const std::vector<Var> args = self().args();
    func_.define(func_.args(), {cast(old, typed(args))});
    f.schedule = schedule;
    f.frozen = was_frozen;
    return typed;
}

}  // namespace calotype
