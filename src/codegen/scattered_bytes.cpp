// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/scattered_bytes.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "arith/linear_form.h"
#include "ir/constants.h"
#include "ir/queries.h"
#include "ir/visitor.h"

namespace calotype::internal {

namespace {

/// Of so many lanes that are put into their places one by one the addresses are no longer in registers.
constexpr int many_lanes = 32;
/// To put a byte into its lane takes as long as so many operations on one element save in lanes.
constexpr int operations_of_a_lane = 14;
constexpr int register_bits = 256;

/// Accesses of a loop to bytes or shorts at places without a constant step, and operations on values and indices.
class CountAccesses : public GraphVisitor {
public:
    explicit CountAccesses(const std::string &variable) : variable_(variable) {
    }
    int scattered = 0, operations = 0;
    int apart = 0;  ///< accesses to bytes or shorts that have a constant step, of more than two
    int widest_bits = 8;  ///< of all elements

    /// That vectors of the loop would have to put or take out for themselves.
    int lanes() const {
        return (scattered + apart) * register_bits / widest_bits;
    }

    using GraphVisitor::operator();
    void operator()(const Expr &e) override {
        operations += e.defined() ? operations_of(e) : 0;
        GraphVisitor::operator()(e);
    }

private:
    using GraphVisitor::visit;

    void visit(const LetStmt *op) override {
        bind(op->name, op->value);
        GraphVisitor::visit(op);
    }
    void visit(const Let *op) override {
        bind(op->name, op->value);
        GraphVisitor::visit(op);
    }
    void visit(const Load *op) override {
        look_at(op->type, op->index);
    }
    void visit(const Store *op) override {
        look_at(op->value.type(), op->index);
        (*this)(op->value);
    }

    void bind(const std::string &name, const Expr &value) {
        if (value.type() == Int(32)) {
            lets_[name] = substitute(lets_, value);
        }
    }

    void look_at(const Type &t, const Expr &index) {
        widest_bits = std::max(widest_bits, t.bits());
        if (t.is_scalar() && t.bits() < 32) {
            const std::optional<int64_t> step = step_of(LinearForm(substitute(lets_, index)));
            scattered += !step;
            apart += step && std::abs(*step) > 2;
        }
        (*this)(index);
    }

    /// By how much it changes from one iteration to the next, if that is constant.
    std::optional<int64_t> step_of(const LinearForm &index) const {
        int64_t step = 0;
        bool is_known = index.is_valid();
        for (const LinearForm::Term &term : index.terms) {
            const Variable *variable = term.value.as<Variable>();
            if (variable && variable->name == variable_) {
                step += term.coefficient;
            } else {
                is_known = is_known && !uses_var(term.value, variable_);
            }
        }
        return is_known ? std::optional(step) : std::nullopt;
    }

    static int operations_of(const Expr &e) {
        switch (e.kind()) {
        case NodeKind::IntImm:
        case NodeKind::UIntImm:
        case NodeKind::FloatImm:
        case NodeKind::Variable:
        case NodeKind::Let:
            return 0;
        case NodeKind::Div:
        case NodeKind::Mod:
            return is_const(e.as<Div>() ? e.as<Div>()->b : e.as<Mod>()->b) ? 3 : 8;
        case NodeKind::Call:
            return operations_of_a_lane;
        default:
            return 1;
        }
    }

    const std::string &variable_;
    std::map<std::string, Expr> lets_;
};

}  // namespace

bool touches_scattered_bytes(const For *loop) {
    CountAccesses count(loop->name);
    count(loop->body);
    return count.scattered > 0 && count.lanes() >= many_lanes &&
           count.operations <= count.scattered * operations_of_a_lane;
}

}  // namespace calotype::internal
