// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/storage/split_tuples.h"

#include <utility>

#include "ir/mutator.h"
#include "ir/walk/search.h"
#include "ir/with.h"
#include "lower/names.h"
#include "lower/storage/independent_values.h"

namespace calotype::internal {

namespace {

/// True if the expression reads Func `name`.
bool reads_func(const Expr &e, const std::string &name) {
    return contains<Call>(
        e, [&](const Call *op) { return op->call_type == CallKind::Func && op->name == name; });
}

class TupleSplitter : public GraphMutator {
public:
    explicit TupleSplitter(LowerContext &ctx) : ctx_(ctx) {
    }

private:
    using GraphMutator::visit;

    /// The Function if it has several values, else null.
    const Function *tuple_func(const std::string &name) const {
        auto it = ctx_.env.find(name);
        return it != ctx_.env.end() && it->second.outputs() > 1 ? &it->second : nullptr;
    }

    Expr visit(const Call *op) override {
        const Function *f = op->call_type == CallKind::Func ? tuple_func(op->name) : nullptr;
        if (!f) {
            return GraphMutator::visit(op);
        }
        return Call::make(op->type, f->buffer_name(op->value_index), mutate(op->args),
                          CallKind::Func, 0, op->symbol);
    }

    Stmt visit(const Realize *op) override {
        const Function *f = tuple_func(op->name);
        if (!f) {
            return GraphMutator::visit(op);
        }
        const Region bounds = mutate(op->bounds);
        const Expr condition = mutate(op->condition);
        Stmt body = mutate(op->body);
        for (int i = f->outputs() - 1; i >= 0; i--) {
            body = Realize::make(f->buffer_name(i), {op->types[i]}, op->memory_type, bounds,
                                 condition, body);
        }
        return body;
    }

    Stmt visit(const HoistedStorage *op) override {
        const Function *f = tuple_func(op->name);
        if (!f) {
            return GraphMutator::visit(op);
        }
        Stmt body = mutate(op->body);
        for (int i = f->outputs() - 1; i >= 0; i--) {
            body = HoistedStorage::make(f->buffer_name(i), body);
        }
        return body;
    }

    Stmt visit(const Prefetch *op) override {
        const Function *f = tuple_func(op->name);
        if (!f) {
            return GraphMutator::visit(op);
        }
        const Region bounds = mutate(op->bounds);
        Stmt body = mutate(op->body);
        for (int i = f->outputs() - 1; i >= 0; i--) {
            body = Prefetch::make(f->buffer_name(i), {op->types[i]}, bounds, op->at, op->from,
                                  mutate(op->offset), op->strategy, mutate(op->condition), body,
                                  op->symbol);
        }
        return body;
    }

    /// Without a lock each store of its Func is an update of its own; what is computed for the update may have Tuples, too.
    Stmt visit(const Atomic *op) override {
        const Atomic *around = std::exchange(unlocked_, op->mutex_name.empty() ? op : nullptr);
        const Stmt body = mutate(op->body);
        const bool done = op->mutex_name.empty() && !unlocked_;
        unlocked_ = around;
        return done ? body : Atomic::make(op->producer_name, op->mutex_name, body);
    }

    Stmt visit(const Provide *op) override {
        const Function *f = tuple_func(op->name);
        if (!f) {
            return GraphMutator::visit(op);
        }
        std::vector<std::pair<std::string, Expr>> lets;
        // A value that is used after the first store must not see that store.
        auto evaluate_early = [&](const Expr &e, const std::string &what) {
            const Expr split = mutate(e);
            if (!reads_func(e, op->name)) {
                return split;
            }
            lets.emplace_back(ctx_.names.unique(what), split);
            return Variable::make(split.type(), lets.back().first);
        };
        std::vector<Expr> args, values;
        for (const Expr &e : op->args) {
            args.push_back(evaluate_early(e, names::part(op->name, "arg")));
        }
        const Expr predicate = evaluate_early(op->predicate, names::part(op->name, "predicate"));
        const bool independent = has_independent_values(op);
        for (size_t i = 0; i < op->values.size(); i++) {
            values.push_back(
                i == 0 || independent
                    ? mutate(op->values[i])
                    : evaluate_early(op->values[i], names::part(f->buffer_name(int(i)), "value")));
        }
        std::vector<Stmt> stores;
        for (size_t i = 0; i < values.size(); i++) {
            const bool is_last = i + 1 == values.size();
            if (!keeps_element(op, i) || (is_last && stores.empty())) {
                stores.push_back(
                    Provide::make(f->buffer_name(int(i)), {values[i]}, args, predicate));
            }
        }
        if (unlocked_ && unlocked_->producer_name == op->name && independent) {
            for (Stmt &store : stores) {
                store = Atomic::make(store.as<Provide>()->name, "", store);
            }
            unlocked_ = nullptr;
        }
        return wrap_in_lets(lets, Block::make(stores));
    }

    LowerContext &ctx_;
    const Atomic *unlocked_ = nullptr;  ///< the one around, until its stores have their own
};

}  // namespace

Stmt split_tuples(const Stmt &s, LowerContext &ctx) {
    return TupleSplitter(ctx).mutate(s);
}

}  // namespace calotype::internal
