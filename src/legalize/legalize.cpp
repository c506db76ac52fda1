// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "legalize/legalize.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/walk/search.h"
#include "legalize/expand_intrinsics.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

bool computes_with_floats(Intrinsic id) {
    switch (id) {
#define COMPUTES(name)                                                                             \
    case Intrinsic::name:                                                                          \
        return true;
#include "legalize/intrinsics.def"
    default:
        return false;
    }
}

/// A 16-bit float as float32; anything else as it is.
Type widened(Type t) {
    return is_small_float(t) ? Float(32, t.lanes()) : t;
}
Expr widened(const Expr &e) {
    return is_small_float(e.type()) ? Cast::make(widened(e.type()), e) : e;
}
Expr converted(Type t, const Expr &e) {
    return e.type() == t ? e : Cast::make(t, e);
}

/// How often each Variable occurs: one that several nodes share, as often as they do.
class CountUses : public Visitor {
public:
    int of(const std::string &name) const {
        const auto it = uses_.find(name);
        return it == uses_.end() ? 0 : it->second;
    }

private:
    using Visitor::visit;
    void visit(const Variable *op) override {
        uses_[op->name]++;
    }

    std::map<std::string, int> uses_;
};

class Legalize : public GraphMutator {
public:
    explicit Legalize(const Capabilities &can) : can_(can) {
    }

private:
    using GraphMutator::visit;

#define ARITH(Name, symbol)                                                                        \
    Expr visit(const Name *op) override {                                                          \
        return binary(op);                                                                         \
    }
#define COMPARE(Name, symbol) ARITH(Name, symbol)
#define EXPR(Name)
#define LOGIC(Name, symbol)
#include "ir/nodes.def"

    template<typename Op>
    Expr binary(const Op *op) {
        const Type t = op->a.type();
        const Expr e = GraphMutator::visit(op);
        if (!is_small_float(t) || can_.has_small_float_operation(op->kind, t)) {
            return e;
        }
        op = e.template as<Op>();
        return converted(e.type(), Op::make(widened(op->a), widened(op->b)));
    }

    Expr visit(const Ramp *op) override {
        const Expr e = GraphMutator::visit(op);
        if (!is_small_float(op->type) || can_.has_small_float_operation(op->kind, op->type)) {
            return e;
        }
        op = e.as<Ramp>();
        return Cast::make(op->type, Ramp::make(widened(op->base), widened(op->stride), op->lanes));
    }

    Expr visit(const VectorReduce *op) override {
        const Type from = op->value.type();
        const Expr e = GraphMutator::visit(op);
        if (!is_small_float(from) || can_.has_small_float_operation(op->kind, from)) {
            return e;
        }
        op = e.as<VectorReduce>();
        return Cast::make(op->type,
                          VectorReduce::make(op->op, widened(op->value), op->type.lanes()));
    }

    Expr visit(const Call *op) override {
        const Expr e = GraphMutator::visit(op);
        op = e.as<Call>();
        if (!op->is_intrinsic()) {
            return e;
        }
        const Expr wide = with_wide_floats(op);
        op = wide.as<Call>();
        return converted(e.type(), can_.has_intrinsic(op) ? wide : expanded(op));
    }

    /// The call on float32 in the place of 16-bit floats, where it computes with them.
    static Expr with_wide_floats(const Call *op) {
        if (!computes_with_floats(op->intrinsic)) {
            return Expr(op);
        }
        bool is_wide = !is_small_float(op->type);
        std::vector<Expr> args;
        for (const Expr &a : op->args) {
            is_wide = is_wide && !is_small_float(a.type());
            args.push_back(widened(a));
        }
        return is_wide ? Expr(op) : Call::make(widened(op->type), op->intrinsic, args);
    }

    /// The call by simpler operations, each argument evaluated once; itself if it has no such form.
    Expr expanded(const Call *op) {
        std::vector<std::pair<std::string, Expr>> named;
        std::vector<Expr> args;
        for (const Expr &a : op->args) {
            if (is_const(a) || a.as<Variable>() || a.as<StringImm>()) {
                args.push_back(a);
                continue;
            }
            named.emplace_back("legal$" + std::to_string(names_++), a);
            args.push_back(Variable::make(a.type(), named.back().first));
        }
        Expr simpler = expand_intrinsic(op, args);
        if (!simpler.defined()) {
            return Expr(op);
        }
        simpler = mutate(simpler);
        CountUses uses;
        uses(simpler);
        std::map<std::string, Expr> in_place;
        Expr result = simpler;
        for (size_t i = named.size(); i-- > 0;) {
            const auto &[name, value] = named[i];
            if (has_effects(value) || uses.of(name) > 1) {
                result = Let::make(name, value, result);
            } else {
                in_place[name] = value;
            }
        }
        return in_place.empty() ? result : substitute(in_place, result);
    }

    const Capabilities &can_;
    int names_ = 0;
};

}  // namespace

Stmt legalize(const Stmt &s, const Capabilities &can) {
    return Legalize(can).mutate(s);
}

Expr legalize(const Expr &e, const Capabilities &can) {
    return Legalize(can).mutate(e);
}

namespace {

bool is_strict(Intrinsic i) {
    switch (i) {
    case Intrinsic::strict_add:
    case Intrinsic::strict_sub:
    case Intrinsic::strict_mul:
    case Intrinsic::strict_div:
    case Intrinsic::strict_min:
    case Intrinsic::strict_max:
    case Intrinsic::strict_eq:
    case Intrinsic::strict_lt:
    case Intrinsic::strict_le:
    case Intrinsic::strict_fma:
    case Intrinsic::strict_cast:
    case Intrinsic::strict_float:
        return true;
    default:
        return false;
    }
}

}  // namespace

bool contains_strict_float(const Stmt &s) {
    return contains<Call>(
        s, [](const Call *op) { return op->is_intrinsic() && is_strict(op->intrinsic); });
}

}  // namespace calotype::internal
