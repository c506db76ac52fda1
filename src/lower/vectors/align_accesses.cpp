// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A fact about a name says something of all lets that were made of it, also of those that stand
// outside of the condition. So the lets in force are remembered, and looked at again.
#include "lower/vectors/align_accesses.h"

#include <list>

#include "arith/alignment_analysis.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/with.h"
#include "lower/gpu/host/device_alignment.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

class AccessAligner : public Mutator {
public:
    explicit AccessAligner(const LowerContext &ctx) : ctx_(ctx) {
    }

private:
    using Mutator::visit;
    using Binding = ScopedBinding<Alignment>;
    using Bindings = std::list<Binding>;

    /// Names of which a condition says something.
    using Facts = std::map<std::string, Alignment>;

    Alignment of(const Expr &e) const {
        return alignment_of(e, known_);
    }

    void learn(const Expr &name, const Alignment &a, Facts &facts) const {
        const Variable *variable = name.as<Variable>();
        if (variable && a != Alignment()) {
            const auto [it, is_new] = facts.emplace(variable->name, of(name));
            it->second = intersection(it->second, a);
        }
    }

    void learn_from(const Expr &condition, Facts &facts) const {
        if (const And *both = condition.as<And>()) {
            learn_from(both->a, facts);
            learn_from(both->b, facts);
            return;
        }
        const EQ *equal = condition.as<EQ>();
        if (!equal || !equal->a.type().is_int_or_uint() || !equal->a.type().is_scalar()) {
            return;
        }
        learn(equal->a, of(equal->b), facts);
        learn(equal->b, of(equal->a), facts);
        const Mod *mod = equal->a.as<Mod>();
        const auto modulus = mod ? as_const_int(mod->b) : std::nullopt;
        const auto remainder = as_const_int(equal->b);
        if (modulus && *modulus > 0 && remainder && *remainder >= 0 && *remainder < *modulus) {
            learn(mod->a, {*modulus, *remainder}, facts);
        }
    }

    Stmt where(const Expr &condition, const Stmt &s) {
        Facts facts;
        learn_from(condition, facts);
        Bindings bindings;
        for (const auto &[name, alignment] : facts) {
            bindings.emplace_back(known_, name, alignment);
        }
        if (!facts.empty()) {
            for (const auto &[name, value] : lets_) {
                bindings.emplace_back(known_, name, intersection(of_name(name), of(value)));
            }
        }
        return mutate(s);
    }

    Alignment of_name(const std::string &name) const {
        const Alignment *a = known_.find(name);
        return a ? *a : Alignment();
    }

    template<typename T, typename Body>
    auto visit_let(const T *op) -> Body {
        const Expr value = mutate(op->value);
        const bool is_integer = value.type().is_int_or_uint();
        const Binding bind(known_, op->name, is_integer ? of(value) : Alignment());
        if (is_integer) {
            lets_.emplace_back(op->name, value);
        }
        const Body body = mutate(op->body);
        if (is_integer) {
            lets_.pop_back();
        }
        return T::make(op->name, value, body);
    }
    Stmt visit(const LetStmt *op) override {
        return visit_let<LetStmt, Stmt>(op);
    }
    Expr visit(const Let *op) override {
        return visit_let<Let, Expr>(op);
    }

    Stmt visit(const For *op) override {
        const bool is_kernel = op->for_type == ForType::GPUBlock;
        kernels_ += is_kernel;
        const Alignment only = is_const_one(op->extent) ? of(op->min) : Alignment();
        const Binding bind(known_, op->name, only);
        const Stmt s = Mutator::visit(op);
        kernels_ -= is_kernel;
        return s;
    }

    Stmt visit(const IfThenElse *op) override {
        const Stmt then_case = where(op->condition, op->then_case);
        return IfThenElse::make(mutate(op->condition), then_case, mutate(op->else_case));
    }

    Stmt visit(const Block *op) override {
        const AssertStmt *sure = op->first.as<AssertStmt>();
        return sure ? Block::make(op->first, where(sure->condition, op->rest)) : Mutator::visit(op);
    }

    Alignment at(const Expr &index) const {
        const Ramp *ramp = index.as<Ramp>();
        const Expr first = ramp ? ramp->base : index;
        return first.type().is_scalar() ? of(first) : Alignment();
    }

    Alignment access(const Alignment &known, const Expr &index) const {
        const bool asked = kernels_ > 0 || index.type().is_vector();
        return asked ? intersection(known, at(index)) : known;
    }

    Expr visit(const Load *op) override {
        const Expr index = mutate(op->index);
        return with(op, &Load::index, index, &Load::predicate, mutate(op->predicate),
                    &Load::alignment, access(op->alignment, index));
    }

    Stmt visit(const Store *op) override {
        const Expr index = mutate(op->index);
        return with(op, &Store::value, mutate(op->value), &Store::index, index, &Store::predicate,
                    mutate(op->predicate), &Store::alignment, access(op->alignment, index));
    }

    Stmt visit(const Allocate *op) override {
        const ScopedBinding<> bind(has_runtime_device_memory(op), made_here_, op->name);
        return Mutator::visit(op);
    }

    Stmt visit(const Evaluate *op) override {
        if (const Let *let = op->value.as<Let>()) {
            return mutate(LetStmt::make(let->name, let->value, Evaluate::make(let->body)));
        }
        const Call *call = op->value.as<Call>();
        return call && call->is_intrinsic(Intrinsic::gpu_async_copy) ? copies(call)
                                                                     : Mutator::visit(op);
    }

    /// As many bytes at a time as both addresses allow.
    Stmt copies(const Call *op) const {
        const int element = op->type.bytes(), number = int(*as_const_int(op->args[4]));
        int bytes = number * element;
        while (bytes > element &&
               (!is_at_multiple(op, 0, bytes) || !is_at_multiple(op, 2, bytes))) {
            bytes /= 2;
        }
        const int n = bytes / element;
        std::vector<Stmt> result;
        for (int i = 0; i < number; i += n) {
            const Expr to = op->args[1] + make_const(op->args[1].type(), i);
            const Expr from = op->args[3] + make_const(op->args[3].type(), i);
            result.push_back(bytes < least_bytes
                                 ? stored(op, simplify(to), simplify(from))
                                 : Evaluate::make(Call::make(op->type, Intrinsic::gpu_async_copy,
                                                             {op->args[0], simplify(to),
                                                              op->args[2], simplify(from), n})));
        }
        return Block::make(result);
    }

    static Stmt stored(const Call *op, const Expr &to, const Expr &from) {
        const Expr value = Load::make(op->type, op->args[2].as<Variable>()->name, from,
                                      const_true(), Alignment(), nullptr);
        return Store::make(op->args[0].as<Variable>()->name, value, to, const_true(), Alignment(),
                           nullptr);
    }

    /// True if what argument `buffer` of a copy and the index after it name begins at such an
    /// address.
    bool is_at_multiple(const Call *op, size_t buffer, int bytes) const {
        const std::string &name = op->args[buffer].as<Variable>()->name;
        const Alignment index = of(op->args[buffer + 1]);
        const int64_t base = made_here_.contains(name)
                                 ? least_storage_alignment
                                 : promised_alignment(ctx_, name, op->type).modulus;
        return base % bytes == 0 && index.modulus * op->type.bytes() % bytes == 0 &&
               index.remainder * op->type.bytes() % bytes == 0;
    }

    static constexpr int least_bytes = 4;               ///< of an asynchronous copy
    static constexpr int least_storage_alignment = 16;  ///< of what a pipeline allocates

    const LowerContext &ctx_;
    Scope<> made_here_;  ///< allocations of the pipeline, in kernels and outside
    Scope<Alignment> known_;
    std::vector<std::pair<std::string, Expr>> lets_;  ///< of integers, outermost first
    int kernels_ = 0;                                 ///< block loops around
};

}  // namespace

Stmt align_accesses(const Stmt &s, LowerContext &ctx) {
    return AccessAligner(ctx).mutate(s);
}

}  // namespace calotype::internal
