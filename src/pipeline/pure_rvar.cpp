// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two iterations differ in the RVar v. They touch different elements of the Func if some argument
// of the stored element is an injective function of v alone, and every access of the Func has that
// very argument in that place: then equal elements would mean equal v.
#include "pipeline/pure_rvar.h"

#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/queries.h"
#include "ir/visitor.h"

namespace calotype::internal {

namespace {

// The arguments of every call to the Func.
class SelfCalls : public GraphVisitor {
public:
    explicit SelfCalls(const std::string &func) : func_(func) {
    }
    std::vector<std::vector<Expr>> found;

private:
    using GraphVisitor::visit;
    void visit(const Call *op) override {
        GraphVisitor::visit(op);
        if (op->call_kind == CallKind::Func && op->name == func_) {
            found.push_back(op->args);
        }
    }
    const std::string &func_;
};

// Free of anything that varies between iterations: constants and scalar parameters alone.
bool is_fixed(const Expr &e) {
    class Varying : public GraphVisitor {
    public:
        bool found = false;

    private:
        using GraphVisitor::visit;
        void visit(const Variable *op) override {
            found |= !op->symbol.defined() || op->symbol->kind != SymbolKind::Parameter;
        }
        void visit(const Call *) override {
            found = true;
        }
    } varying;
    varying(e);
    return !varying.found;
}

bool is_injective_in(const Expr &e, const std::string &v) {
    if (const Variable *op = e.as<Variable>()) {
        return op->name == v;
    }
    if (const Add *op = e.as<Add>()) {
        return (is_injective_in(op->a, v) && is_fixed(op->b)) ||
               (is_injective_in(op->b, v) && is_fixed(op->a));
    }
    if (const Sub *op = e.as<Sub>()) {
        return (is_injective_in(op->a, v) && is_fixed(op->b)) ||
               (is_injective_in(op->b, v) && is_fixed(op->a));
    }
    if (const Mul *op = e.as<Mul>()) {
        return is_injective_in(op->a, v) && is_const(op->b) && !is_const_zero(op->b);
    }
    return false;
}

}  // namespace

bool is_pure_rvar(const Definition &d, const std::string &func, const std::string &rvar) {
    SelfCalls calls(func);
    for (const Expr &e : d.values) {
        calls(e);
    }
    for (const Expr &e : d.args) {
        calls(e);
    }
    calls(d.predicate);
    for (size_t i = 0; i < d.args.size(); i++) {
        if (!is_injective_in(d.args[i], rvar)) {
            continue;
        }
        bool same_everywhere = true;
        for (const std::vector<Expr> &args : calls.found) {
            same_everywhere &= equal(args[i], d.args[i]);
        }
        if (same_everywhere) {
            return true;
        }
    }
    return false;
}

}  // namespace calotype::internal
