// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every inline reduction is a Func of the free variables of the expression, with one update over
// the domain.
#include "lang/inline_reductions.h"

#include <functional>
#include <map>

#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lang/func.h"
#include "support/error.h"
#include "support/scope.h"

namespace calotype {

using namespace internal;

namespace {

// Collects the variables that the expression depends on from outside of the reduction, and gives
// those that are RVars of other domains a Var in their place.
class FreeVariables : public GraphMutator {
public:
    explicit FreeVariables(const ReductionDomain &domain) : domain_(domain) {
    }
    std::vector<Var> vars;        // of the new Func
    std::vector<Expr> call_args;  // what it is called with, in the same order

private:
    using GraphMutator::visit;
    Expr visit(const Variable *op) override {
        const bool is_rvar =
            op->symbol.defined() && op->symbol->kind == SymbolKind::ReductionDomain;
        if (bound_.contains(op->name) || (op->symbol.defined() && !is_rvar) ||
            (is_rvar && ReductionDomain(op->symbol).same_as(domain_))) {
            return op;
        }
        // Domains may share a name.
        const auto key = std::make_pair(op->name, op->symbol.get());
        auto it = replaced_.find(key);
        if (it == replaced_.end()) {
            vars.push_back(is_rvar ? Var() : Var(op->name));
            call_args.emplace_back(op);
            it = replaced_.emplace(key, vars.back()).first;
        }
        return it->second;
    }
    Expr visit(const Let *op) override {
        const Expr value = mutate(op->value);
        internal::ScopedBinding<> bind(bound_, op->name);
        return Let::make(op->name, value, mutate(op->body));
    }
    const ReductionDomain domain_;
    internal::Scope<> bound_;
    std::map<std::pair<std::string, const Symbol *>, Expr> replaced_;
};

class FindDomain : public GraphVisitor {
public:
    ReductionDomain domain;
    bool several = false;

private:
    using GraphVisitor::visit;
    void visit(const Variable *op) override {
        if (op->symbol.defined() && op->symbol->kind == SymbolKind::ReductionDomain) {
            const ReductionDomain d(op->symbol);
            several |= domain.defined() && !domain.same_as(d);
            domain = d;
        }
    }
};

RDom domain_of(const char *what, const Expr &e) {
    user_assert(e.defined()) << what << " of an undefined expression";
    FindDomain find;
    find(e);
    user_assert(find.domain.defined()) << what
                                       << " of an expression without RVars: there is nothing "
                                          "to reduce over";
    user_assert(!find.several) << what
                               << " of an expression with RVars of several domains: say over "
                                  "which one to reduce";
    return RDom(find.domain);
}

// Over all of the domain, even if no RVar of it occurs.
void update(const Func &f, const std::vector<Var> &vars, const std::vector<Expr> &values,
            const RDom &r) {
    f.function().define_update(std::vector<Expr>(vars.begin(), vars.end()), values, r.domain());
}

using Combine = std::function<Expr(Expr, Expr)>;

Expr reduce(const char *what, const RDom &r, const Expr &e, Func f,
            const std::function<Expr(Type)> &initial, const Combine &combine) {
    user_assert(e.defined()) << what << " of an undefined expression";
    user_assert(r.defined()) << what << " over an undefined reduction domain";
    FreeVariables free(r.domain());
    const Expr value = free.mutate(e);
    f(free.vars) = initial(e.type());
    update(f, free.vars, {combine(f(free.vars), value)}, r);
    return f(free.call_args);
}

Tuple reduce_position(const char *what, const RDom &r, const Expr &e, Func f,
                      const std::function<Expr(Type)> &initial, const Combine &better) {
    user_assert(e.defined()) << what << " of an undefined expression";
    user_assert(r.defined()) << what << " over an undefined reduction domain";
    FreeVariables free(r.domain());
    const Expr value = free.mutate(e);
    const size_t n = size_t(r.dimensions());
    std::vector<Expr> start, candidate, updated;
    for (size_t i = 0; i < n; i++) {
        start.emplace_back(0);
        candidate.emplace_back(r[int(i)]);
    }
    start.push_back(initial(e.type()));
    candidate.push_back(value);
    f(free.vars) = Tuple(start);
    const Expr take = better(value, f(free.vars)[int(n)]);
    for (size_t i = 0; i <= n; i++) {
        updated.push_back(select(take, candidate[i], f(free.vars)[int(i)]));
    }
    update(f, free.vars, updated, r);
    return f(free.call_args);
}

Expr highest(Type t) {
    return t.max();
}

Expr lowest(Type t) {
    return t.min();
}

Expr zero(Type t) {
    return make_zero(t);
}

Expr one(Type t) {
    return make_one(t);
}

Expr add(Expr a, Expr b) {
    return a + b;
}

Expr add_saturating(Expr a, Expr b) {
    return saturating_add(a, b);
}

Expr multiply(Expr a, Expr b) {
    return a * b;
}

Expr larger(Expr a, Expr b) {
    return max(a, b);
}

Expr smaller(Expr a, Expr b) {
    return min(a, b);
}

Expr is_larger(Expr a, Expr b) {
    return a > b;
}

Expr is_smaller(Expr a, Expr b) {
    return a < b;
}

}  // namespace

Expr sum(const RDom &r, Expr e, const Func &f) {
    return reduce("sum", r, e, f, zero, add);
}

Expr sum(Expr e, const Func &f) {
    return sum(domain_of("sum", e), e, f);
}

Expr sum(const RDom &r, Expr e, const std::string &name) {
    return calotype::sum(r, e, Func(name));
}

Expr sum(Expr e, const std::string &name) {
    return sum(domain_of("sum", e), e, Func(name));
}

Expr saturating_sum(const RDom &r, Expr e, const Func &f) {
    return reduce("saturating_sum", r, e, f, zero, add_saturating);
}

Expr saturating_sum(Expr e, const Func &f) {
    return saturating_sum(domain_of("saturating_sum", e), e, f);
}

Expr saturating_sum(const RDom &r, Expr e, const std::string &name) {
    return calotype::saturating_sum(r, e, Func(name));
}

Expr saturating_sum(Expr e, const std::string &name) {
    return saturating_sum(domain_of("saturating_sum", e), e, Func(name));
}

Expr product(const RDom &r, Expr e, const Func &f) {
    return reduce("product", r, e, f, one, multiply);
}

Expr product(Expr e, const Func &f) {
    return product(domain_of("product", e), e, f);
}

Expr product(const RDom &r, Expr e, const std::string &name) {
    return calotype::product(r, e, Func(name));
}

Expr product(Expr e, const std::string &name) {
    return product(domain_of("product", e), e, Func(name));
}

Expr maximum(const RDom &r, Expr e, const Func &f) {
    return reduce("maximum", r, e, f, lowest, larger);
}

Expr maximum(Expr e, const Func &f) {
    return maximum(domain_of("maximum", e), e, f);
}

Expr maximum(const RDom &r, Expr e, const std::string &name) {
    return calotype::maximum(r, e, Func(name));
}

Expr maximum(Expr e, const std::string &name) {
    return maximum(domain_of("maximum", e), e, Func(name));
}

Expr minimum(const RDom &r, Expr e, const Func &f) {
    return reduce("minimum", r, e, f, highest, smaller);
}

Expr minimum(Expr e, const Func &f) {
    return minimum(domain_of("minimum", e), e, f);
}

Expr minimum(const RDom &r, Expr e, const std::string &name) {
    return calotype::minimum(r, e, Func(name));
}

Expr minimum(Expr e, const std::string &name) {
    return minimum(domain_of("minimum", e), e, Func(name));
}

Tuple argmax(const RDom &r, Expr e, const Func &f) {
    return reduce_position("argmax", r, e, f, lowest, is_larger);
}

Tuple argmax(Expr e, const Func &f) {
    return argmax(domain_of("argmax", e), e, f);
}

Tuple argmax(const RDom &r, Expr e, const std::string &name) {
    return calotype::argmax(r, e, Func(name));
}

Tuple argmax(Expr e, const std::string &name) {
    return argmax(domain_of("argmax", e), e, Func(name));
}

Tuple argmin(const RDom &r, Expr e, const Func &f) {
    return reduce_position("argmin", r, e, f, highest, is_smaller);
}

Tuple argmin(Expr e, const Func &f) {
    return argmin(domain_of("argmin", e), e, f);
}

Tuple argmin(const RDom &r, Expr e, const std::string &name) {
    return calotype::argmin(r, e, Func(name));
}

Tuple argmin(Expr e, const std::string &name) {
    return argmin(domain_of("argmin", e), e, Func(name));
}

}  // namespace calotype
