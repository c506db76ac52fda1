// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/scattered_bytes.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "ir/constants.h"
#include "ir/visitor.h"
#include "ir/walk/search.h"

namespace calotype::internal {

namespace {

/// Of so many lanes that are put into their places one by one the addresses are no longer in registers.
constexpr int many_lanes = 32;
/// To put a byte into its lane takes as long as so many operations on one element save in lanes.
constexpr int operations_of_a_lane = 14;
/// The same for elements that machines gather, some of them as slowly as they load lane by lane.
constexpr int operations_of_a_gathered_lane = 7;
constexpr int register_bits = 256;

/// By how much values change from one iteration of a loop to the next.
class Steps {
public:
    explicit Steps(const std::string &variable) {
        names_[variable] = 1;
    }

    void bind(const std::string &name, const Expr &value) {
        names_[name] = value.type() == Int(32) ? of(value) : std::nullopt;
    }

    /// None if that is not constant.
    std::optional<int64_t> of(const Expr &e) {
        const auto found = known_.find(e.get());
        if (found != known_.end()) {
            return found->second.second;
        }
        const std::optional<int64_t> step = find(e);
        known_.emplace(e.get(), std::make_pair(e, step));
        return step;
    }

private:
    std::optional<int64_t> find(const Expr &e) {
        if (const Variable *op = e.as<Variable>()) {
            const auto name = names_.find(op->name);
            return name == names_.end() ? 0 : name->second;
        }
        if (const Add *op = e.as<Add>()) {
            return sum(of(op->a), of(op->b), 1);
        }
        if (const Sub *op = e.as<Sub>()) {
            return sum(of(op->a), of(op->b), -1);
        }
        const Mul *product = e.as<Mul>();
        const std::optional<int64_t> factor = product ? as_const_int(product->b) : std::nullopt;
        if (factor) {
            return sum(0, of(product->a), *factor);
        }
        const bool changes = contains<Variable>(e, [&](const Variable *op) {
            const auto name = names_.find(op->name);
            return name != names_.end() && name->second != 0;
        });
        return changes ? std::nullopt : std::optional<int64_t>(0);
    }

    /// a + b*factor, all of which fit 32 bits, as the indices of any array of bytes that a loop walks through.
    static std::optional<int64_t> sum(std::optional<int64_t> a, std::optional<int64_t> b,
                                      int64_t factor) {
        const auto fits = [](int64_t i) {
            return i >= INT32_MIN && i <= INT32_MAX;
        };
        return a && b && fits(factor) && fits(*a + *b * factor) ? std::optional(*a + *b * factor)
                                                                : std::nullopt;
    }

    std::unordered_map<std::string, std::optional<int64_t>> names_;
    std::unordered_map<const ExprNode *, std::pair<Expr, std::optional<int64_t>>> known_;
};

/// Accesses of a loop to bytes or shorts at places without a constant step, and operations on values and indices.
class CountAccesses : public GraphVisitor {
public:
    explicit CountAccesses(const std::string &variable) : steps_(variable) {
    }
    int scattered = 0, operations = 0;
    int gathered = 0;  ///< loads of wider elements at such places
    int apart = 0;     ///< accesses to bytes or shorts that have a constant step, of more than two
    int conversions = 0;  ///< of floats to 64-bit integers
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
        steps_.bind(op->name, op->value);
        GraphVisitor::visit(op);
    }
    void visit(const Let *op) override {
        steps_.bind(op->name, op->value);
        GraphVisitor::visit(op);
    }
    void visit(const Cast *op) override {
        conversions += op->type.is_int_or_uint() && op->type.bits() == 64 && op->type.is_scalar() &&
                       op->value.type().is_float();
        GraphVisitor::visit(op);
    }
    void visit(const Load *op) override {
        gathered += op->type.is_scalar() && op->type.bits() >= 32 && !steps_.of(op->index);
        look_at(op->type, op->index);
    }
    void visit(const Store *op) override {
        look_at(op->value.type(), op->index);
        (*this)(op->value);
    }

    void look_at(const Type &t, const Expr &index) {
        widest_bits = std::max(widest_bits, t.bits());
        if (t.is_scalar() && t.bits() < 32) {
            const std::optional<int64_t> step = steps_.of(index);
            scattered += !step;
            apart += step && std::abs(*step) > 2;
        }
        (*this)(index);
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

    Steps steps_;
};

}  // namespace

bool touches_scattered_bytes(const For *loop) {
    CountAccesses count(loop->name);
    count(loop->body);
    return count.scattered > 0 && count.lanes() >= many_lanes &&
           count.operations <= count.scattered * operations_of_a_lane;
}

bool does_little_but_gather(const For *loop, int vector_bits) {
    CountAccesses count(loop->name);
    count(loop->body);
    return count.gathered > (vector_bits > 256 ? 0 : 1) &&
           count.operations <= count.gathered * operations_of_a_gathered_lane;
}

bool does_little_but_convert_to_long(const For *loop) {
    CountAccesses count(loop->name);
    count(loop->body);
    return count.conversions > 0 &&
           count.operations <= count.conversions * operations_of_a_gathered_lane;
}

}  // namespace calotype::internal
