// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/nest/provide.h"

#include <algorithm>

#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/queries.h"
#include "ir/with.h"
#include "lower/effects.h"
#include "lower/names.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

/// The i-th choice of every scatter and gather; counts how many there are.
class Choose : public GraphMutator {
public:
    explicit Choose(size_t i) : i_(i) {
    }
    size_t choices = 1;

protected:
    Expr visit(const Call *op) override {
        if (!op->is_intrinsic(Intrinsic::scatter_gather)) {
            return Mutator::visit(op);
        }
        user_assert(choices == 1 || choices == op->args.size())
            << "scatter and gather of " << choices << " and " << op->args.size()
            << " values in one definition, must be equally many";
        choices = op->args.size();
        return mutate(op->args[std::min(i_, choices - 1)]);
    }

private:
    size_t i_;
};

/// Gives names to calls with effects that do not depend on the Func.
class NameEffects : public GraphMutator {
public:
    explicit NameEffects(const std::string &func) : func_(func) {
    }
    std::vector<std::pair<std::string, Expr>> lets;

protected:
    using Mutator::visit;
    Expr visit(const Call *op) override {
        if (!is_linked(op) || op->is_pure() || uses_buffer(Expr(op), func_)) {
            return Mutator::visit(op);
        }
        lets.emplace_back(names::part(func_, "effect", lets.size()), op);
        return Variable::make(op->type, lets.back().first);
    }

private:
    const std::string &func_;
};

class GuardLoads : public GraphMutator {
public:
    GuardLoads(const Expr &condition, const std::string &only)
        : condition_(condition), only_(only) {
    }

protected:
    using Mutator::visit;
    Expr visit(const Call *op) override {
        const bool loads = op->call_type == CallKind::Func || op->call_type == CallKind::Image;
        if (!loads || (!only_.empty() && op->name != only_)) {
            return Mutator::visit(op);
        }
        return Call::make(op->type, Intrinsic::if_then_else, {condition_, op, make_zero(op->type)});
    }

private:
    const Expr &condition_;
    const std::string &only_;
};

class StreamLoads : public GraphMutator {
public:
    StreamLoads(const std::string &func, const StageSchedule &schedule)
        : func_(func), schedule_(schedule) {
    }

protected:
    using Mutator::visit;
    Expr visit(const Call *op) override {
        const Expr call = Mutator::visit(op);
        const bool loads = op->call_type == CallKind::Func || op->call_type == CallKind::Image;
        if (!loads || op->name == func_) {
            return call;
        }
        const std::vector<std::string> &named = schedule_.stream_loads;
        std::vector<Expr> args = {call};
        if (schedule_.stream_all_loads ||
            std::find(named.begin(), named.end(), op->name) != named.end()) {
            return Call::make(op->type, Intrinsic::stream_load, args);
        }
        if (!is_inlined(op)) {
            return call;
        }
        args.insert(args.end(), named.begin(), named.end());  // what is read in its place
        return Call::make(op->type, Intrinsic::stream_load, args);
    }

    static bool is_inlined(const Call *op) {
        return op->call_type == CallKind::Func && op->symbol.defined() &&
               Function(op->symbol).schedule().compute_level.is_inlined();
    }

private:
    const std::string &func_;
    const StageSchedule &schedule_;
};

class StreamStores : public StmtMutator {
    using Mutator::visit;
    Stmt visit(const Provide *op) override {
        std::vector<Expr> values;
        for (const Expr &value : op->values) {
            values.push_back(Call::make(value.type(), Intrinsic::stream_store, {value}));
        }
        return with(op, &Provide::values, values);
    }
};

}  // namespace

Expr stream_loads(const Expr &e, const Function &f, const StageSchedule &schedule) {
    const bool any = schedule.stream_all_loads || !schedule.stream_loads.empty();
    return any ? StreamLoads(f.name(), schedule).mutate(e) : e;
}

Stmt stream_stores(const Stmt &s) {
    return StreamStores().mutate(s);
}

Stmt stream_store_fence() {
    return Evaluate::make(Call::make(Int(32), Intrinsic::stream_store_fence, {}));
}

Stmt provide_all(const std::string &name, const std::vector<Expr> &values,
                 const std::vector<Expr> &args) {
    Choose first(0);
    first.mutate(args);
    first.mutate(values);
    if (first.choices == 1) {
        return Provide::make(name, values, args, const_true());
    }
    std::vector<std::pair<std::string, Expr>> lets;
    std::vector<Stmt> provides;
    for (size_t i = 0; i < first.choices; i++) {
        auto named = [&](const std::vector<Expr> &exprs, const char *role) {
            std::vector<Expr> result;
            for (size_t j = 0; j < exprs.size(); j++) {
                std::string let = names::part(names::part(name, role, i), std::to_string(j));
                lets.emplace_back(let, Choose(i).mutate(exprs[j]));
                result.push_back(Variable::make(exprs[j].type(), let));
            }
            return result;
        };
        std::vector<Expr> value = named(values, "value"), place = named(args, "place");
        provides.push_back(Provide::make(name, value, place, const_true()));
    }
    return wrap_in_lets(lets, Block::make(provides));
}

Stmt provide_where(const Expr &condition, const std::string &name, std::vector<Expr> values,
                   const std::vector<Expr> &args) {
    std::vector<std::pair<std::string, Expr>> lets;
    for (Expr &value : values) {
        if (!has_effects(value) && !contains_intrinsic(value, Intrinsic::undef) &&
            !contains_intrinsic(value, Intrinsic::scatter_gather)) {
            lets.emplace_back(names::part(name, "stored", lets.size()), value);
            value = Variable::make(value.type(), lets.back().first);
        }
    }
    return wrap_in_lets(lets, IfThenElse::make(condition, provide_all(name, values, args)));
}

Expr load_where(const Expr &condition, const Expr &e, const std::string &only) {
    return GuardLoads(condition, only).mutate(e);
}

Stmt provide_atomically(const std::string &name, const std::vector<Expr> &values,
                        const std::vector<Expr> &args) {
    NameEffects effects(name);
    const std::vector<Expr> places = effects.mutate(args), named = effects.mutate(values);
    return wrap_in_lets(effects.lets, Atomic::make(name, "", provide_all(name, named, places)));
}

}  // namespace calotype::internal
