// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The nodes of the expression are visited from the root to the leaves, each after all that use it,
// so that its adjoint is complete by then. A rule per operator hands it on to the operands:
//
//     a * b, adjoint g:    a gets g * b,   b gets g * a
#include "lang/derivative/expr_adjoints.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/expr_nodes.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

bool is_leaf(const Expr &e) {
    if (const Call *call = e.as<Call>()) {
        return call->call_type == CallKind::Func || call->call_type == CallKind::Image;
    }
    const Variable *v = e.as<Variable>();
    return v && v->symbol.defined() && v->symbol->kind == SymbolKind::Parameter;
}

// True if the bits of a float that may change with a leaf are taken for a number in it.
class TakesBits : public GraphVisitor {
public:
    bool result = false;

private:
    using GraphVisitor::visit;
    void visit(const Reinterpret *op) override;
};

// True if the value may change with a leaf of a float type.
class DependsOnLeaves : public GraphVisitor {
public:
    bool result = false;

private:
    using GraphVisitor::visit;
    void visit(const Call *op) override {
        result = result || (is_leaf(op) && op->type.is_float());
        GraphVisitor::visit(op);
    }
    void visit(const Variable *op) override {
        result = result || (is_leaf(op) && op->type.is_float());
    }
};

bool depends_on_leaves(const Expr &e) {
    DependsOnLeaves visitor;
    visitor(e);
    return visitor.result;
}

void TakesBits::visit(const Reinterpret *op) {
    GraphVisitor::visit(op);
    result = result || (op->value.type().is_float() && depends_on_leaves(op->value));
}

class Differentiate {
public:
    void run(const Expr &value, const Expr &adjoint) {
        order_nodes(value);
        add(value, adjoint);
        for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
            const auto found = adjoints_.find(it->get());
            if (found != adjoints_.end() && !is_leaf(*it)) {
                hand_on(*it, found->second);
            }
        }
    }
    std::vector<LeafAdjoint> leaves() const {
        std::vector<LeafAdjoint> result;
        for (const Expr &e : order_) {
            const auto found = adjoints_.find(e.get());
            if (found == adjoints_.end() || !is_leaf(e)) {
                continue;
            }
            const auto same =
                std::find_if(result.begin(), result.end(),
                             [&](const LeafAdjoint &other) { return equal(other.leaf, e); });
            if (same == result.end()) {
                result.push_back({e, found->second});
            } else {
                same->adjoint = same->adjoint + found->second;
            }
        }
        return result;
    }

private:
    // The operands through which a derivative may go.
    static std::vector<Expr> operands(const Expr &e) {
        switch (e.kind()) {
#define ARITH(Name, symbol)                                                                        \
    case NodeKind::Name:                                                                           \
        return {e.as<Name>()->a, e.as<Name>()->b};
#include "ir/nodes.def"
        case NodeKind::Select:
            return {e.as<Select>()->true_value, e.as<Select>()->false_value};
        case NodeKind::Cast:
            return {e.as<Cast>()->value};
        case NodeKind::Reinterpret:
            return {e.as<Reinterpret>()->value};
        case NodeKind::Call:
            return is_leaf(e) ? std::vector<Expr>() : e.as<Call>()->args;
        default:
            return {};
        }
    }

    void order_nodes(const Expr &e) {
        if (!e.type().is_float() || !seen_.insert(e.get()).second) {
            return;
        }
        for (const Expr &operand : operands(e)) {
            order_nodes(operand);
        }
        order_.push_back(e);
    }

    void add(const Expr &e, const Expr &adjoint) {
        if (!e.type().is_float() || is_const_zero(adjoint)) {
            return;
        }
        Expr &sum = adjoints_[e.get()];
        sum = sum.defined() ? sum + adjoint : adjoint;
    }

    void hand_on(const Expr &e, const Expr &g);
    void hand_on_arith(const Expr &e, const Expr &g);
    void hand_on_call(const Call *op, const Expr &g);
    bool hand_on_function(const Call *op, const Expr &g);
    bool hand_on_choice(const Call *op, const Expr &g);

    std::set<const Node *> seen_;
    std::vector<Expr> order_;
    std::map<const Node *, Expr> adjoints_;
};

void Differentiate::hand_on(const Expr &e, const Expr &g) {
    const Expr zero = make_zero(e.type());
    if (const Select *op = e.as<Select>()) {
        add(op->true_value, select(op->condition, g, zero));
        add(op->false_value, select(op->condition, zero, g));
    } else if (const Cast *op = e.as<Cast>()) {
        if (op->value.type().is_float()) {
            add(op->value, cast(op->value.type(), g));
        }
    } else if (const Reinterpret *op = e.as<Reinterpret>()) {
        TakesBits takes_bits;  // that of an integer made by a cast is a step function
        takes_bits(e);
        user_assert(!takes_bits.result) << "the bits of a value are taken for a number of type "
                                        << op->type << ", which has no derivative";
    } else if (const Call *op = e.as<Call>()) {
        hand_on_call(op, g);
    } else {
        hand_on_arith(e, g);
    }
}

void Differentiate::hand_on_arith(const Expr &e, const Expr &g) {
    const Expr zero = make_zero(e.type());
    if (const Add *op = e.as<Add>()) {
        add(op->a, g);
        add(op->b, g);
    } else if (const Sub *op = e.as<Sub>()) {
        add(op->a, g);
        add(op->b, -g);
    } else if (const Mul *op = e.as<Mul>()) {
        add(op->a, g * op->b);
        add(op->b, g * op->a);
    } else if (const Div *op = e.as<Div>()) {
        add(op->a, g / op->b);
        add(op->b, -g * op->a / (op->b * op->b));
    } else if (const Mod *op = e.as<Mod>()) {  // a - b * floor(a / b)
        add(op->a, g);
        add(op->b, -g * floor(op->a / op->b));
    } else if (const Min *op = e.as<Min>()) {
        add(op->a, select(op->a <= op->b, g, zero));
        add(op->b, select(op->a <= op->b, zero, g));
    } else if (const Max *op = e.as<Max>()) {
        add(op->a, select(op->a >= op->b, g, zero));
        add(op->b, select(op->a >= op->b, zero, g));
    }
}

void Differentiate::hand_on_call(const Call *op, const Expr &g) {
    if (op->is_extern()) {
        user_assert(!depends_on_leaves(op))
            << "the C function " << op->name << " has no derivative that is known";
        return;
    }
    user_assert(hand_on_function(op, g) || hand_on_choice(op, g) || !depends_on_leaves(op))
        << op->name << " has no derivative that is known";
}

// The operator that a strict operation is; undefined of other calls.
Expr as_operator(const Call *op) {
    const auto operand = [&](int i) {
        return op->args[size_t(i)];
    };
    switch (op->intrinsic) {
    case Intrinsic::strict_add:
        return Add::make(operand(0), operand(1));
    case Intrinsic::strict_sub:
        return Sub::make(operand(0), operand(1));
    case Intrinsic::strict_mul:
        return Mul::make(operand(0), operand(1));
    case Intrinsic::strict_div:
        return Div::make(operand(0), operand(1));
    case Intrinsic::strict_min:
        return Min::make(operand(0), operand(1));
    case Intrinsic::strict_max:
        return Max::make(operand(0), operand(1));
    default:
        return Expr();
    }
}

// Functions of numbers; false if it is none of them.
bool Differentiate::hand_on_function(const Call *op, const Expr &g) {
    if (const Expr plain = as_operator(op); plain.defined()) {
        hand_on_arith(plain, g);
        return true;
    }
    const std::vector<Expr> &args = op->args;
    const Expr e = op;
    const Expr x = args.empty() ? Expr() : args[0];
    const Expr y = args.size() > 1 ? args[1] : Expr();
    const Expr one = make_one(op->type), zero = make_zero(op->type);
    switch (op->intrinsic) {
#define DERIVATIVE(function, of_x)                                                                 \
    case Intrinsic::function:                                                                      \
        add(x, g *(of_x));                                                                         \
        return true;
        DERIVATIVE(abs, select(x > zero, one, x < zero, -one, zero))
        DERIVATIVE(sqrt, make_const(op->type, 0.5) / e)
        DERIVATIVE(sin, cos(x))
        DERIVATIVE(cos, -sin(x))
        DERIVATIVE(tan, one + e * e)
        DERIVATIVE(asin, one / sqrt(one - x * x))
        DERIVATIVE(acos, -one / sqrt(one - x * x))
        DERIVATIVE(atan, one / (one + x * x))
        DERIVATIVE(sinh, cosh(x))
        DERIVATIVE(cosh, sinh(x))
        DERIVATIVE(tanh, one - e * e)
        DERIVATIVE(asinh, one / sqrt(x * x + one))
        DERIVATIVE(acosh, one / sqrt(x * x - one))
        DERIVATIVE(atanh, one / (one - x * x))
        DERIVATIVE(exp, e)
        DERIVATIVE(log, one / x)
        DERIVATIVE(erf, make_const(op->type, 1.1283791670955126) * exp(-(x * x)))
        DERIVATIVE(fast_inverse, -(e * e))
        DERIVATIVE(fast_inverse_sqrt, make_const(op->type, -0.5) * e * e * e)
#undef DERIVATIVE
    case Intrinsic::atan2:
        add(x, g * y / (x * x + y * y));
        add(y, -g * x / (x * x + y * y));
        return true;
    case Intrinsic::pow:
        add(x, g * y * pow(x, y - one));
        add(y, select(x > zero, g * e * log(x), zero));
        return true;
    case Intrinsic::fma:
    case Intrinsic::strict_fma:
        add(x, g * y);
        add(y, g * x);
        add(args[2], g);
        return true;
    case Intrinsic::lerp:
        if (args[2].type().is_float()) {
            add(x, g * (one - cast(op->type, args[2])));
            add(y, g * cast(op->type, args[2]));
            add(args[2], cast(args[2].type(), g * (y - x)));
            return true;
        }
        return false;
    case Intrinsic::absd:
        add(x, select(x > y, g, -g));
        add(y, select(x > y, -g, g));
        return true;
    // Steps: the derivative is 0 but at the steps.
    case Intrinsic::floor:
    case Intrinsic::ceil:
    case Intrinsic::round:
    case Intrinsic::trunc:
        return true;
    default:
        return false;
    }
}

// Calls that give one of their arguments; false if it is none of them.
bool Differentiate::hand_on_choice(const Call *op, const Expr &g) {
    const std::vector<Expr> &args = op->args;
    const Expr zero = make_zero(op->type);
    switch (op->intrinsic) {
    case Intrinsic::likely:
    case Intrinsic::likely_if_innermost:
    case Intrinsic::promise_clamped:
    case Intrinsic::unsafe_promise_clamped:
    case Intrinsic::strict_float:
    case Intrinsic::memoize_expr:
    case Intrinsic::print:
        add(args[0], g);
        return true;
    case Intrinsic::print_when:
    case Intrinsic::require:
    case Intrinsic::return_second:
        add(args[1], g);
        return true;
    case Intrinsic::if_then_else:
        add(args[1], select(args[0], g, zero));
        if (args.size() > 2) {
            add(args[2], select(args[0], zero, g));
        }
        return true;
    case Intrinsic::mux: {  // out of range it is the last
        Expr is_earlier = const_false();
        for (size_t i = 1; i + 1 < args.size(); i++) {
            const Expr is_this = args[0] == make_const(args[0].type(), int64_t(i) - 1);
            add(args[i], select(is_this, g, zero));
            is_earlier = is_earlier || is_this;
        }
        add(args.back(), select(is_earlier, zero, g));
        return true;
    }
    default:
        return false;
    }
}

}  // namespace

std::vector<LeafAdjoint> leaf_adjoints(const Expr &value, const Expr &adjoint) {
    Differentiate d;
    d.run(substitute_in_all_lets(value), adjoint);
    return d.leaves();
}

}  // namespace calotype::internal
