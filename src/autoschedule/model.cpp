// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "autoschedule/model.h"

#include <set>

#include "arith/box.h"
#include "arith/simplify.h"
#include "autoschedule/check.h"
#include "autoschedule/work.h"
#include "ir/constants.h"
#include "lang/schedule/eager_inline.h"
#include "lower/bounds/func_value_bounds.h"
#include "lower/nest/stage_loops.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

constexpr double strided_cost = 2;  ///< beyond that of a load of neighbours
constexpr double gather_cost = 6;
constexpr double uniform_cost = 0.5;  ///< of one element for all lanes

Expr end_of(const std::string &dimension, const char *end) {
    return Variable::make(Int(32), dimension + end);
}

/// Two slots a dimension of the Func.
Slots slots_of(const Function &f) {
    Slots slots;
    for (int d = 0; d < f.dimensions(); d++) {
        slots[f.args()[size_t(d)] + ".min"] = 2 * d;
        slots[f.args()[size_t(d)] + ".max"] = 2 * d + 1;
    }
    return slots;
}

void add_ends(const Box &box, const Slots &slots, const Estimates &estimates, Read &read) {
    for (const Interval &interval : box.bounds) {
        read.mins.push_back(Formula::make(interval.min, slots, estimates.known()));
        read.maxs.push_back(Formula::make(interval.max, slots, estimates.known()));
    }
}

/// All expressions at once, so that what they have in common counts once.
Work work_of(const Definition &def, const std::string &lane) {
    std::vector<Expr> all = def.values;
    all.insert(all.end(), def.args.begin(), def.args.end());
    if (def.predicate.defined()) {
        all.push_back(def.predicate);
    }
    Work work;
    add_work(all, lane, work);
    return work;
}

}  // namespace

int FuncModel::vector_dimension(const Function &f) {
    const auto &storage = f.schedule().storage_dims;
    for (int d = 0; !storage.empty() && d < f.dimensions(); d++) {
        if (f.args()[size_t(d)] == storage[0].var) {
            return d;
        }
    }
    return 0;
}

ConcreteRegion region_read(const Read &read, const ConcreteRegion &region,
                           const ConcreteRegion &all) {
    std::vector<double> values;
    for (const ConcreteRange &range : region) {
        values.push_back(range.min);
        values.push_back(range.max);
    }
    ConcreteRegion result(read.mins.size());
    for (size_t d = 0; d < result.size(); d++) {
        const bool known = d < all.size();
        result[d].min = read.mins[d] ? (*read.mins[d])(values) : known ? all[d].min : 0;
        result[d].max = read.maxs[d] ? (*read.maxs[d])(values) : known ? all[d].max : 0;
    }
    return result;
}

double iterations(const StageModel &stage, const ConcreteRegion &region) {
    double product = stage.iterations_of_rdom;
    for (size_t d = 0; d < region.size(); d++) {
        product *= stage.pure[d] ? region[d].extent() : 1;
    }
    return product;
}

ModelBuilder::ModelBuilder(const std::vector<Function> &outputs,
                           const std::vector<Requirement> &requirements)
    : originals_(build_environment(outputs)),
      estimates_(parameters_used(originals_, requirements)) {
    for (const auto &entry : originals_) {
        check_is_not_scheduled(entry.second);
    }
    add_funcs(outputs);
    mark_what_stays_at_root(outputs);
    find_value_bounds();
    for (size_t i = 0; i < model_.funcs.size(); i++) {
        analyse_func(int(i));
    }
    find_consumers();
    find_regions();
}

void ModelBuilder::add_funcs(const std::vector<Function> &outputs) {
    std::vector<Function> copied_outputs;
    deep_copy(outputs, &copied_outputs, &copies_);
    for (const Function &f : order_by_calls(outputs, originals_)) {
        FuncModel func;
        func.original = f;
        func.f = copies_.at(f.name());
        for (const Type &t : f.output_types()) {
            func.bytes += t.bytes();
        }
        index_[f.name()] = int(model_.funcs.size());
        model_.funcs.push_back(func);
    }
}

void ModelBuilder::mark_what_stays_at_root(const std::vector<Function> &outputs) {
    for (const Function &f : outputs) {
        FuncModel &output = model_.funcs[size_t(index_.at(f.name()))];
        output.is_output = output.stays_at_root = true;
        output.region = estimates_.region_of_output(f);
    }
    for (FuncModel &func : model_.funcs) {
        func.stays_at_root |= func.f.has_extern_definition() || func.f.schedule().memoized;
        for (const ExternFuncArgument &arg : func.f.extern_arguments()) {
            if (arg.is_func()) {
                model_.funcs[size_t(index_.at(arg.func->name))].stays_at_root = true;
            }
        }
    }
}

void ModelBuilder::find_value_bounds() {
    LowerContext context;
    context.env = copies_;
    for (const FuncModel &func : model_.funcs) {
        context.order.push_back(func.f.name());
    }
    value_bounds_ = func_value_bounds(context);
}

int ModelBuilder::source_of(const std::string &name) {
    const auto func = index_.find(name);
    if (func != index_.end()) {
        return func->second;
    }
    for (size_t i = 0; i < model_.inputs.size(); i++) {
        if (model_.inputs[i].name == name) {
            return int(model_.funcs.size() + i);
        }
    }
    InputModel input;
    input.name = name;
    input.bytes = estimates_.bytes_of_input(name);
    input.region = estimates_.region_of_input(name).value_or(ConcreteRegion());
    model_.inputs.push_back(input);
    return int(model_.funcs.size() + model_.inputs.size() - 1);
}

StageModel ModelBuilder::analyse_stage(const Function &f, int stage) {
    const Definition &def = *f.stage(stage);
    StageModel result;
    result.pure.resize(size_t(f.dimensions()));
    Scope<Interval> vars;
    for (const PureVar &v : pure_vars(f, stage)) {
        vars.push(v.name, Interval(end_of(v.name, ".min"), end_of(v.name, ".max")));
        result.pure[size_t(v.dimension)] = true;
    }
    for (const ReductionVariable &rv : def.schedule.rvars) {
        const std::string what = "the domain of " + rv.var + " in func " + f.name();
        const double min = estimates_.require(rv.min, what);
        const double extent = estimates_.require(rv.extent, what);
        result.iterations_of_rdom *= std::max(1.0, extent);
        vars.push(rv.var, Interval(make_const(Int(32), int64_t(min)),
                                   make_const(Int(32), int64_t(min + extent - 1))));
    }
    const size_t v = size_t(FuncModel::vector_dimension(f));
    const bool vectors = v < result.pure.size() && result.pure[v];
    const Work work = work_of(def, vectors ? f.args()[v] : "");
    result.widest_bits = work.widest_bits;
    result.operations = work.operations;
    const Expr predicate = def.predicate.defined() ? def.predicate : const_true();
    const Stmt body = Provide::make(f.name(), def.values, def.args, predicate);
    const Slots slots = slots_of(f);
    for (const auto &[name, box] : boxes_touched(body, vars, value_bounds_)) {
        const bool own = name == f.name();
        if (!own || stage > 0) {
            Read read;
            read.source = source_of(name);
            const auto calls = work.calls.find(name);
            if (calls != work.calls.end()) {
                read.calls = calls->second.all;
                read.cost = read.calls + strided_cost * calls->second.strided +
                            gather_cost * calls->second.gathers -
                            (1 - uniform_cost) * calls->second.uniform;
            }
            add_ends(box, slots, estimates_, read);
            result.reads.push_back(std::move(read));
        }
    }
    return result;
}

/// An extern stage is taken to read, of its inputs, what it computes.
StageModel ModelBuilder::analyse_extern(const Function &f) {
    StageModel result;
    result.operations = 10;
    result.pure.assign(size_t(f.dimensions()), true);
    const Slots slots = slots_of(f);
    for (const ExternFuncArgument &arg : f.extern_arguments()) {
        if (!arg.is_func()) {
            continue;
        }
        Read read;
        read.source = index_.at(arg.func->name);
        read.calls = read.cost = 1;
        Box box(arg.func->args.size());
        for (size_t d = 0; d < box.size() && d < f.args().size(); d++) {
            box[d] = Interval(end_of(f.args()[d], ".min"), end_of(f.args()[d], ".max"));
        }
        add_ends(box, slots, estimates_, read);
        result.reads.push_back(std::move(read));
    }
    return result;
}

void ModelBuilder::analyse_func(int i) {
    FuncModel &func = model_.funcs[size_t(i)];
    func.stages.clear();
    if (func.f.has_extern_definition()) {
        func.stages.push_back(analyse_extern(func.f));
    } else {
        func.stages.push_back(analyse_stage(func.f, 0));
    }
    for (int stage = 1; stage < func.f.stages(); stage++) {
        func.stages.push_back(analyse_stage(func.f, stage));
    }
}

void ModelBuilder::find_consumers() {
    for (FuncModel &func : model_.funcs) {
        func.consumers.clear();
    }
    for (size_t i = 0; i < model_.funcs.size(); i++) {
        std::set<int> read_here;
        for (const StageModel &stage : model_.funcs[i].stages) {
            for (const Read &read : stage.reads) {
                read_here.insert(read.source);
            }
        }
        for (const int source : read_here) {
            if (!model_.is_input(source) && source != int(i) && !model_.funcs[i].is_inlined) {
                model_.funcs[size_t(source)].consumers.push_back(int(i));
            }
        }
    }
}

void ModelBuilder::add_region(int source, const ConcreteRegion &region) {
    ConcreteRegion &all = model_.is_input(source)
                              ? model_.inputs[size_t(source) - model_.funcs.size()].region
                              : model_.funcs[size_t(source)].region;
    std::optional<ConcreteRegion> grown;
    if (!all.empty()) {
        grown = all;
    }
    if (!region.empty()) {
        include(grown, region);
        all = *grown;
    }
}

void ModelBuilder::find_regions() {
    for (size_t i = model_.funcs.size(); i-- > 0;) {
        for (size_t stage = model_.funcs[i].stages.size(); stage-- > 0;) {
            for (const Read &read : model_.funcs[i].stages[stage].reads) {
                // What an update touches of its own Func is computed as well.
                const ConcreteRegion region = model_.funcs[i].region;
                const bool is_estimated =
                    model_.is_input(read.source) &&
                    estimates_.region_of_input(model_.input(read.source).name);
                if (!is_estimated && !(model_.funcs[i].is_output && read.source == int(i))) {
                    add_region(read.source, region_read(read, region, region));
                }
            }
        }
    }
}

void ModelBuilder::inline_func(int i) {
    FuncModel &func = model_.funcs[size_t(i)];
    const std::vector<int> consumers = func.consumers;
    func.is_inlined = true;
    for (const int c : consumers) {
        const Function &consumer = model_.funcs[size_t(c)].f;
        for (int stage = 0; stage < consumer.stages(); stage++) {
            inline_calls(func.f, *consumer.stage(stage));
        }
        analyse_func(c);
    }
    find_consumers();
}

}  // namespace calotype::internal
