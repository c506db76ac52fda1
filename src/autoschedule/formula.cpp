// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A formula is a program for a machine with a stack. Let and its uses are Bind and Bound.
#include "autoschedule/formula.h"

#include <algorithm>
#include <cmath>

#include "ir/constants.h"
#include "ir/expr_nodes.h"

namespace calotype::internal {

namespace {

using Op = Formula::Op;
using Step = Formula::Step;

class Compile {
public:
    Compile(const Slots &slots, const KnownValue &known) : slots_(slots), known_(known) {
    }

    std::vector<Step> steps;
    std::string unknown;

    bool add(const Expr &e) {
        if (!e.defined() || steps.size() > most_steps) {
            return false;
        }
        if (const auto value = constant(e)) {
            return push({Op::Constant, 0, *value});
        }
        switch (e->kind) {
        case NodeKind::Variable:
            return add_variable(e.as<Variable>()->name);
        case NodeKind::Cast:
            return add_cast(*e.as<Cast>());
        case NodeKind::Not:
            return add(e.as<Not>()->a) && push({Op::Not});
        case NodeKind::Select: {
            const Select *s = e.as<Select>();
            return add_all({s->condition, s->true_value, s->false_value}) && push({Op::Select});
        }
        case NodeKind::Let:
            return add_let(*e.as<Let>());
        case NodeKind::Call:
            return add_call(*e.as<Call>());
        default:
            return add_binary(e);
        }
    }

private:
    static constexpr size_t most_steps = 4000;

    static std::optional<double> constant(const Expr &e) {
        if (const auto value = as_const_int(e)) {
            return double(*value);
        }
        if (const auto value = as_const_uint(e)) {
            return double(*value);
        }
        return as_const_float(e);
    }
    bool push(Step step) {
        steps.push_back(step);
        return true;
    }
    bool add_all(const std::vector<Expr> &operands) {
        return std::all_of(operands.begin(), operands.end(), [&](const Expr &e) { return add(e); });
    }
    bool add_variable(const std::string &name) {
        for (size_t i = lets_.size(); i-- > 0;) {
            if (lets_[i].first == name) {
                return push({Op::Bound, lets_[i].second});
            }
        }
        const auto slot = slots_.find(name);
        if (slot != slots_.end()) {
            return push({Op::Value, slot->second});
        }
        if (const auto value = known_(name)) {
            return push({Op::Constant, 0, *value});
        }
        unknown = name;
        return false;
    }
    bool add_cast(const Cast &cast) {
        const bool rounds = cast.value.type().is_float() && !cast.type.is_float();
        return add(cast.value) && (!rounds || push({Op::Truncate}));
    }
    bool add_let(const Let &let) {
        if (!add(let.value)) {
            return false;
        }
        push({Op::Bind});
        lets_.emplace_back(let.name, bound_++);
        const bool done = add(let.body);
        lets_.pop_back();
        return done;
    }
    bool add_call(const Call &call) {
        static const std::map<Intrinsic, Op> ops = {{Intrinsic::floor, Op::Floor},
                                                    {Intrinsic::ceil, Op::Ceil},
                                                    {Intrinsic::round, Op::Round},
                                                    {Intrinsic::trunc, Op::Truncate},
                                                    {Intrinsic::abs, Op::Abs},
                                                    {Intrinsic::shift_left, Op::ShiftLeft},
                                                    {Intrinsic::shift_right, Op::ShiftRight}};
        if (call.is_likely() ||
            call.is_intrinsic({Intrinsic::promise_clamped, Intrinsic::unsafe_promise_clamped,
                               Intrinsic::strict_float})) {
            return add(call.args[0]);
        }
        if (call.is_intrinsic(Intrinsic::if_then_else) && call.args.size() == 3) {
            return add_all(call.args) && push({Op::Select});
        }
        const auto op = ops.find(call.intrinsic);
        return call.is_intrinsic() && op != ops.end() && add_all(call.args) && push({op->second});
    }
    template<typename T>
    bool add_operands(const T *op, Op code) {
        return add(op->a) && add(op->b) && push({code});
    }
    bool add_binary(const Expr &e) {
        const bool is_float = e.type().is_float();
        switch (e->kind) {
        case NodeKind::Add:
            return add_operands(e.as<Add>(), Op::Add);
        case NodeKind::Sub:
            return add_operands(e.as<Sub>(), Op::Sub);
        case NodeKind::Mul:
            return add_operands(e.as<Mul>(), Op::Mul);
        case NodeKind::Div:
            return add_operands(e.as<Div>(), is_float ? Op::DivFloat : Op::DivInt);
        case NodeKind::Mod:
            return add_operands(e.as<Mod>(), is_float ? Op::ModFloat : Op::ModInt);
        case NodeKind::Min:
            return add_operands(e.as<Min>(), Op::Min);
        case NodeKind::Max:
            return add_operands(e.as<Max>(), Op::Max);
        case NodeKind::EQ:
            return add_operands(e.as<EQ>(), Op::EQ);
        case NodeKind::NE:
            return add_operands(e.as<NE>(), Op::NE);
        case NodeKind::LT:
            return add_operands(e.as<LT>(), Op::LT);
        case NodeKind::LE:
            return add_operands(e.as<LE>(), Op::LE);
        case NodeKind::GT:
            return add(e.as<GT>()->b) && add(e.as<GT>()->a) && push({Op::LT});
        case NodeKind::GE:
            return add(e.as<GE>()->b) && add(e.as<GE>()->a) && push({Op::LE});
        case NodeKind::And:
            return add_operands(e.as<And>(), Op::And);
        case NodeKind::Or:
            return add_operands(e.as<Or>(), Op::Or);
        default:
            return false;
        }
    }

    const Slots &slots_;
    const KnownValue &known_;
    std::vector<std::pair<std::string, int>> lets_;
    int bound_ = 0;
};

double divide(double a, double b) {
    return b > 0 ? std::floor(a / b) : b < 0 ? std::ceil(a / b) : 0;
}

double apply(Op op, double a, double b) {
    switch (op) {
    case Op::Add:
        return a + b;
    case Op::Sub:
        return a - b;
    case Op::Mul:
        return a * b;
    case Op::DivInt:
        return divide(a, b);
    case Op::DivFloat:
        return a / b;
    case Op::ModInt:
        return b == 0 ? 0 : a - b * divide(a, b);
    case Op::ModFloat:
        return a - b * std::floor(a / b);
    case Op::Min:
        return std::min(a, b);
    case Op::Max:
        return std::max(a, b);
    case Op::EQ:
        return a == b;
    case Op::NE:
        return a != b;
    case Op::LT:
        return a < b;
    case Op::LE:
        return a <= b;
    case Op::And:
        return a != 0 && b != 0;
    case Op::Or:
        return a != 0 || b != 0;
    case Op::ShiftLeft:
        return a * std::exp2(b);
    default:
        return std::floor(a / std::exp2(b));  // ShiftRight
    }
}

double apply(Op op, double a) {
    switch (op) {
    case Op::Not:
        return a == 0;
    case Op::Truncate:
        return std::trunc(a);
    case Op::Floor:
        return std::floor(a);
    case Op::Ceil:
        return std::ceil(a);
    case Op::Round:
        return std::nearbyint(a);
    default:
        return std::abs(a);
    }
}

bool is_unary(Op op) {
    return op == Op::Not || (op >= Op::Truncate && op <= Op::Abs);
}

double pop(std::vector<double> &stack) {
    const double top = stack.back();
    stack.pop_back();
    return top;
}

}  // namespace

std::optional<Formula> Formula::make(const Expr &e, const Slots &slots, const KnownValue &known,
                                     std::string *unknown) {
    Compile compile(slots, known);
    if (!compile.add(e)) {
        if (unknown) {
            *unknown = compile.unknown;
        }
        return std::nullopt;
    }
    Formula formula;
    formula.steps_ = std::move(compile.steps);
    return formula;
}

double Formula::operator()(const std::vector<double> &values) const {
    std::vector<double> stack, lets;
    stack.reserve(16);
    for (const Step &step : steps_) {
        if (step.op == Op::Constant) {
            stack.push_back(step.constant);
        } else if (step.op == Op::Value) {
            stack.push_back(values[size_t(step.index)]);
        } else if (step.op == Op::Bind) {
            lets.push_back(pop(stack));
        } else if (step.op == Op::Bound) {
            stack.push_back(lets[size_t(step.index)]);
        } else if (step.op == Op::Select) {
            const double otherwise = pop(stack), then = pop(stack);
            stack.back() = stack.back() != 0 ? then : otherwise;
        } else if (is_unary(step.op)) {
            stack.back() = apply(step.op, stack.back());
        } else {
            const double b = pop(stack);
            stack.back() = apply(step.op, stack.back(), b);
        }
    }
    return stack.back();
}

}  // namespace calotype::internal
