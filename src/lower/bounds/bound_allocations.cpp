// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/bounds/bound_allocations.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "arith/box.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/with.h"
#include "lower/checks/error_call.h"
#include "lower/func_slice.h"
#include "lower/instrument/look_up_memoized.h"
#include "lower/names.h"

namespace calotype::internal {

namespace {

class BoundAllocations : public StmtMutator {
public:
    explicit BoundAllocations(LowerContext &ctx) : ctx_(ctx) {
    }

protected:
    Stmt visit(const Realize *op) override {
        Box box = take_box(op);
        if (const ProducerConsumer *production = first_production(op)) {
            keep_to_production(ctx_.env.at(op->name), production->body, &box);
        }
        if (box.size() == 0) {
            // Conditions around all accesses never hold.
            box = Box(std::vector<Interval>(op->bounds.size(), Interval(Expr(0), Expr(-1))));
        }
        internal_assert(box.size() == op->bounds.size() || op->bounds.empty())
            << "realization of " << op->name << " is touched in another number of dimensions";
        const Function &f = ctx_.env.at(op->name);
        Stmt s = mutate(op->body);
        s = with(op, &Realize::body,
                 is_memoized(f, ctx_) ? Block::make(computed(f, op, box), s) : s);
        for (size_t i = op->bounds.size(); i-- > 0;) {
            user_assert(box[i].is_bounded())
                << "func " << op->name
                << " is accessed at an unbounded range of coordinates in dimension "
                << ctx_.env.at(op->name).args()[i];
            std::string min_name = names::realized_min(op->name, int(i));
            Expr extent = simplify(max(box[i].max - box[i].min + 1, 0));
            Expr fixed = fixed_extent(ctx_.env.at(op->name), int(i));
            if (fixed.defined()) {
                s = Block::make(check(extent <= fixed, "storage_bound_too_small",
                                      {op->name, ctx_.env.at(op->name).args()[i], fixed, extent}),
                                s);
                extent = fixed;
            }
            s = LetStmt::make(names::realized_extent(op->name, int(i)), extent, s);
            s = LetStmt::make(min_name, box[i].min, s);
        }
        return s;
    }

private:
    /// What is touched of the Func inside. Storage that is made at the same place is looked at
    /// together: a chain of windows depends on the same lets.
    Box take_box(const Realize *op) {
        if (!boxes_.count(op->name)) {
            std::set<std::string> names;
            const Realize *innermost = op;
            for (const Realize *r = op; r; r = r->body.as<Realize>()) {
                names.insert(r->name);
                innermost = r;
            }
            boxes_ = boxes_touched(slice_for_funcs(names, innermost->body), names,
                                   Scope<Interval>(), ctx_.func_bounds);
        }
        Box result = std::move(boxes_[op->name]);
        boxes_.erase(op->name);
        return result;
    }

    /// What of a memoized Func is computed, for the key of the cache. More is allocated where uses
    /// may touch more than they need. Tails may write more than is required, but not its values: the
    /// ends of what is required count, too.
    Stmt computed(const Function &f, const Realize *op, const Box &touched) const {
        const Box provided = box_provided(op->body, f.name(), Scope<Interval>(), ctx_.func_bounds);
        std::vector<Expr> ends = {make_zero(Int(32)), StringImm::make(f.name())};
        for (size_t d = 0; d < touched.size(); d++) {
            const bool is_known = d < provided.size() && provided[d].is_bounded();
            const Interval &range = is_known ? provided[d] : touched[d];
            ends.insert(ends.end(), {range.min, range.max});
        }
        for (const std::string &name : free_variables(op->body)) {
            const bool is_in_ends = std::any_of(ends.begin(), ends.end(), [&](const Expr &e) {
                const Variable *v = e.as<Variable>();
                return v && v->name == name;
            });
            if (is_end_of_region(f, name) && !is_in_ends) {
                ends.push_back(names::var(name));
            }
        }
        return Evaluate::make(Call::make(Int(32), Intrinsic::memoize_expr, ends));
    }

    static bool is_end_of_region(const Function &f, const std::string &name) {
        for (int stage = 0; stage < f.stages(); stage++) {
            for (const std::string &arg : f.args()) {
                if (name == names::stage_min(f.name(), stage, arg) ||
                    name == names::stage_max(f.name(), stage, arg)) {
                    return true;
                }
            }
        }
        return false;
    }

    /// What computes all of it in one go, right where the storage is made; null if that is done
    /// piece by piece.
    static const ProducerConsumer *first_production(const Realize *op) {
        Stmt s = op->body;
        for (;;) {
            const LetStmt *let = s.as<LetStmt>();
            const Realize *other = s.as<Realize>();
            const Block *block = s.as<Block>();
            if (!let && !other && !block) {
                break;
            }
            s = let ? let->body : other ? other->body : block->first;
        }
        const ProducerConsumer *production = s.as<ProducerConsumer>();
        const bool own = production && production->is_producer && production->name == op->name;
        return own ? production : nullptr;
    }

    /// What is used lies in what is computed: where bound() fixes an extent that is checked to be
    /// enough, and where only the extern stage that uses it knows how much that is.
    void keep_to_production(const Function &f, const Stmt &production, Box *box) const {
        bool bounded = true;
        for (const Interval &range : *box) {
            bounded = bounded && range.is_bounded();
        }
        if (f.schedule().bounds.empty() && bounded) {
            return;
        }
        const Box provided =
            box_provided(production, f.name(), Scope<Interval>(), ctx_.func_bounds);
        for (size_t d = 0; d < box->size() && d < provided.size(); d++) {
            if (!(*box)[d].is_bounded() && provided[d].is_bounded()) {
                (*box)[d] = provided[d];
            }
        }
        for (const Bound &b : f.schedule().bounds) {
            const auto &args = f.args();
            const size_t d = size_t(std::find(args.begin(), args.end(), b.var) - args.begin());
            if (b.extent.defined() && d < provided.size() && provided[d].is_bounded()) {
                (*box)[d] = provided[d];
            }
        }
    }

    /// What bound_storage says of dimension d, undefined if nothing.
    static Expr fixed_extent(const Function &f, int d) {
        for (const StorageDim &dim : f.schedule().storage_dims) {
            if (dim.var == f.args()[d]) {
                return dim.bound;
            }
        }
        return Expr();
    }

    LowerContext &ctx_;
    std::map<std::string, Box> boxes_;  ///< of the Realizes directly inside of the one at hand
};

}  // namespace

Stmt bound_allocations(const Stmt &s, LowerContext &ctx) {
    return BoundAllocations(ctx).mutate(s);
}

}  // namespace calotype::internal
