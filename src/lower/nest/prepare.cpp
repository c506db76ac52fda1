// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/nest/prepare.h"

#include <map>
#include <set>

#include "ir/mutator.h"
#include "ir/visitor.h"
#include "lower/bounds/func_value_bounds.h"
#include "lower/nest/copy_stage.h"
#include "lower/nest/decide_tails.h"
#include "lower/nest/extern_stage.h"
#include "lower/nest/fold_choices.h"
#include "lower/nest/resolve_language.h"
#include "lower/nest/stage_loops.h"
#include "lower/nest/validate_schedules.h"
#include "pipeline/fields.h"
#include "pipeline/infer_arguments.h"
#include "pipeline/inlined_calls.h"
#include "pipeline/level_text.h"
#include "support/text.h"
#include "target/registers.h"

namespace calotype::internal {

namespace {

void check_defined(const Environment &env) {
    for (const auto &entry : env) {
        const Function &f = entry.second;
        user_assert(f.has_pure_definition() || f.has_extern_definition())
            << "func " << f.name() << " is called but has no definition";
    }
}

void lock_levels(const Environment &env) {
    for (const auto &entry : env) {
        FuncSchedule &sched = entry.second.edit()->schedule;
        for (LoopLevel *level :
             {&sched.compute_level, &sched.store_level, &sched.hoist_storage_level}) {
            user_assert(level->defined())
                << "func " << entry.first << " has a loop level that was never set";
            level->lock();
            if (!level->is_root() && !level->is_inlined()) {
                user_assert(env.count(level->func_name()))
                    << "func " << entry.first << " is scheduled at " << level_text(*level)
                    << ", but the pipeline has no func " << level->func_name();
            }
        }
        // Storage goes where the computation is unless it was said otherwise.
        if (sched.store_level.is_inlined()) {
            sched.store_level = sched.compute_level;
        }
        if (sched.hoist_storage_level.is_inlined()) {
            sched.hoist_storage_level = sched.store_level;
        }
    }
}

/// Redirects calls of one Func to another.
class Redirect : public GraphMutator {
public:
    Redirect(const std::string &from, const Function &to) : from_(from), to_(to) {
    }

protected:
    Expr visit(const Call *op) override {
        Expr e = Mutator::visit(op);
        const Call *call = e.as<Call>();
        if (call->call_type == CallKind::Func && call->name == from_) {
            return Call::make(call->type, to_.name(), call->args, CallKind::Func, call->value_index,
                              to_.contents());
        }
        return e;
    }

private:
    const std::string &from_;
    const Function &to_;
};

void redirect_calls(const Function &consumer, const std::string &from, const Function &to) {
    Redirect redirect(from, to);
    for (int i = 0; i < consumer.stages(); i++) {
        if (consumer.stage(i)) {
            mutate_expressions(*consumer.stage(i),
                               [&](const Expr &e) { return redirect.mutate(e); });
        }
    }
    for (ExternFuncArgument &arg : consumer.edit()->extern_args) {
        if (arg.is_func() && arg.func->name == from) {
            arg.func = to.contents();
        } else if (arg.is_expr()) {
            arg.expr = redirect.mutate(arg.expr);
        }
    }
}

/// The Funcs by which `consumer` reads f: itself, or, where it does not call f, those that do of
/// all that it needs.
std::set<std::string> readers(const Function &consumer, const std::string &f,
                              const Environment &env) {
    const auto calls_f = [&](const Function &g) {
        return find_direct_calls(g, env).count(f) > 0;
    };
    if (calls_f(consumer)) {
        return {consumer.name()};
    }
    std::set<std::string> seen, found;
    std::vector<Function> open = {consumer};
    while (!open.empty()) {
        const Function g = open.back();
        open.pop_back();
        if (!seen.insert(g.name()).second || g.name() == f) {
            continue;
        }
        if (calls_f(g)) {
            found.insert(g.name());
        }
        for (const auto &callee : find_direct_calls(g, env)) {
            open.push_back(callee.second);
        }
    }
    return found;
}

/// For each Func that reads f, the wrapper to read instead. `f.in(g)` where g reads f by way of
/// others means these, unless they have a wrapper of their own.
std::map<std::string, Function> wrappers_by_reader(const Function &f, const Environment &env) {
    std::map<std::string, Function> result;
    for (const auto &[consumer, wrapper] : f.schedule().wrappers) {
        auto g = env.find(consumer);
        if (g != env.end()) {
            for (const std::string &reader : readers(g->second, f.name(), env)) {
                if (reader == consumer || reader != wrapper->name) {
                    result.emplace(reader, Function(wrapper));
                }
            }
        }
    }
    for (const auto &[consumer, wrapper] : f.schedule().wrappers) {
        if (env.count(consumer)) {
            result[consumer] = Function(wrapper);
        }
    }
    return result;
}

/// `f.in(g)`: g reads the wrapper instead of f. A wrapper for all consumers ("") leaves out
/// wrappers of f themselves.
void apply_wrappers(const Environment &env) {
    for (const auto &entry : env) {
        const Function &f = entry.second;
        const auto &wrappers = f.schedule().wrappers;
        std::set<std::string> wrapper_names;
        for (const auto &w : wrappers) {
            wrapper_names.insert(w.second->name);
        }
        if (wrappers.empty()) {
            continue;
        }
        const std::map<std::string, Function> by_reader = wrappers_by_reader(f, env);
        const auto for_all = wrappers.find("");
        for (const auto &consumer : env) {
            const auto w = by_reader.find(consumer.first);
            const bool is_own =
                wrapper_names.count(consumer.first) > 0 || consumer.first == f.name();
            if (w != by_reader.end() && (!is_own || wrappers.count(consumer.first))) {
                redirect_calls(consumer.second, f.name(), w->second);
            } else if (for_all != wrappers.end() && !is_own) {
                redirect_calls(consumer.second, f.name(), Function(for_all->second));
            }
        }
    }
}

/// Once they are applied: a stage that copies owns what it copies, which owned it as its wrapper.
void forget_wrappers(const Environment &env) {
    for (const auto &entry : env) {
        Function f = entry.second;
        f.edit()->schedule.wrappers.clear();
    }
}

/// Extern stages take buffers: in place of an inlined Func that is another's values they get that
/// one, and others have to be computed somewhere.
void pass_what_is_wrapped(const Function &consumer, const Environment &env) {
    for (ExternFuncArgument &arg : consumer.edit()->extern_args) {
        while (arg.is_func()) {
            const Function f(arg.func);
            if (!f.schedule().compute_level.is_inlined() || !f.can_be_inlined()) {
                break;
            }
            const std::vector<Expr> &values = f.stage(0)->values;
            const Call *call = values.size() == 1 ? wrapped_call(values[0], f.args()) : nullptr;
            user_assert(call) << "func " << f.name() << " is inlined, but extern stage "
                              << consumer.name() << " takes it as a buffer: say where it is "
                              << "computed, by compute_at or compute_root";
            if (call->call_type == CallKind::Func) {
                const Function &g = env.at(call->name);
                arg.func = g.contents();
                arg.value = g.outputs() > 1 ? call->value_index : -1;
            } else {
                arg = image_argument(*call);
            }
        }
    }
}

/// Producers before consumers, depth first, siblings by name; Funcs that are computed together
/// stand together.
class Order {
public:
    explicit Order(const Environment &env) : env_(env) {
        for (const auto &entry : env) {
            group_of_[entry.first] = entry.first;
        }
        for (const auto &entry : env) {
            join_fused(entry.second);
        }
    }
    std::vector<std::vector<std::string>> groups;

    void visit(const Function &f) {
        const std::string group = group_of_.at(f.name());
        State &state = states_[group];
        if (state == Done) {
            return;
        }
        std::vector<std::string> members;
        for (const auto &entry : group_of_) {
            if (entry.second == group) {
                members.push_back(entry.first);
            }
        }
        user_assert(state != Open) << "funcs " << join(members, ", ")
                                   << " are computed together, but one of them depends on another";
        state = Open;
        for (const std::string &name : members) {
            for (const auto &callee : find_direct_calls(env_.at(name), env_)) {
                internal_assert(env_.count(callee.first))
                    << callee.first << " is not in the pipeline";
                if (callee.first != name) {
                    visit(env_.at(callee.first));
                }
            }
        }
        states_[group] = Done;
        groups.push_back(members);
    }

private:
    enum State { New, Open, Done };

    void join_fused(const Function &f) {
        for (int i = 0; i < f.stages(); i++) {
            std::optional<StageKey> parent = f.stage(i) ? fused_with(*f.stage(i)) : std::nullopt;
            if (!parent) {
                continue;
            }
            user_assert(env_.count(parent->first))
                << "func " << f.name() << " is computed with " << parent->first
                << ", which is not in the pipeline";
            user_assert(env_.at(parent->first).schedule().compute_level ==
                        f.schedule().compute_level)
                << "func " << f.name() << " is computed with " << parent->first
                << ", but one is computed at " << level_text(f.schedule().compute_level)
                << " and the other at "
                << level_text(env_.at(parent->first).schedule().compute_level);
            const std::string from = group_of_[f.name()], to = group_of_[parent->first];
            for (auto &entry : group_of_) {
                entry.second = entry.second == from ? to : entry.second;
            }
        }
    }

    const Environment &env_;
    std::map<std::string, std::string> group_of_;
    std::map<std::string, State> states_;
};

/// Outputs are computed and stored at root: whoever calls the pipeline asks for all of them, so
/// that no loop of another stage could decide which part is needed.
void pin_outputs(const std::vector<Function> &outputs) {
    for (const Function &f : outputs) {
        FuncSchedule &sched = f.edit()->schedule;
        if (!sched.compute_level.is_inlined() && !sched.compute_level.is_root()) {
            user_warning << "func " << f.name()
                         << " is an output of the pipeline, so it is computed at root and not at "
                         << level_text(sched.compute_level);
        }
        sched.compute_level = sched.store_level = sched.hoist_storage_level = LoopLevel::root();
    }
}

// Leaves what the outputs use: copies and wrappers may stand in the place of all that a Func was.
void forget_unused(const std::vector<Function> &outputs, Environment *env) {
    Environment used;
    std::vector<Function> open = outputs;
    while (!open.empty()) {
        const Function f = open.back();
        open.pop_back();
        if (used.emplace(f.name(), f).second) {
            for (const auto &callee : find_direct_calls(f, *env)) {
                open.push_back(env->at(callee.first));
            }
        }
    }
    *env = std::move(used);
}

// An extern stage whose linkage is left open is called as the pipeline itself is.
void decide_mangling(const Function &f, const Target &target) {
    if (f->extern_mangling == NameMangling::Default) {
        const bool cpp = target.has_feature(Target::CPlusPlusMangling);
        f.edit()->extern_mangling = cpp ? NameMangling::CPlusPlus : NameMangling::C;
    }
}

class ReadsOfShapes : public GraphVisitor {
public:
    explicit ReadsOfShapes(std::map<Parameter, std::string> unknown)
        : unknown_(std::move(unknown)) {
    }

protected:
    void visit(const Variable *op) override {
        if (op->symbol && op->symbol->kind == SymbolKind::Parameter) {
            const auto it = unknown_.find(Parameter(op->symbol));
            user_assert(it == unknown_.end())
                << op->name << ", of the output buffer of func " << it->second
                << ", is used in a pipeline that func " << it->second << " is no output of";
        }
    }

private:
    std::map<Parameter, std::string> unknown_;  ///< whose Func each is
};

/// A result's shape is that of the buffer that is passed for it; other Funcs have none.
void check_shapes_that_are_read(const LowerContext &ctx) {
    std::map<Parameter, std::string> unknown;
    for (const auto &[name, f] : ctx.env) {
        for (const Parameter &p : f->output_buffers) {
            unknown[p] = name;
        }
    }
    for (const Function &f : ctx.outputs) {
        for (const Parameter &p : f->output_buffers) {
            unknown.erase(p);
        }
    }
    if (unknown.empty()) {
        return;
    }
    ReadsOfShapes reads(std::move(unknown));
    for (const auto &entry : ctx.env) {
        for_each_part<Expr>(*entry.second.contents(), [&](const Expr &e) { reads(e); });
    }
    for_each_part<Expr>(ctx.requirements, [&](const Expr &e) { reads(e); });
}

/// Buffers that were given to inputs of generators become constant images where they are not passed.
void embed_constants(LowerContext *ctx) {
    std::map<std::string, Parameter> &parameters = ctx->used.parameters;
    for (auto it = parameters.begin(); it != parameters.end();) {
        const auto &[name, p] = *it;
        if (p->is_constant && !is_argument(ctx->args, name)) {
            ctx->used.images[name] = Image(new ImageContents(name, p->buffer));
            it = parameters.erase(it);
        } else {
            ++it;
        }
    }
}

/// Takes the pipeline over, with copies of its Funcs.
void copy_source(const PipelineSource &source, LowerContext *ctx) {
    ctx->pipeline_name = source.name;
    ctx->args = source.args;
    ctx->requirements = source.requirements;
    ctx->custom_passes = source.custom_passes;
    ctx->trace_pipeline = source.trace_pipeline;
    user_assert(!source.outputs.empty()) << "pipeline " << source.name << " has no outputs";
    for (const Function &f : source.outputs) {
        user_assert(f.defined() && (f.has_pure_definition() || f.has_extern_definition()))
            << "output " << (f.defined() ? f.name() : "") << " of the pipeline has no definition";
    }
    deep_copy(source.outputs, &ctx->outputs, &ctx->env);
    for (const auto &[name, f] : ctx->env) {
        const std::vector<Requirement> &own = f->requirements;
        ctx->requirements.insert(ctx->requirements.end(), own.begin(), own.end());
    }
    check_defined(ctx->env);
}

void resolve_wrappers(LowerContext *ctx) {
    apply_wrappers(ctx->env);
    forget_wrappers(ctx->env);
    for (const auto &entry : ctx->env) {
        pass_what_is_wrapped(entry.second, ctx->env);
    }
    forget_unused(ctx->outputs, &ctx->env);
}

void decide_order(LowerContext *ctx) {
    Order order(ctx->env);
    for (const Function &f : ctx->outputs) {
        order.visit(f);
    }
    ctx->fused_groups = std::move(order.groups);
    for (const auto &group : ctx->fused_groups) {
        ctx->order.insert(ctx->order.end(), group.begin(), group.end());
    }
}

void find_parameters_used(LowerContext *ctx) {
    ctx->used = parameters_used(ctx->env, ctx->requirements);
    check_shapes_that_are_read(*ctx);
    validate_names(*ctx);
    for (const Function &f : ctx->outputs) {
        for (const Parameter &output : f->output_buffers) {
            // A schedule may ask for its shape; that does not make it an input.
            ctx->used.parameters.erase(output.name());
        }
    }
    embed_constants(ctx);
}

}  // namespace

std::unique_ptr<LowerContext> prepare(const PipelineSource &source, const Target &target) {
    auto ctx = std::make_unique<LowerContext>();
    ctx->target = with_instruction_sets(target);
    copy_source(source, ctx.get());
    pin_outputs(ctx->outputs);
    lock_levels(ctx->env);
    validate_schedules(*ctx);
    resolve_wrappers(ctx.get());
    resolve_language(*ctx);
    fold_choices(*ctx);
    make_copy_stages(*ctx);
    for (const auto &[name, f] : ctx->env) {
        decide_mangling(f, ctx->target);
        decide_tails(f);
    }
    decide_order(ctx.get());
    validate_groups(*ctx);
    find_parameters_used(ctx.get());
    ctx->link_plan = LinkPlan(source.linkables, ctx->used);
    ctx->func_bounds = func_value_bounds(*ctx);
    return ctx;
}

}  // namespace calotype::internal
