// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/vectors/count_work.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "ir/constants.h"
#include "ir/language/match_types.h"
#include "ir/visitor.h"

namespace calotype::internal {

namespace {

bool steps_by(const Expr &index, int stride) {
    const Ramp *ramp = index.as<Ramp>();
    return ramp && is_const(ramp->stride, stride);
}

class CountWork : public Visitor {
public:
    explicit CountWork(const Target &target) : target_(target) {
    }
    int work = 0;
    using Visitor::operator();
    void operator()(const Expr &e) override {
        if (e.defined() && seen_.insert(e.get()).second) {
            if (const Let *let = e.as<Let>()) {
                lets_[let->name] = let->value;
            }
            work += own(e);
            Visitor::operator()(e);
        }
    }

private:
    int registers(const Type &t) const {
        const int in_one = target_.natural_vector_size(t.is_bool() ? UInt(8) : t);
        return t.is_scalar() ? 0 : (t.lanes() + in_one - 1) / in_one;
    }

    /// The index of a load, also where elimination of common subexpressions has given it a name.
    const Expr &index_of(const Load *op) const {
        const Variable *name = op->index.as<Variable>();
        const auto let = name ? lets_.find(name->name) : lets_.end();
        return let == lets_.end() ? op->index : let->second;
    }

    /// Without what its operands take.
    int own(const Expr &e) const {
        switch (e->kind) {
        case NodeKind::Broadcast:
        case NodeKind::Ramp:
        case NodeKind::Variable:
        case NodeKind::Let:
            return 0;
        case NodeKind::Cast:
            return conversion(e.as<Cast>());
        case NodeKind::Mul:
            return (is_long_product(e.as<Mul>()) ? 2 : 1) * registers(e.type());
        case NodeKind::Div:
        case NodeKind::Mod:
            return division(e);
        case NodeKind::EQ:
        case NodeKind::NE:
        case NodeKind::LT:
        case NodeKind::LE:
        case NodeKind::GT:
        case NodeKind::GE:
            return compared(e);
        case NodeKind::Load: {
            const Expr &index = index_of(e.as<Load>());
            const bool alike = index.as<Broadcast>() || steps_by(index, 1);
            return alike || e.type().is_scalar() ? registers(e.type())
                   : steps_by(index, 2)          ? 3 * registers(e.type())
                                                 : 2 * e.type().lanes();
        }
        case NodeKind::Call:
            return e.as<Call>()->is_intrinsic() ? 2 * registers(e.type())
                                                : 20 * registers(e.type());
        case NodeKind::Shuffle:
            return shuffle(e.type());
        case NodeKind::VectorReduce:
            return 4 * registers(e.as<VectorReduce>()->value.type());
        default:
            return registers(e.type());
        }
    }

    /// Of integers of 32 bits, unless both fit 16: the machine multiplies those at once.
    static bool is_long_product(const Mul *op) {
        const Type narrow = Int(16, op->type.lanes());
        return !op->type.is_float() && op->type.bits() >= 32 &&
               !(op->type.bits() == 32 && lossless_cast(narrow, op->a).defined() &&
                 lossless_cast(narrow, op->b).defined());
    }

    /// What is not the first part of a register is moved before it is made wider, unless it is loaded from there.
    int conversion(const Cast *op) const {
        const Type from = op->value.type(), to = op->type;
        if (from.bits() == to.bits() && !from.is_float() && !to.is_float()) {
            return 0;
        }
        const int least = std::min(registers(to), registers(from)),
                  most = std::max(registers(to), registers(from));
        const bool moves = to.bits() > from.bits() && !op->value.as<Load>();
        return moves ? 2 * most - least : most;
    }

    /// Halves of a register of 256 bits meet in three steps, unless a permutation takes both, which one unit alone
    /// does.
    int shuffle(const Type &t) const {
        const bool is_of_halves = registers(t) == 1 && t.bits() * t.lanes() > 128;
        return is_of_halves && !target_.has_feature(Target::AVX512_Skylake) ? 3 : 2 * registers(t);
    }

    template<typename T>
    int operands_of(const Expr &e) const {
        const T *op = e.as<T>();
        return op ? registers(op->a.type()) : 0;
    }
    int compared(const Expr &e) const {
        return operands_of<EQ>(e) + operands_of<NE>(e) + operands_of<LT>(e) + operands_of<LE>(e) +
               operands_of<GT>(e) + operands_of<GE>(e);
    }
    /// By such a float a division is a product.
    static bool is_power_of_two(const Expr &e) {
        int exponent = 0;
        const auto value = as_const_float(e);
        return value && std::frexp(*value, &exponent) == 0.5;
    }
    int division(const Expr &e) const {
        const Div *div = e.as<Div>();
        const Mod *mod = e.as<Mod>();
        const Broadcast *by = (div ? div->b : mod->b).as<Broadcast>();
        const bool shifts = by && (as_const_power_of_two(by->value) || is_power_of_two(by->value));
        const int cost = shifts ? 1 : e.type().bits() == 16 ? 2 : e.type().is_float() ? 4 : 6;
        return cost * registers(e.type());
    }

    const Target &target_;
    std::unordered_set<const ExprNode *> seen_;
    std::unordered_map<std::string, Expr> lets_;
};

}  // namespace

int count_work(const Expr &e, const Target &target) {
    CountWork count(target);
    count(e);
    return count.work;
}

}  // namespace calotype::internal
