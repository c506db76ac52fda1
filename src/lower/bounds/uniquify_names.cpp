// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/bounds/uniquify_names.h"

#include "ir/mutator.h"
#include "ir/queries.h"
#include "ir/with.h"
#include "lower/bounds/expression_memo.h"

namespace calotype::internal {

namespace {

class Uniquify : public Mutator {
public:
    explicit Uniquify(LowerContext &ctx) : ctx_(ctx) {
    }
    void reserve(const std::string &name) {
        used_.insert({name, 0});
    }

    using Mutator::mutate;
    /// Shared nodes are rewritten once.
    Expr mutate(const Expr &e) override {
        if (!e.defined()) {
            return e;
        }
        return memo_.of(e, false, [&] { return Mutator::mutate(e); });
    }

protected:
    using Mutator::visit;

    Expr visit(const Variable *op) override {
        const std::string *renamed = renamed_.find(op->name);
        return renamed && *renamed != op->name ? Variable::make(op->type, *renamed, op->symbol)
                                               : Expr(op);
    }

    Expr visit(const Let *op) override {
        Expr value = mutate(op->value);
        std::string name = fresh(op->name);
        ScopedBinding<std::string> bind(renamed_, op->name, name);
        return Let::make(name, value, memo_.apart([&] { return mutate(op->body); }));
    }

    Stmt visit(const LetStmt *op) override {
        Expr value = mutate(op->value);
        std::string name = fresh(op->name);
        ScopedBinding<std::string> bind(renamed_, op->name, name);
        return LetStmt::make(name, value, mutate(op->body));
    }

    Stmt visit(const For *op) override {
        Expr min = mutate(op->min), extent = mutate(op->extent);
        std::string name = fresh(op->name);
        auto info = ctx_.loops.find(op->name);
        if (name != op->name && info != ctx_.loops.end()) {
            ctx_.loops[name] = info->second;
        }
        ScopedBinding<std::string> bind(renamed_, op->name, name);
        return For::make(name, min, extent, op->for_type, op->partition, op->device_api,
                         mutate(op->body));
    }

    Stmt visit(const Prefetch *op) override {
        Stmt s = Mutator::visit(op);
        const Prefetch *p = s.as<Prefetch>();
        auto now = [&](const std::string &loop) {
            const std::string *renamed = renamed_.find(loop);
            return renamed ? *renamed : loop;
        };
        return with(p, &Prefetch::at, now(p->at), &Prefetch::from, now(p->from));
    }

private:
    std::string fresh(const std::string &name) {
        auto it = used_.find(name);
        if (it == used_.end()) {
            used_[name] = 0;
            return name;
        }
        std::string candidate;
        do {
            candidate = name + "$" + std::to_string(++it->second);
        } while (used_.count(candidate));
        used_[candidate] = 0;
        return candidate;
    }

    LowerContext &ctx_;
    ExpressionMemo memo_;
    std::map<std::string, int> used_;  ///< name -> last number given to it
    Scope<std::string> renamed_;
};

}  // namespace

Stmt uniquify_names(const Stmt &s, LowerContext &ctx) {
    Uniquify uniquify(ctx);
    for (const std::string &name : free_variables(s)) {
        uniquify.reserve(name);
    }
    return uniquify.mutate(s);
}

}  // namespace calotype::internal
