// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/bounds/stage_reads.h"

#include "arith/order.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "lower/names.h"
#include "lower/nest/extern_stage.h"
#include "lower/nest/inline_functions.h"
#include "lower/nest/provide.h"
#include "lower/nest/stage_loops.h"

namespace calotype::internal {

namespace {

enum class Narrowing : uint8_t { ByComparisons, ByAll };

/// What a select does not choose is not needed:
///
///     f(x) = select(x < 100, g(x), h(x))   ->   f(x) = if_then_else(x < 100, g(x), h(x))
///
/// for finding out what is. Not in coordinates, whose bounds are found as they stand, and only so
/// deep into selects of selects, as each condition is looked at for all that it chooses.
class ChooseBySelects : public GraphMutator {
public:
    explicit ChooseBySelects(Narrowing narrowing) : narrowing_(narrowing) {
    }
    bool has_connectives = false;  ///< some condition is made of several

private:
    using GraphMutator::visit;
    static constexpr int deepest = 8;

    Expr visit(const Select *op) override {
        const bool connected = is_connected(op->condition);
        has_connectives |= connected;
        const bool chooses = op->condition.type().is_scalar() && depth_ < deepest &&
                             (narrowing_ == Narrowing::ByAll || !connected);
        depth_++;
        const Expr a = mutate(op->true_value), b = mutate(op->false_value);
        depth_--;
        const Expr condition = mutate(op->condition);
        return chooses ? Call::make(op->type, Intrinsic::if_then_else, {condition, a, b})
                       : Select::make(condition, a, b);
    }
    Expr visit(const Call *op) override {
        const bool reads = op->call_type == CallKind::Func || op->call_type == CallKind::Image;
        return reads ? Expr(op) : GraphMutator::visit(op);
    }
    static bool is_connected(const Expr &condition) {
        const Expr simple = remove_likelies(simplify(condition));
        const Not *no = simple.as<Not>();
        return no ? is_connected(no->a) : simple.as<And>() || simple.as<Or>();
    }

    const Narrowing narrowing_;
    int depth_ = 0;
};

Scope<Interval> stage_scope(const Function &f, int stage, const Definition &def) {
    Scope<Interval> vars;
    const auto add = [&](const std::string &name) {
        vars.push(names::loop(f.name(), stage, name),
                  Interval(names::var(names::stage_min(f.name(), stage, name)),
                           names::var(names::stage_max(f.name(), stage, name))));
    };
    for (const PureVar &v : pure_vars(f, stage)) {
        add(v.name);
    }
    for (const ReductionVariable &rv : def.schedule.rvars) {
        add(rv.var);
    }
    return vars;
}

class FindReads {
public:
    FindReads(const LowerContext &ctx, const Function &f, int stage, Narrowing narrowing)
        : ctx_(ctx), f_(f), stage_(stage), narrowing_(narrowing) {
        if (stage == 0 && f.has_extern_definition()) {
            add_inputs_of_extern();
        } else {
            add(*f.stage(stage));
        }
    }

    Reads reads;
    bool has_connectives = false;  ///< some condition is made of several

private:
    void add_inputs_of_extern() {
        for (const auto &input : extern_inputs(f_)) {
            Box box(input.first.dimensions());
            for (int d = 0; d < input.first.dimensions(); d++) {
                box[d] = Interval(names::var(names::query_min(f_.name(), input.second, d)),
                                  names::var(names::query_max(f_.name(), input.second, d)));
            }
            merge_boxes(reads[input.first.name()], box);
        }
    }

    void add(const Definition &def) {
        const Stmt body = expand_inlined(ctx_, body_of(def));
        const Scope<Interval> vars = stage_scope(f_, stage_, def);
        ChooseBySelects choose(narrowing_);
        const Stmt choosing = choose.mutate(body);
        has_connectives |= choose.has_connectives;
        for (const auto &[name, box] : boxes_needed(body, choosing, vars)) {
            if (ctx_.env.count(name)) {
                merge_boxes(reads[name], box);
            }
        }
        for (const Specialization &special : def.specializations) {
            if (special.definition) {
                add(*special.definition);
            }
        }
    }

    Stmt body_of(const Definition &def) const {
        std::vector<Expr> values, args;
        for (const Expr &e : def.values) {
            values.push_back(qualify(e, f_, stage_));
        }
        for (const Expr &e : def.args) {
            args.push_back(qualify(e, f_, stage_));
        }
        Stmt body = provide_all(f_.name(), values, args);
        if (!is_trivially_true(def.predicate)) {
            body = IfThenElse::make(qualify(def.predicate, f_, stage_), body);
        }
        for (const ReductionVariable &rv : def.schedule.rvars) {
            body = Block::make(
                Evaluate::make(qualify(rv.min, f_, stage_) + qualify(rv.extent, f_, stage_)), body);
        }
        return body;
    }

    /// What is read and matters. That a whole Func does not matter in a run is left to skip_stages:
    /// as a part of bounds it would make extents that are constant depend on the run.
    Reads boxes_needed(const Stmt &body, const Stmt &choosing, const Scope<Interval> &vars) const {
        Reads read = boxes_required(body, vars, ctx_.func_bounds);
        if (choosing.same_as(body)) {
            return read;
        }
        const Reads chosen = boxes_required(choosing, vars, ctx_.func_bounds);
        for (auto &[name, box] : read) {
            const auto it = chosen.find(name);
            const bool known = it != chosen.end() && it->second.size() == box.size() &&
                               it->second.used.defined() == box.used.defined();
            for (size_t d = 0; known && d < box.size(); d++) {
                if (it->second[d].is_bounded()) {
                    box[d] = tighter(box[d], it->second[d]);
                }
            }
        }
        return read;
    }

    /// What is chosen, but for ends that reach no less far without choosing: where a condition leaves a single
    /// constant, as c == 0 does, it takes the place of a coordinate, also where the loop is elsewhere.
    static Interval tighter(const Interval &all, const Interval &chosen) {
        const auto less_equal = [](const Expr &a, const Expr &b) {
            return a.defined() && b.defined() && known_less_equal(a, b);
        };
        return {less_equal(chosen.min, all.min) ? all.min : chosen.min,
                less_equal(all.max, chosen.max) ? all.max : chosen.max};
    }

    const LowerContext &ctx_;
    const Function &f_;
    const int stage_;
    const Narrowing narrowing_;
};

}  // namespace

StageReads reads_of_stage(const LowerContext &ctx, const Function &f, int stage) {
    const FindReads all(ctx, f, stage, Narrowing::ByAll);
    return {all.reads, all.has_connectives
                           ? FindReads(ctx, f, stage, Narrowing::ByComparisons).reads
                           : Reads()};
}

Stmt expand_inlined(const LowerContext &ctx, Stmt s) {
    for (size_t i = ctx.order.size(); i-- > 0;) {
        const Function &f = ctx.env.at(ctx.order[i]);
        if (ctx.is_inlined(f) && uses_buffer(s, ctx.order[i])) {
            s = inline_function(s, f);
        }
    }
    return s;
}

}  // namespace calotype::internal
