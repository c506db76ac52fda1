// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A nest is a list of enclosing constructs, outermost first: loops in the order of the schedule's dims, and between them
// the lets that define split variables and the conditions that guard them, each as far out as what it uses allows.
#include "lower/nest/stage_loops.h"

#include <set>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "lower/checks/error_call.h"
#include "lower/names.h"
#include "lower/nest/split_loops.h"

namespace calotype {

namespace {

/// Renames the definition's own variables: pure ones and RVars.
class Qualify : public Mutator {
public:
    Qualify(const Function &f, int stage)
        : f_(f), stage_(stage) {
    }

protected:
    Expr visit(const Variable *op) override {
        bool is_rvar = op->symbol && op->symbol->kind == SymbolKind::ReductionDomain;
        if (is_rvar || is_pure_var(op->name)) {
            return Variable::make(op->type, names::loop(f_.name(), stage_, op->name));
        }
        return op;
    }

private:
    bool is_pure_var(const std::string &name) const {
        for (const std::string &arg : f_.args()) {
            if (arg == name) {
                return true;
            }
        }
        return false;
    }
    const Function &f_;
    int stage_;
};

/// The i-th choice of every scatter and gather; counts how many there are.
class Choose : public Mutator {
public:
    explicit Choose(size_t i)
        : i_(i) {
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

/// One Provide; with scatter and gather, all values and places are computed before the first is stored.
Stmt provide_all(const std::string &name, const std::vector<Expr> &values, const std::vector<Expr> &args) {
    Choose first(0);
    first.mutate(args);
    first.mutate(values);
    if (first.choices == 1) {
        return Provide::make(name, values, args, const_true());
    }
    std::vector<NamedValue> lets;
    std::vector<Stmt> provides;
    for (size_t i = 0; i < first.choices; i++) {
        auto named = [&](const std::vector<Expr> &exprs, const char *role) {
            std::vector<Expr> result;
            for (size_t j = 0; j < exprs.size(); j++) {
                std::string let = name + "." + role + "." + std::to_string(i) + "." + std::to_string(j);
                lets.emplace_back(let, Choose(i).mutate(exprs[j]));
                result.push_back(Variable::make(exprs[j].type(), let));
            }
            return result;
        };
        std::vector<Expr> value = named(values, "value"), place = named(args, "place");
        provides.push_back(Provide::make(name, value, place, const_true()));
    }
    Stmt s = Block::make(provides);
    for (size_t i = lets.size(); i-- > 0;) {
        s = LetStmt::make(lets[i].first, lets[i].second, s);
    }
    return s;
}

/// Gives every loop that a split makes a name of its own (`split(y, y, yi, 8)` makes a second y), in `splits` and `dims`.
/// The plain names of the dims are returned.
std::vector<std::string> name_loops(const Function &f, StageSchedule *schedule) {
    std::map<std::string, std::string> now;  // what a plain name means after the splits seen so far
    std::set<std::string> used(f.args().begin(), f.args().end());
    for (const ReductionVariable &rv : schedule->rvars) {
        used.insert(rv.var);
    }
    auto current = [&](const std::string &name) { return now.count(name) ? now[name] : name; };
    auto fresh = [&](const std::string &name) {
        std::string candidate = name;
        for (int i = 1; !used.insert(candidate).second; i++) {
            candidate = name + "." + std::to_string(i);
        }
        return now[name] = candidate;
    };
    for (Split &s : schedule->splits) {
        if (s.is_fuse()) {
            s.inner = current(s.inner);
            s.outer = current(s.outer);
            s.old_var = fresh(s.old_var);
        } else {
            s.old_var = current(s.old_var);
            s.outer = fresh(s.outer);
            s.inner = s.is_rename() ? s.inner : fresh(s.inner);
        }
    }
    std::vector<std::string> plain;
    for (Dim &d : schedule->dims) {
        plain.push_back(d.var);
        d.var = current(d.var);
    }
    return plain;
}

/// One construct around the innermost statement.
struct Enclosing {
    enum Kind { Loop, Let, If } kind;
    std::string name;  ///< of the loop or let
    Expr value;        ///< of the let, or the condition
    Dim dim;
};

class StageNest {
public:
    StageNest(const Function &f, int stage, const Definition &def, LowerContext &ctx)
        : f_(f), stage_(stage), def_(def), schedule_(def.schedule), plain_names_(name_loops(f, &schedule_)), ctx_(ctx) {
    }

    Stmt build() {
        collect_extents();
        apply_splits();
        Stmt s = make_provide();
        std::vector<Enclosing> nest = arrange();
        for (size_t i = nest.size(); i-- > 0;) {
            s = wrap(nest[i], std::move(s));
        }
        for (size_t i = ranges_.size(); i-- > 0;) {
            s = LetStmt::make(ranges_[i].first, ranges_[i].second, s);
        }
        return s;
    }

private:
    std::string loop_name(const std::string &var) const {
        return names::loop(f_.name(), stage_, var);
    }

    void add_base_range(const std::string &var, const Expr &min, const Expr &max) {
        std::string loop = loop_name(var);
        ranges_.emplace_back(names::loop_min(loop), min);
        ranges_.emplace_back(names::loop_max(loop), max);
        ranges_.emplace_back(names::loop_extent(loop),
                             names::var(names::loop_max(loop)) + 1 - names::var(names::loop_min(loop)));
    }

    /// Extents that the schedule fixes, so that splits by a divisor of them need no tail.
    void collect_extents() {
        for (const Bound &b : f_.schedule().bounds) {
            if (b.extent.defined()) {
                extents_[b.var] = b.extent;
            } else if (b.modulus.defined()) {
                extents_[b.var] = b.modulus * names::var(loop_name(b.var) + ".blocks");
            }
        }
        for (const ReductionVariable &rv : schedule_.rvars) {
            extents_[rv.var] = rv.extent;
        }
    }

    void apply_splits() {
        for (const PureVar &v : pure_vars(f_, stage_)) {
            add_base_range(v.name, names::var(names::stage_min(f_.name(), stage_, v.name)),
                           names::var(names::stage_max(f_.name(), stage_, v.name)));
        }
        for (const ReductionVariable &rv : schedule_.rvars) {
            Expr min = qualify(rv.min, f_, stage_), extent = qualify(rv.extent, f_, stage_);
            add_base_range(rv.var, min, min + extent - 1);
        }
        add_base_range(outermost_name, 0, 0);
        for (const Split &split : schedule_.splits) {
            SplitEffect effect = split_loops(f_.name(), stage_, split, &extents_);
            ranges_.insert(ranges_.end(), effect.loop_ranges.begin(), effect.loop_ranges.end());
            lets_.insert(lets_.begin(), effect.lets.begin(), effect.lets.end());
            if (effect.guard.defined()) {
                guards_.push_back(effect.guard);
            }
            if (effect.blend.defined()) {
                blend_ = blend_.defined() ? blend_ && effect.blend : effect.blend;
            }
            check_factor(split);
        }
        if (!is_trivially_true(def_.predicate)) {
            guards_.push_back(qualify(def_.predicate, f_, stage_));
        }
    }

    /// A factor that is only known at run time must be positive then.
    void check_factor(const Split &split) {
        if (split.is_split() && !is_const(split.factor)) {
            Expr factor = cast(Int(32), split.factor);
            factor_checks_.push_back(AssertStmt::make(
                factor > 0, error_call("split_factor_not_positive",
                                       {f_.name(), split.old_var, split.outer, split.inner,
                                        to_text(split.factor), factor})));
        }
    }

    Stmt make_provide() {
        std::vector<Expr> args, values;
        for (const Expr &e : def_.args) {
            args.push_back(qualify(e, f_, stage_));
        }
        for (size_t i = 0; i < def_.values.size(); i++) {
            Expr value = qualify(def_.values[i], f_, stage_);
            if (blend_.defined()) {
                Expr old = Call::make(value.type(), f_.name(), args, CallKind::Func, int(i));
                value = select(blend_, value, old);
            }
            values.push_back(value);
        }
        Stmt s = provide_all(f_.name(), values, args);
        if (schedule_.atomic) {
            s = Atomic::make(f_.name(), "", s);
        }
        return s;
    }

    /// Puts lets and guards as far out as what they use allows.
    std::vector<Enclosing> arrange() {
        const std::vector<Dim> &dims = schedule_.dims;
        std::vector<std::vector<Enclosing>> at(dims.size() + 1);  // constructs inside of the first n loops
        std::map<std::string, size_t> depth;                      // of loops and lets, by name
        for (size_t i = 0; i < dims.size(); i++) {
            depth[loop_name(dims[dims.size() - 1 - i].var)] = i + 1;
        }
        auto depth_of = [&](const Expr &e) {
            size_t d = 0;
            for (const std::string &v : free_variables(e)) {
                auto it = depth.find(v);
                d = it == depth.end() ? d : std::max(d, it->second);
            }
            return d;
        };
        for (const NamedValue &let : lets_) {
            size_t d = depth[let.first] = depth_of(let.second);
            at[d].push_back({Enclosing::Let, let.first, let.second, {}});
        }
        for (const Expr &guard : guards_) {
            at[depth_of(guard)].push_back({Enclosing::If, "", guard, {}});
        }
        std::vector<Enclosing> nest = at[0];
        for (size_t i = 0; i < dims.size(); i++) {
            const Dim &dim = dims[dims.size() - 1 - i];
            ctx_.loops[loop_name(dim.var)] = {f_.name(), stage_, plain_names_[dims.size() - 1 - i]};
            nest.push_back({Enclosing::Loop, loop_name(dim.var), Expr(), dim});
            nest.insert(nest.end(), at[i + 1].begin(), at[i + 1].end());
        }
        return nest;
    }

    Stmt wrap(const Enclosing &e, Stmt body) {
        switch (e.kind) {
        case Enclosing::Let:
            return LetStmt::make(e.name, e.value, std::move(body));
        case Enclosing::If:
            return IfThenElse::make(e.value, std::move(body));
        case Enclosing::Loop:
            break;
        }
        Stmt loop = For::make(e.name, names::var(names::loop_min(e.name)), names::var(names::loop_extent(e.name)),
                              e.dim.for_type, e.dim.partition, e.dim.device_api, std::move(body));
        if (e.dim.var == outermost_name) {
            for (size_t i = factor_checks_.size(); i-- > 0;) {
                loop = Block::make(factor_checks_[i], loop);
            }
        }
        return loop;
    }

    const Function &f_;
    int stage_;
    const Definition &def_;
    StageSchedule schedule_;                ///< a copy in which every loop has its own name
    std::vector<std::string> plain_names_;  ///< of schedule_.dims, as the user wrote them
    LowerContext &ctx_;
    std::map<std::string, Expr> extents_;
    std::vector<NamedValue> ranges_;  ///< outside of all loops
    std::vector<NamedValue> lets_;    ///< inside, outermost first
    std::vector<Expr> guards_;
    std::vector<Stmt> factor_checks_;
    Expr blend_;
};

Stmt make_definition(const Function &f, int stage, const Definition &def, LowerContext &ctx) {
    Stmt s = StageNest(f, stage, def, ctx).build();
    for (size_t i = def.specializations.size(); i-- > 0;) {
        const Specialization &special = def.specializations[i];
        if (special.definition) {
            Stmt then_case = make_definition(f, stage, *special.definition, ctx);
            s = IfThenElse::make(special.condition, then_case, s);
        } else {
            s = AssertStmt::make(const_false(), error_call("specialize_fail", {special.failure_message}));
            s = IfThenElse::make(special.condition, s, Stmt());
        }
    }
    return s;
}

}  // namespace

Expr qualify(const Expr &e, const Function &f, int stage) {
    return Qualify(f, stage).mutate(e);
}

std::vector<PureVar> pure_vars(const Function &f, int stage) {
    std::vector<PureVar> result;
    for (int i = 0; i < f.dimensions(); i++) {
        const std::string &name = f.args()[i];
        if (stage > 0) {
            const Variable *v = f.stage(stage)->args[i].as<Variable>();
            if (!v || v->symbol || v->name != name) {
                continue;
            }
        }
        result.push_back({i, name});
    }
    return result;
}

Stmt make_stage_loops(const Function &f, int stage, LowerContext &ctx) {
    return make_definition(f, stage, *f.stage(stage), ctx);
}

}  // namespace calotype
