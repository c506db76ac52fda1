// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rfactor cuts an associative update f(args) = op(f(args), y) over RVars in two:
//
//     part(pure..., vs...) = identity
//     part(args, vs...)    = op(part(args, vs...), y)       over the RVars that are not preserved
//     f(pure...)           = op(f(pure...), part(pure..., preserved...))
//
// The RVars may be loops made by splits and fuses. The new Func knows nothing of those: the leaf
// loops become RVars of its own domain, and the original RVars expressions of them:
//
//     split r -> ro, ri by 8:    r = min + ro * 8 + ri
//                                ro < ceil(extent / 8),  ri < 8,  and where r < min + extent
//
// What is preserved becomes a dimension of the new Func, which may be computed in whole vectors: its
// update is for the iterations of the loop alone, as what it reads may begin and end there.
#include <algorithm>
#include <map>
#include <set>

#include "arith/alignment_analysis.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/language/hints.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "lang/func.h"
#include "pipeline/associativity.h"
#include "pipeline/loop_graph.h"
#include "pipeline/pure_rvar.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype {

using namespace internal;

namespace {

Expr both(const Expr &a, const Expr &b) {
    return is_trivially_true(a) ? b : is_trivially_true(b) ? a : a && b;
}

Expr offset(const Expr &min, const Expr &e) {
    return is_const_zero(min) ? e : min + e;
}

// The loops that an update's RVars became, and what each original RVar is in terms of them.
class LeafLoops {
public:
    std::map<std::string, ReductionVariable> loops;
    std::map<std::string, Expr> originals;
    Expr predicate = const_true();

    LeafLoops(const Function &f, const Definition &d)
        : graph_(f.args(), d.schedule), ranges_(graph_.loops().size()) {
        const size_t first = f.args().size();
        for (size_t i = 0; i < d.schedule.rvars.size(); i++) {
            ranges_[first + i] = d.schedule.rvars[i];
        }
        for (const LoopStep &step : graph_.steps()) {
            apply(step);
        }
        for (size_t i = 0; i < ranges_.size(); i++) {
            const StageLoop &loop = graph_.loop(int(i));
            if (loop.is_rvar && loop.replaced_by < 0) {
                loops[loop.var] = {loop.var, ranges_[i].min, ranges_[i].extent};
            }
        }
        for (size_t i = 0; i < d.schedule.rvars.size(); i++) {
            originals[d.schedule.rvars[i].var] = value(int(first + i));
        }
        // Of several conditions the one of the first split comes first.
        for (const LoopStep &step : graph_.steps()) {
            if (step.kind == Split::Kind::Split && graph_.loop(step.old).is_rvar) {
                limit(step);
            }
        }
    }

private:
    void apply(const LoopStep &s) {
        if (!graph_.loop(s.old).is_rvar) {
            return;
        }
        if (s.kind == Split::Kind::Fuse) {
            user_assert(graph_.loop(s.inner).is_rvar && graph_.loop(s.outer).is_rvar)
                << "rfactor: RVar " << graph_.loop(s.old).var << " is fused of an RVar and a Var";
            ranges_[size_t(s.old)] = {"", 0, range(s.inner).extent * range(s.outer).extent};
            return;
        }
        const ReductionVariable old = range(s.old);
        if (s.kind == Split::Kind::Rename) {
            ranges_[size_t(s.outer)] = old;
            return;
        }
        ranges_[size_t(s.outer)] = {"", 0, simplify((old.extent + s.factor - 1) / s.factor)};
        ranges_[size_t(s.inner)] = {"", 0, s.factor};
    }

    bool has_tail(const LoopStep &s) const {
        const auto factor = as_const_int(s.factor);
        int64_t rest = 0;
        return !factor || !reduce_modulo(range(s.old).extent, *factor, &rest) || rest != 0;
    }

    // The iterations of a split that the old loop has.
    void limit(const LoopStep &s) {
        if (has_tail(s)) {
            predicate = both(predicate, likely(iteration(s) < range(s.old).extent));
        }
    }

    Expr iteration(const LoopStep &s) const {
        return value(s.outer) * s.factor + value(s.inner);
    }

    // A loop in terms of those of the nest.
    Expr value(int loop) const {
        const LoopStep *s = graph_.replaced_by(loop);
        if (!s) {
            return Variable::make(Int(32), graph_.loop(loop).var);
        }
        const Expr min = range(loop).min;
        switch (s->kind) {
        case Split::Kind::Split: {
            const Expr e = offset(min, iteration(*s));
            // The predicate sees to it; bounds inference does not look into sums in conditions.
            return has_tail(*s) ? Call::make(Int(32), Intrinsic::unsafe_promise_clamped,
                                             {e, min, min + range(loop).extent - 1})
                                : e;
        }
        case Split::Kind::Rename:
            return value(s->outer);
        case Split::Kind::Fuse:
            break;
        }
        const Expr inner_extent = range(s->inner).extent;
        return offset(min, loop == s->inner ? value(s->old) % inner_extent
                                            : value(s->old) / inner_extent);
    }

    const ReductionVariable &range(int loop) const {
        return ranges_[size_t(loop)];
    }

    const LoopGraph graph_;
    std::vector<ReductionVariable> ranges_;  // of the loops of the graph; names do not matter
};

std::vector<Expr> calls_of(const Function &f, const std::vector<Expr> &args, bool by_name) {
    std::vector<Expr> calls;
    for (int i = 0; i < f.outputs(); i++) {
        calls.push_back(Call::make(f.output_types()[size_t(i)], f.name(), args, CallKind::Func, i,
                                   by_name ? SymbolPtr() : SymbolPtr(f.contents())));
    }
    return calls;
}

class Factoring {
public:
    Factoring(const Stage &stage, std::vector<std::pair<RVar, Var>> preserved)
        : stage_(stage), definition_(stage.edit()), preserved_(std::move(preserved)),
          leaves_(stage.function(), definition_) {
        check();
        sort_by_loops();
        update_ = internal::prove_associative(function().name(), definition_);
        user_assert(update_.associative()) << "rfactor of " << stage_.name()
                                           << ": the update could not be shown to be associative";
    }

    Func run() {
        Function part = define_part();
        merge(part);
        return Func(part);
    }

private:
    const Function &function() const {
        return stage_.function();
    }

    void check() const {
        const std::string what = "rfactor of " + stage_.name();
        user_assert(!definition_.is_init) << what << ": only update definitions can be factored";
        std::set<std::string> rvars, vars(function().args().begin(), function().args().end());
        for (const auto &entry : preserved_) {
            user_assert(leaves_.loops.count(entry.first.name()))
                << what << ": there is no reduction loop " << entry.first.name();
            user_assert(rvars.insert(entry.first.name()).second)
                << what << ": RVar " << entry.first.name() << " is preserved twice";
            user_assert(vars.insert(entry.second.name()).second)
                << what << ": Var " << entry.second.name() << " is already a dimension";
        }
    }

    // The new dimensions are in the order of the loops, the innermost first, in whatever order they are
    // given: what is next to each other in the loops is so in memory.
    void sort_by_loops() {
        const std::vector<Dim> &dims = definition_.schedule.dims;
        const auto place = [&](const std::pair<RVar, Var> &entry) {
            return std::find_if(dims.begin(), dims.end(),
                                [&](const Dim &d) { return d.var == entry.first.name(); });
        };
        std::stable_sort(preserved_.begin(), preserved_.end(),
                         [&](const auto &a, const auto &b) { return place(a) < place(b); });
    }

    bool is_preserved(const std::string &rvar) const {
        return std::any_of(preserved_.begin(), preserved_.end(),
                           [&](const auto &entry) { return entry.first.name() == rvar; });
    }

    // The loops of the stage over RVars that are preserved, or over those that are not, innermost
    // first.
    std::vector<ReductionVariable> reduction_loops(bool preserved) const {
        std::vector<ReductionVariable> result;
        for (const Dim &d : definition_.schedule.dims) {
            auto it = leaves_.loops.find(d.var);
            if (it != leaves_.loops.end() && is_preserved(d.var) == preserved) {
                result.push_back(it->second);
            }
        }
        return result;
    }

    Function define_part() const {
        Function part(internal::unique_name(function().name() + "_part"));
        std::vector<std::string> args = function().args();
        std::map<std::string, Expr> replacements, coordinates;
        Expr within_loops = const_true();
        for (const auto &entry : preserved_) {
            const ReductionVariable &loop = leaves_.loops.at(entry.first.name());
            const Expr coordinate = entry.second, end = loop.min + loop.extent;
            args.push_back(entry.second.name());
            coordinates[entry.first.name()] = coordinate;
            replacements[entry.first.name()] = Call::make(
                Int(32), Intrinsic::unsafe_promise_clamped, {coordinate, loop.min, end - 1});
            within_loops = both(within_loops, loop.min <= coordinate && coordinate < end);
        }
        part.define(args, update_.identities);

        const ReductionDomain domain(internal::unique_name('r'), reduction_loops(false));
        for (const ReductionVariable &rv : domain.domain()) {
            replacements[rv.var] = Variable::make(Int(32), rv.var, domain.symbol());
            coordinates[rv.var] = replacements[rv.var];
        }
        std::map<std::string, Expr> originals;
        for (const auto &entry : leaves_.originals) {
            originals[entry.first] = substitute(replacements, entry.second);
        }
        std::vector<Expr> update_args, ys;
        for (const Expr &e : definition_.args) {
            update_args.push_back(substitute(originals, e));
        }
        for (const auto &entry : preserved_) {
            update_args.emplace_back(entry.second);
        }
        for (const Expr &e : update_.ys) {
            ys.push_back(substitute(originals, e));
        }
        part.define_update(update_args, update_.apply(calls_of(part, update_args, true), ys),
                           domain);
        const Expr predicate = both(substitute(originals, definition_.predicate),
                                    substitute(coordinates, leaves_.predicate));
        finish_loops_of_part(part, both(within_loops, predicate));
        return part;
    }

    // The loops keep their order and what directives said of them, as far as that does not make
    // their iterations race now. A dimension that is new stands where the loop did.
    void finish_loops_of_part(const Function &part, const Expr &predicate) const {
        Definition &d = *part->updates[0];
        d.predicate = predicate;
        std::vector<Dim> &dims = d.schedule.dims;
        const std::vector<std::string> order = order_of_part();
        const auto place = [&](const Dim &dim) {
            const auto it = std::find(order.begin(), order.end(), dim.var);
            return it == order.end() && dim.var == outermost_name ? order.size() + 1
                                                                  : size_t(it - order.begin());
        };
        std::stable_sort(dims.begin(), dims.end(),
                         [&](const Dim &a, const Dim &b) { return place(a) < place(b); });
        for (Dim &dim : dims) {
            if (dim.is_rvar()) {
                const DimType type = dim.dim_type;
                dim = dim_of(dim.var);
                dim.dim_type = type;
                dim.for_type = dim.is_parallel() && !dim.is_pure() ? ForType::Serial : dim.for_type;
            }
        }
    }

    // The loops of the stage, innermost first, by their names in the new Func.
    std::vector<std::string> order_of_part() const {
        std::vector<std::string> order;
        for (const Dim &d : definition_.schedule.dims) {
            const auto it = std::find_if(preserved_.begin(), preserved_.end(),
                                         [&](const auto &e) { return e.first.name() == d.var; });
            if (d.var != outermost_name) {
                order.push_back(it == preserved_.end() ? d.var : it->second.name());
            }
        }
        return order;
    }

    Dim dim_of(const std::string &var) const {
        for (const Dim &d : definition_.schedule.dims) {
            if (d.var == var) {
                return d;
            }
        }
        Dim dim;
        dim.var = var;
        return dim;
    }

    // Turns the stage into the reduction over what is preserved.
    void merge(const Function &part) {
        const ReductionDomain domain(internal::unique_name('r'), reduction_loops(true));
        std::vector<Expr> args, part_args;
        for (const std::string &arg : function().args()) {
            args.push_back(Variable::make(Int(32), arg));
        }
        part_args = args;
        for (const auto &entry : preserved_) {
            part_args.push_back(Variable::make(Int(32), entry.first.name(), domain.symbol()));
        }
        definition_.values =
            update_.apply(calls_of(function(), args, true), calls_of(part, part_args, false));
        part.edit()->frozen = true;
        set_loops_of_merge(args, domain);
    }

    void set_loops_of_merge(const std::vector<Expr> &args, const ReductionDomain &domain) {
        StageSchedule &s = definition_.schedule;
        std::vector<Dim> dims;
        for (const Dim &d : s.dims) {
            if (is_preserved(d.var) || (!d.is_rvar() && d.var != outermost_name)) {
                dims.push_back(d);
            }
        }
        // Where the old update stored to one place, the new one merges all of a dimension.
        for (size_t i = 0; i < args.size(); i++) {
            const Variable *v = definition_.args[i].as<Variable>();
            if (!v || v->symbol.defined() || v->name != function().args()[i]) {
                Dim dim;
                dim.var = function().args()[i];
                dims.push_back(dim);
            }
        }
        dims.push_back(dim_of(outermost_name));
        const LoopGraph graph(function().args(), s);
        std::vector<Split> splits;
        for (size_t i = 0; i < s.splits.size(); i++) {
            if (!graph.loop(graph.steps()[i].old).is_rvar) {
                splits.push_back(s.splits[i]);
            }
        }
        s.splits = splits;
        s.dims = dims;
        s.rvars = domain.domain();
        definition_.args = args;
        definition_.predicate = const_true();
        for (Dim &d : s.dims) {
            if (d.is_rvar()) {
                d.dim_type = internal::is_pure_rvar(definition_, function().name(), d.var)
                                 ? DimType::PureRVar
                                 : DimType::ImpureRVar;
            }
        }
    }

    const Stage stage_;
    Definition &definition_;
    std::vector<std::pair<RVar, Var>> preserved_;
    LeafLoops leaves_;
    internal::AssociativeUpdate update_;
};

}  // namespace

Func Stage::rfactor(const std::vector<std::pair<RVar, Var>> &preserved) {
    definition_->schedule.touched = true;
    return Factoring(*this, preserved).run();
}

Func Stage::rfactor(const RVar &r, const Var &v) {
    return rfactor({{r, v}});
}

}  // namespace calotype
