// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The difference e(v + 1) - e(v) is bounded from the differences of the operands, by rules that
// hold for all operand values:
//   floor(a / c), c > 0       a step of d in a is a step between floor(d / c) and ceil(d / c)
//   min(a, b), max(a, b)      a step between the smaller and the larger step of a and b
//   a * b                     a' * b' - a * b = a' * db + b * da
// Floats are rounded, which keeps the order but not the size of a step: only its sign is kept.
#include "arith/monotonic.h"

#include <ostream>

#include "arith/bounds.h"
#include "arith/exact_types.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/walk/field_walk.h"

namespace calotype::internal {

namespace {

using Steps = ConstantInterval;

const Steps no_step = Steps::single(0);

/// Promises say what a value is within, and leave it as it is.
class WithoutPromises : public Mutator {
public:
    using Mutator::visit;
    Expr visit(const Call *op) override {
        const bool promise =
            op->is_intrinsic({Intrinsic::promise_clamped, Intrinsic::unsafe_promise_clamped});
        return promise ? mutate(op->args[0]) : Mutator::visit(op);
    }
};

Steps negated(const Steps &s) {
    return no_step - s;
}

Steps with_zero(const Steps &s) {
    return union_of(s, no_step);
}

/// What remains of steps when only their sign is kept.
Steps sign_only(const Steps &s) {
    if (s == no_step) {
        return s;
    }
    return is_non_negative(s)   ? Steps::at_least(0)
           : is_non_positive(s) ? Steps::at_most(0)
                                : Steps::everything();
}

class StepFinder {
public:
    StepFinder(const std::string &var, const Scope<ConstantInterval> &others) : var_(var) {
        steps_.set_containing_scope(&others);
    }

    Steps find(const Expr &e) {
        if (auto it = memo_.find(e.get()); it != memo_.end()) {
            return it->second;
        }
        Steps s = dispatch(e.get(), [this](const auto *op) { return visit(op); });
        s = fit(s, e.type());
        memo_.emplace(e.get(), s);
        return s;
    }

private:
    /// No step is larger than the type.
    static Steps fit(const Steps &s, Type t) {
        if (t.is_float()) {
            return sign_only(s);
        }
        if (!t.is_int_or_uint()) {
            return s == no_step ? s : Steps::everything();
        }
        if (t.bits() > 16) {
            return s;
        }
        const Steps whole = Steps::of_type(t);
        const Steps fitted = intersection(s, whole - whole);
        return fitted.is_empty() ? s : fitted;
    }

    static Steps exact_or_constant(const Steps &s, Type t, bool constant) {
        return constant ? no_step : never_wraps(t) ? s : Steps::everything();
    }

    bool constant(const Expr &e) {
        return find(e) == no_step;
    }

    static ConstantInterval values(const Expr &e) {
        return constant_bounds(e);
    }

    // Any other node is a constant if all of its children are, and it is pure.
    template<typename T>
    Steps visit(const T *op) {
        bool all_constant = true;
        for_each_child(*op, [&](const auto &child) {
            if constexpr (std::is_same_v<std::decay_t<decltype(child)>, Expr>) {
                all_constant = all_constant && (!child.defined() || constant(child));
            }
        });
        return all_constant ? no_step : Steps::everything();
    }

    Steps visit(const Load *) {
        return Steps::everything();  // memory may change as the variable does
    }

    Steps visit(const Variable *op) {
        if (const Steps *s = steps_.find(op->name)) {
            return *s;
        }
        return op->name == var_ ? Steps::single(1) : no_step;
    }

    Steps visit(const Broadcast *op) {
        return find(op->value);
    }

    Steps visit(const Ramp *op) {
        const Steps base = find(op->base), stride = find(op->stride);
        const Steps lanes = Steps::of(0, op->lanes - 1);
        return exact_or_constant(base + stride * lanes, op->type,
                                 base == no_step && stride == no_step);
    }

    Steps visit(const Add *op) {
        const Steps a = find(op->a), b = find(op->b);
        return exact_or_constant(a + b, op->type, a == no_step && b == no_step);
    }

    Steps visit(const Sub *op) {
        const Steps a = find(op->a), b = find(op->b);
        return exact_or_constant(a - b, op->type, a == no_step && b == no_step);
    }

    Steps visit(const Mul *op) {
        const Steps a = find(op->a), b = find(op->b);
        if (a == no_step && b == no_step) {
            return no_step;
        }
        if (op->type.is_float()) {
            const Expr &factor = b == no_step ? op->b : op->a;
            const auto f = as_const_float(factor);
            if (!f || (a != no_step && b != no_step)) {
                return Steps::everything();
            }
            const Steps &s = b == no_step ? a : b;
            return *f >= 0 ? sign_only(s) : sign_only(negated(s));
        }
        if (!never_wraps(op->type)) {
            return Steps::everything();
        }
        return values(op->a) * b + values(op->b) * a;
    }

    Steps visit(const Div *op) {
        const Steps a = find(op->a), b = find(op->b);
        if (a == no_step && b == no_step) {
            return no_step;
        }
        if (b != no_step || !never_wraps(op->type)) {
            return Steps::everything();
        }
        if (op->type.is_float()) {
            const auto f = as_const_float(op->b);
            return !f || *f == 0 ? Steps::everything()
                   : *f > 0      ? sign_only(a)
                                 : sign_only(negated(a));
        }
        return divided(a, values(op->b));
    }

    /// A step of a dividend by s, over one fixed divisor of those in d.
    static Steps divided(const Steps &s, const ConstantInterval &d) {
        if (is_negative(d)) {
            return negated(divided(s, no_step - d));
        }
        if (!is_positive(d)) {
            const Steps either_way = union_of(s, negated(s));
            return with_zero(either_way);
        }
        if (!d.is_single()) {
            return with_zero(s);
        }
        // floor(min / d) and ceil(max / d).
        Steps result = s / d;
        if (s.max) {
            result.max = -euclidean_div(-*s.max, *d.min);
        }
        return result;
    }

    Steps visit(const Mod *op) {
        const Steps a = find(op->a), b = find(op->b);
        if (a == no_step && b == no_step) {
            return no_step;
        }
        if (!op->type.is_int_or_uint()) {
            return Steps::everything();
        }
        const ConstantInterval result = constant_bounds(op);
        return result - result;
    }

    Steps visit(const Min *op) {
        return union_of(find(op->a), find(op->b));
    }

    Steps visit(const Max *op) {
        return union_of(find(op->a), find(op->b));
    }

    /// a < b, a <= b: from false to true if a - b falls.
    template<typename T>
    Steps ordered(const T *op) {
        const Steps a = find(op->a), b = find(op->b);
        if (a == no_step && b == no_step) {
            return no_step;
        }
        const Steps s = a - b;
        return is_non_negative(s)   ? Steps::of(-1, 0)
               : is_non_positive(s) ? Steps::of(0, 1)
                                    : Steps::of(-1, 1);
    }

    Steps visit(const LT *op) {
        return ordered(op);
    }
    Steps visit(const LE *op) {
        return ordered(op);
    }
    Steps visit(const GT *op) {
        return negated(ordered(op));
    }
    Steps visit(const GE *op) {
        return negated(ordered(op));
    }

    Steps visit(const EQ *op) {
        return same(op);
    }
    Steps visit(const NE *op) {
        return same(op);
    }

    template<typename T>
    Steps same(const T *op) {
        const Steps a = find(op->a), b = find(op->b);
        const bool move_together = a.is_single() && a == b && is_exact_int(op->a.type());
        return (a == no_step && b == no_step) || move_together ? no_step : Steps::of(-1, 1);
    }

    Steps visit(const And *op) {
        return union_of(find(op->a), find(op->b));
    }
    Steps visit(const Or *op) {
        return union_of(find(op->a), find(op->b));
    }
    Steps visit(const Not *op) {
        return negated(find(op->a));
    }

    Steps visit(const Select *op) {
        const Steps c = find(op->condition), t = find(op->true_value), f = find(op->false_value);
        const Steps either = union_of(t, f);
        if (c == no_step) {
            return either;
        }
        if (!is_exact_int(op->type)) {
            return Steps::everything();
        }
        // A jump from one value to the other comes on top.
        const Expr difference = Sub::make(op->false_value, op->true_value);
        ConstantInterval jump = constant_bounds(difference);
        if (!jump.min || !jump.max) {
            // What is in both cancels.
            const Expr simpler = simplify(without_promises(difference));
            jump = intersection(jump, constant_bounds(simpler));
        }
        Steps result = either;
        if (!is_non_negative(c)) {
            result = union_of(result, f + jump);
        }
        if (!is_non_positive(c)) {
            result = union_of(result, t - jump);
        }
        return result;
    }

    Steps visit(const Cast *op) {
        const Steps s = find(op->value);
        const Type from = op->value.type(), to = op->type;
        if (s == no_step) {
            return s;
        }
        if (from.is_int_or_uint() && to.is_int_or_uint() && to.can_represent(from)) {
            return s;
        }
        const bool numeric = from.is_float() || from.is_int_or_uint();
        if (numeric && to.is_float()) {
            return sign_only(s);
        }
        // Truncation of what fits keeps the order.
        return from.is_float() && is_exact_int(to) ? sign_only(s) : Steps::everything();
    }

    Steps visit(const Let *op) {
        const Steps value = find(op->value);
        std::unordered_map<const ExprNode *, Steps> outside;
        std::swap(outside, memo_);
        const ScopedBinding<Steps> bind(steps_, op->name, value);
        const Steps body = find(op->body);
        std::swap(outside, memo_);
        return body;
    }

    Steps visit(const Shuffle *op) {
        Steps result = find(op->vectors[0]);
        for (const Expr &v : op->vectors) {
            result = union_of(result, find(v));
        }
        return result;
    }

    Steps visit(const VectorReduce *op) {
        const Steps s = find(op->value);
        const int count = op->value.type().lanes() / op->type.lanes();
        switch (op->op) {
        case VectorReduce::Add:
            return exact_or_constant(s * Steps::single(count), op->type, s == no_step);
        case VectorReduce::Min:
        case VectorReduce::Max:
        case VectorReduce::And:
        case VectorReduce::Or:
            return s;
        default:
            return s == no_step ? s : Steps::everything();
        }
    }

    Steps visit(const Call *op) {
        switch (op->intrinsic) {
        case Intrinsic::likely:
        case Intrinsic::likely_if_innermost:
        case Intrinsic::strict_float:
            return find(op->args[0]);
        case Intrinsic::return_second:
        case Intrinsic::require:
            return find(op->args[1]);
        case Intrinsic::floor:
        case Intrinsic::ceil:
        case Intrinsic::round:
        case Intrinsic::trunc:
        case Intrinsic::sqrt:
            return sign_only(find(op->args[0]));
        case Intrinsic::shift_left:
        case Intrinsic::shift_right:
            return shift(op);
        default:
            break;
        }
        bool all_constant = op->call_type != CallKind::Func && op->is_pure();
        for (const Expr &arg : op->args) {
            all_constant = all_constant && (!arg.defined() || constant(arg));
        }
        return all_constant ? no_step : Steps::everything();
    }

    Steps shift(const Call *op) {
        const Steps a = find(op->args[0]), amount = find(op->args[1]);
        if (a == no_step && amount == no_step) {
            return no_step;
        }
        const auto bits = as_const_int(op->args[1]);
        if (!never_wraps(op->type) || !bits || *bits < 0 || *bits >= op->type.bits() ||
            *bits > 62) {
            return Steps::everything();
        }
        const ConstantInterval power = ConstantInterval::single(int64_t(1) << *bits);
        return op->is_intrinsic(Intrinsic::shift_left) ? a * power : divided(a, power);
    }

    const std::string &var_;
    Scope<Steps> steps_;
    std::unordered_map<const ExprNode *, Steps> memo_;
};

}  // namespace

ConstantInterval derivative_bounds(const Expr &e, const std::string &var,
                                   const Scope<ConstantInterval> &others) {
    return StepFinder(var, others).find(e);
}

Expr step_of(const Expr &e, const std::string &var, const SimplifyContext &context) {
    const Expr next = substitute(var, Variable::make(Int(32), var) + 1, e);
    return simplify(next - e, context);
}

std::optional<int64_t> constant_step_of(const Expr &e, const std::string &var,
                                        const SimplifyContext &context) {
    return as_const_int(step_of(e, var, context));
}

Expr without_promises(const Expr &e) {
    return WithoutPromises().mutate(e);
}

Monotonic is_monotonic(const Expr &e, const std::string &var,
                       const Scope<ConstantInterval> &others) {
    const ConstantInterval s = derivative_bounds(e, var, others);
    return s == no_step         ? Monotonic::Constant
           : is_non_negative(s) ? Monotonic::Increasing
           : is_non_positive(s) ? Monotonic::Decreasing
                                : Monotonic::Unknown;
}

std::ostream &operator<<(std::ostream &out, Monotonic m) {
    switch (m) {
    case Monotonic::Constant:
        return out << "constant";
    case Monotonic::Increasing:
        return out << "increasing";
    case Monotonic::Decreasing:
        return out << "decreasing";
    case Monotonic::Unknown:
        break;
    }
    return out << "unknown";
}

}  // namespace calotype::internal
