// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "autoschedule/work.h"

#include <algorithm>
#include <set>

#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/walk/search.h"

namespace calotype::internal {

namespace {

double cost_of_intrinsic(Intrinsic id) {
    static const std::map<Intrinsic, double> costs = {
        {Intrinsic::sin, 20},   {Intrinsic::cos, 20},  {Intrinsic::tan, 30},
        {Intrinsic::asin, 30},  {Intrinsic::acos, 30}, {Intrinsic::atan, 30},
        {Intrinsic::atan2, 40}, {Intrinsic::sinh, 30}, {Intrinsic::cosh, 30},
        {Intrinsic::tanh, 20},  {Intrinsic::exp, 12},  {Intrinsic::log, 14},
        {Intrinsic::pow, 28},   {Intrinsic::erf, 20},  {Intrinsic::sqrt, 5},
        {Intrinsic::likely, 0}, {Intrinsic::undef, 0}, {Intrinsic::likely_if_innermost, 0}};
    const auto cost = costs.find(id);
    return cost == costs.end() ? 1 : cost->second;
}

double cost_of_division(const Expr &divisor) {
    return as_const_power_of_two(divisor) ? 1 : is_const(divisor) ? 3 : 8;
}

/// A coordinate that depends on what is read.
bool is_data(const Expr &coordinate) {
    return contains<Call>(coordinate, [](const Call *c) {
        return c->call_type == CallKind::Func || c->call_type == CallKind::Image;
    });
}

/// One that steps over elements, or comes back to them: 2*x, x/2.
bool is_scaled(const Expr &coordinate) {
    return contains_node(coordinate, [](const Node *node) {
        const Mul *mul = node_as<Mul>(node);
        const Div *div = node_as<Div>(node);
        return (mul && !is_const(mul->a, 1) && !is_const(mul->b, 1)) || div;
    });
}

constexpr double uniform_cost = 0.1;  ///< of an operation that is the same for all lanes

/// Counts a node after what it is made of, when it is known whether its value differs by lane.
class CountWork : public GraphVisitor {
public:
    CountWork(const std::string &lane, Work &work) : lane_(lane), work_(work) {
    }
    void operator()(const Expr &e) override {
        if (!e.defined()) {
            return;
        }
        const bool outer = differs_;
        const auto known = differs_by_node_.find(e.get());
        if (known == differs_by_node_.end()) {
            differs_ = lane_.empty();
            GraphVisitor::operator()(e);
            differs_by_node_[e.get()] = differs_;
        } else {
            differs_ = known->second;
        }
        differs_ |= outer;
    }

private:
    using GraphVisitor::visit;
#define ARITH(Name, symbol)                                                                        \
    void visit(const Name *op) override {                                                          \
        GraphVisitor::visit(op);                                                                   \
        add(op->type, cost_of_operator(op, NodeKind::Name));                                       \
    }
#define COMPARE(Name, symbol) ARITH(Name, symbol)
#define LOGIC(Name, symbol) ARITH(Name, symbol)
#include "ir/nodes.def"
    template<typename T>
    static double cost_of_operator(const T *op, NodeKind kind) {
        const bool clamps = (kind == NodeKind::Min || kind == NodeKind::Max) &&
                            (is_likely(op->a) || is_likely(op->b));
        const bool divides = kind == NodeKind::Div || kind == NodeKind::Mod;
        return clamps ? 0 : divides ? cost_of_division(op->b) : 1;
    }
    static bool is_likely(const Expr &e) {
        const Call *call = e.as<Call>();
        return call && call->is_likely();
    }
    void add(Type type, double cost) {
        if (!in_coordinate_) {
            work_.operations += differs_ ? cost : cost * uniform_cost;
            work_.widest_bits = std::max(work_.widest_bits, type.bits());
        }
    }
    void visit(const Variable *op) override {
        differs_ |= op->name == lane_;
    }
    void visit(const Cast *op) override {
        GraphVisitor::visit(op);
        add(op->type, op->type.bits() == op->value.type().bits() ? 0.5 : 1);
    }
    void visit(const Select *op) override {
        GraphVisitor::visit(op);
        add(op->type, is_likely(op->true_value) || is_likely(op->false_value) ? 0 : 1);
    }
    void visit(const Call *op) override {
        if (op->call_type == CallKind::Func || op->call_type == CallKind::Image) {
            visit_read(op);
            return;
        }
        GraphVisitor::visit(op);
        add(op->type, op->is_intrinsic() ? cost_of_intrinsic(op->intrinsic) : 20);
    }
    void visit_read(const Call *op) {
        const bool is_new = calls_.insert(op).second;
        bool gathers = false;
        for (const Expr &arg : op->args) {
            const bool outer = in_coordinate_, data = is_data(arg), before = differs_;
            in_coordinate_ = !data;
            differs_ = lane_.empty();
            (*this)(arg);
            gathers |= data && differs_;
            differs_ |= before;
            in_coordinate_ = outer;
        }
        if (is_new) {
            Calls &calls = work_.calls[op->name];
            calls.all++;
            calls.gathers += gathers;
            calls.uniform += !differs_;
            calls.strided += differs_ && !gathers && !op->args.empty() && is_scaled(op->args[0]);
        }
    }
    const std::string &lane_;
    Work &work_;
    std::set<Expr, ExprDeepLess> calls_;
    std::map<const Node *, bool> differs_by_node_;
    bool differs_ = false;
    bool in_coordinate_ = false;
};

}  // namespace

void add_work(const std::vector<Expr> &values, const std::string &lane, Work &work) {
    CountWork count(lane, work);
    for (const Expr &e : values) {
        count(e);
    }
}

}  // namespace calotype::internal
