// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide_rewrites.h"

#include <set>
#include <vector>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/language/match_types.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "pipeline/parameter.h"

namespace calotype {
namespace Internal {

using namespace internal;

Expr lossless_negate(const Expr &e) {
    if (const IntImm *i = e.as<IntImm>()) {
        const bool has_negative = !is_const(e.type().min(), i->value);
        return has_negative ? make_const(e.type(), -i->value) : Expr();
    }
    if (const Broadcast *b = e.as<Broadcast>()) {
        const Expr value = lossless_negate(b->value);
        return value.defined() ? Broadcast::make(value, b->lanes) : Expr();
    }
    if (const Mul *product = e.as<Mul>()) {
        const Expr b = lossless_negate(product->b);
        return b.defined() && is_const(b) ? Mul::make(product->a, b) : Expr();
    }
    const Cast *c = e.as<Cast>();
    if (c && c->value.type().is_int()) {
        const Expr value = lossless_negate(c->value);
        return value.defined() ? internal::lossless_cast(e.type(), value) : Expr();
    }
    return Expr();
}

namespace {

class PutInEstimates : public GraphMutator {
private:
    using GraphMutator::visit;
    Expr visit(const Variable *op) override {
        if (!op->symbol || op->symbol->kind != SymbolKind::Parameter) {
            return op;
        }
        const Parameter p(op->symbol);
        if (!p.is_buffer()) {
            return p.estimate().defined() ? p.estimate() : op;
        }
        for (int d = 0; d < p.dimensions(); d++) {
            const std::pair<Expr, Expr> ends[] = {
                {p.min_expr(d), p.min_constraint_estimate(d)},
                {p.extent_expr(d), p.extent_constraint_estimate(d)}};
            for (const auto &[variable, estimate] : ends) {
                if (estimate.defined() && variable.as<Variable>()->name == op->name) {
                    return estimate;
                }
            }
        }
        return op;
    }
};

/// Lanes first, first + 2, ...
Expr every_other_lane(const Expr &e, int first) {
    const int lanes = (e.type().lanes() - first + 1) / 2;
    if (const Ramp *r = e.as<Ramp>(); r && r->base.type().is_scalar()) {
        const Expr base = first ? simplify(r->base + r->stride) : r->base;
        return lanes > 1 ? Ramp::make(base, simplify(r->stride * 2), lanes) : base;
    }
    if (const Broadcast *b = e.as<Broadcast>(); b && b->value.type().is_scalar()) {
        return lanes > 1 ? Broadcast::make(b->value, lanes) : b->value;
    }
    if (const Load *l = e.as<Load>()) {
        return Load::make(e.type().with_lanes(lanes), l->name, every_other_lane(l->index, first),
                          every_other_lane(l->predicate, first), Alignment(), l->symbol);
    }
    if (const Shuffle *s = e.as<Shuffle>()) {
        std::vector<int> indices;
        for (size_t i = size_t(first); i < s->indices.size(); i += 2) {
            indices.push_back(s->indices[i]);
        }
        return Shuffle::make(s->vectors, indices);
    }
    return Shuffle::make_slice(e, first, 2, lanes);
}

class NameOnce : public Mutator {
public:
    explicit NameOnce(const Stmt &s) {
        for (const std::string &name : free_variables(s)) {
            taken_.insert(name);
        }
    }

private:
    using Mutator::visit;

    /// The name that a let or loop gets, for as long as its body is walked.
    template<typename Walk>
    std::string bind(const std::string &name, Walk walk) {
        std::string unique = name;
        for (int i = 1; taken_.count(unique); i++) {
            unique = name + "_" + std::to_string(i);
        }
        taken_.insert(unique);
        renames_.push(name, unique);
        walk();
        renames_.pop(name);
        taken_.erase(unique);
        return unique;
    }
    Expr visit(const Variable *op) override {
        const std::string *name = renames_.find(op->name);
        return name && *name != op->name ? Variable::make(op->type, *name, op->symbol) : Expr(op);
    }
    template<typename T>
    auto visit_let(const T *op) {
        const Expr value = mutate(op->value);
        auto body = op->body;
        const std::string name = bind(op->name, [&] { body = mutate(op->body); });
        return T::make(name, value, body);
    }
    Expr visit(const Let *op) override {
        return visit_let(op);
    }
    Stmt visit(const LetStmt *op) override {
        return visit_let(op);
    }
    Stmt visit(const For *op) override {
        const Expr min = mutate(op->min), extent = mutate(op->extent);
        Stmt body;
        const std::string name = bind(op->name, [&] { body = mutate(op->body); });
        return For::make(name, min, extent, op->for_type, op->partition, op->device_api, body);
    }

    std::set<std::string> taken_;  ///< free somewhere, or bound around the place
    Scope<std::string> renames_;
};

}  // namespace

Expr substitute_var_estimates(const Expr &e) {
    return PutInEstimates().mutate(e);
}

Expr extract_even_lanes(const Expr &e) {
    return every_other_lane(e, 0);
}

Expr extract_odd_lanes(const Expr &e) {
    return every_other_lane(e, 1);
}

Stmt uniquify_variable_names(const Stmt &s) {
    return NameOnce(s).mutate(s);
}

}  // namespace Internal
}  // namespace calotype
