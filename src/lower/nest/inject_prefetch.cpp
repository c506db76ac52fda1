// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/nest/inject_prefetch.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "arith/box.h"
#include "arith/simplify.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/with.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

class InjectPrefetch : public Mutator {
public:
    explicit InjectPrefetch(LowerContext &ctx) : ctx_(ctx) {
    }

protected:
    using Mutator::visit;

    Stmt visit(const For *op) override {
        std::vector<const Prefetch *> of_others = std::exchange(asked_for_, {});
        around_.push_back(op->name);
        Stmt body = mutate(op->body);
        for (size_t i = asked_for_.size(); i-- > 0;) {
            body = with_region(*asked_for_[i], op, body);
        }
        around_.pop_back();
        asked_for_ = std::move(of_others);
        if (body.same_as(op->body)) {
            return op;
        }
        return with(op, &For::body, body);
    }

    /// The whole of the loop's body is looked at, with what has been put around the request since.
    Stmt visit(const Prefetch *op) override {
        asked_for_.push_back(op);
        return mutate(op->body);
    }

    Stmt visit(const Provide *op) override {
        return op;
    }
    Stmt visit(const Realize *op) override {
        const ScopedBinding<> bind(realized_, op->name);
        return Mutator::visit(op);
    }

private:
    Stmt with_region(const Prefetch &p, const For *loop, const Stmt &body) const {
        const Box box = box_required(loop->body, p.name, Scope<Interval>(), ctx_.func_bounds);
        if (box.empty()) {
            return body;
        }
        check_storage(p);
        check_loop_around(p);
        const Expr later = Variable::make(Int(32), p.from) + cast(Int(32), p.offset);
        Region bounds;
        for (const Interval &i : box) {
            if (!i.is_bounded()) {
                return body;
            }
            bounds.emplace_back(simplify(substitute(p.from, later, i.min)),
                                simplify(substitute(p.from, later, i.max - i.min + 1)));
        }
        return with(&p, &Prefetch::bounds, bounds, &Prefetch::body, body);
    }

    /// "prefetch of g at loop y of func f"
    std::string description(const Prefetch &p) const {
        const LoopInfo &at = ctx_.loops.at(p.at);
        return "prefetch of " + p.name + " at loop " + at.var + " of func " + at.func;
    }

    /// What a Func will be stored to can be fetched where that is allocated; inputs and outputs are
    /// everywhere.
    void check_storage(const Prefetch &p) const {
        const bool is_output = std::any_of(ctx_.outputs.begin(), ctx_.outputs.end(),
                                           [&](const Function &f) { return f.name() == p.name; });
        user_assert(realized_.contains(p.name) || is_output || ctx_.env.count(p.name) == 0)
            << description(p) << ": the storage of " << p.name
            << " is allocated inside of that loop, must be outside (store_at)";
    }

    void check_loop_around(const Prefetch &p) const {
        user_assert(std::find(around_.begin(), around_.end(), p.from) != around_.end())
            << description(p) << " from loop " << ctx_.loops.at(p.from).var
            << ": that loop is not around it";
    }

    LowerContext &ctx_;
    std::vector<std::string> around_;          ///< names of loops
    std::vector<const Prefetch *> asked_for_;  ///< in the loop around, outermost first
    Scope<> realized_;
};

}  // namespace

Stmt inject_prefetch(const Stmt &s, LowerContext &ctx) {
    return InjectPrefetch(ctx).mutate(s);
}

}  // namespace calotype::internal
