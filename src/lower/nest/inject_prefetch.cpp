// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/nest/inject_prefetch.h"

#include <algorithm>

#include "arith/box.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/with.h"
#include "support/scope.h"

namespace calotype {

using namespace internal;

namespace {

class InjectPrefetch : public Mutator {
public:
    explicit InjectPrefetch(LowerContext &ctx) : ctx_(ctx) {
    }

protected:
    using Mutator::visit;

    Stmt visit(const For *op) override {
        auto it = ctx_.loops.find(op->name);
        if (it == ctx_.loops.end()) {
            return Mutator::visit(op);
        }
        const LoopInfo &info = it->second;
        around_.emplace_back(info, op->name);
        Stmt body = mutate(op->body);
        const Function &f = ctx_.env.at(info.func);
        if (f.stage(info.stage)) {
            for (const PrefetchDirective &p : f.stage(info.stage)->schedule.prefetches) {
                if (p.at == info.var) {
                    body = prefetch(p, info, op, body);
                }
            }
        }
        around_.pop_back();
        if (body.same_as(op->body)) {
            return op;
        }
        return with(op, &For::body, body);
    }

    Stmt visit(const Provide *op) override {
        return op;
    }
    Stmt visit(const Realize *op) override {
        const ScopedBinding<> bind(realized_, op->name);
        return Mutator::visit(op);
    }

private:
    Stmt prefetch(const PrefetchDirective &p, const LoopInfo &at, const For *loop,
                  const Stmt &body) const {
        const Box box = box_required(loop->body, p.name, Scope<Interval>(), ctx_.func_bounds);
        if (box.empty()) {
            return body;
        }
        check_storage(p, at);
        const std::string from = loop_around(p, at);
        const Expr later = Variable::make(Int(32), from) + cast(Int(32), p.offset);
        Region bounds;
        for (const Interval &i : box) {
            if (!i.is_bounded()) {
                return body;
            }
            bounds.emplace_back(simplify(substitute(from, later, i.min)),
                                simplify(substitute(from, later, i.max - i.min + 1)));
        }
        return Prefetch::make(p.name, types_of(p), bounds, loop->name, from, p.offset, p.strategy,
                              const_true(), body, p.symbol);
    }

    /// What a Func will be stored to can be fetched where that is allocated; inputs and outputs are
    /// everywhere.
    void check_storage(const PrefetchDirective &p, const LoopInfo &at) const {
        const bool is_output = std::any_of(ctx_.outputs.begin(), ctx_.outputs.end(),
                                           [&](const Function &f) { return f.name() == p.name; });
        user_assert(realized_.contains(p.name) || is_output || ctx_.env.count(p.name) == 0)
            << "prefetch of " << p.name << " at loop " << at.var << " of func " << at.func
            << ": the storage of " << p.name
            << " is allocated inside of that loop, must be outside (store_at)";
    }

    std::string loop_around(const PrefetchDirective &p, const LoopInfo &at) const {
        for (size_t i = around_.size(); i-- > 0;) {
            const LoopInfo &info = around_[i].first;
            if (info.func == at.func && info.stage == at.stage && info.var == p.from) {
                return around_[i].second;
            }
        }
        user_error << "prefetch of " << p.name << " at loop " << at.var << " of func " << at.func
                   << " from loop " << p.from << ": that loop is not around it";
        return "";
    }

    std::vector<Type> types_of(const PrefetchDirective &p) const {
        auto f = ctx_.env.find(p.name);
        if (f != ctx_.env.end()) {
            return f->second.output_types();
        }
        internal_assert(p.symbol && p.symbol->kind == SymbolKind::Parameter)
            << "prefetch of unknown " << p.name;
        return {Parameter(p.symbol).type()};
    }

    LowerContext &ctx_;
    std::vector<std::pair<LoopInfo, std::string>> around_;  ///< with the loops' names
    Scope<> realized_;
};

}  // namespace

Stmt inject_prefetch(const Stmt &s, LowerContext &ctx) {
    return InjectPrefetch(ctx).mutate(s);
}

}  // namespace calotype
