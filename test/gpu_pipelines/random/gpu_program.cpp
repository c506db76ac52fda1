// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gpu_pipelines/random/gpu_program.h"

#include <algorithm>

namespace calotype::test {

namespace {

GpuFunc gpu_func(const Func &f, const std::string &name, const std::vector<Var> &vars) {
    GpuFunc g;
    g.name = name;
    g.func = f;
    g.vars = vars;
    for (int i = 0; i <= f.num_update_definitions(); i++) {
        GpuStage s{i == 0 ? Stage(g.func) : g.func.update(i - 1),
                   name + (i == 0 ? "" : ".update(" + std::to_string(i - 1) + ")"),
                   std::vector<VarOrRVar>(vars.begin(), vars.end()),
                   {},
                   true,
                   {},
                   {}};
        g.stages.push_back(s);
    }
    return g;
}

std::vector<VarOrRVar> rvars(const RDom &r) {
    std::vector<VarOrRVar> all;
    for (int d = 0; r.defined() && d < r.dimensions(); d++) {
        all.emplace_back(r[d]);
    }
    return all;
}

void set_update(GpuStage &stage, const StageSpec &s, const UpdateSpec &u,
                const std::vector<RVar> &r) {
    const bool is_one_row = u.kind == UpdateKind::Row || u.kind == UpdateKind::ScanColumns;
    const bool is_one_column = u.kind == UpdateKind::ScanRows || u.kind == UpdateKind::Histogram;
    stage.impure.assign(r.begin(), r.end());
    stage.reads = {u.tap.source};
    stage.pure = is_one_row      ? std::vector<VarOrRVar>{x}
                 : is_one_column ? std::vector<VarOrRVar>{y}
                                 : std::vector<VarOrRVar>{x, y};
    // Sums of these are not the same in another order, or the iterations see each other.
    const bool is_small_float = s.type.is_float() && s.type.bits() == 16;
    const bool is_ordered = u.kind == UpdateKind::ScanColumns || u.kind == UpdateKind::ScanRows ||
                            u.kind == UpdateKind::WhileSmall;
    stage.may_be_atomic = !is_small_float && !is_ordered;
}

}  // namespace

bool GpuProgram::depends(int reader, int func) const {
    const std::vector<GpuStage> &stages = funcs[size_t(reader)].stages;
    return reader == func || std::any_of(stages.begin(), stages.end(), [&](const GpuStage &s) {
               return std::any_of(s.reads.begin(), s.reads.end(),
                                  [&](int read) { return depends(read, func); });
           });
}

bool GpuProgram::is_used(int func) const {
    for (size_t i = 0; i < funcs.size(); i++) {
        if (funcs[i].is_output && depends(int(i), func)) {
            return true;
        }
    }
    return false;
}

GpuProgram gpu_program(const RandomPipeline &p, BuiltPipeline &built) {
    GpuProgram g;
    g.images = built.images;
    g.condition = built.funcs.back().output_buffers()[0].dim(0).extent() > 12;
    for (size_t i = 0; i < built.funcs.size(); i++) {
        const StageSpec &s = p.stages[i];
        GpuFunc f = gpu_func(built.funcs[i], "f" + std::to_string(i), {x, y});
        f.is_output = p.is_output(int(i));
        f.may_be_texture = s.updates.empty() && s.type.bits() <= 32;
        for (const Tap &t : s.taps) {
            f.stages[0].reads.insert(t.source);
        }
        for (size_t u = 0; u < s.updates.size(); u++) {
            set_update(f.stages[u + 1], s, s.updates[u], built.rvars[i][u]);
        }
        g.funcs.push_back(f);
    }
    return g;
}

GpuProgram gpu_program(const RandomUpdates &p, BuiltUpdates &built) {
    GpuProgram g;
    g.condition = built.min > 0;
    g.is_exact = true;
    g.funcs.push_back(gpu_func(built.table, "table", built.table.args()));
    GpuFunc f = gpu_func(built.f, "f", {built.x, built.v});
    f.is_output = p.is_output;
    for (size_t i = 1; i < f.stages.size(); i++) {
        f.stages[i].pure = {built.v};
        f.stages[i].impure = rvars(built.domains[i - 1]);
        f.stages[i].may_be_atomic = false;
        f.stages[i].reads = {0};
    }
    g.funcs.push_back(f);
    if (!p.is_output) {
        GpuFunc sum = gpu_func(built.sum, "sum", built.sum.args());
        sum.is_output = true;
        sum.stages[0].reads = {1};
        g.funcs.push_back(sum);
    }
    return g;
}

GpuProgram gpu_program(const ReductionProgram &p, ReductionFuncs &built) {
    using Kind = ReductionTerm::Kind;
    GpuProgram g;
    g.images = built.images;
    g.condition = built.params[0] > 3;
    for (size_t i = 0; i < built.stages.size(); i++) {
        const ReductionFuncs::Stage &s = built.stages[i];
        GpuFunc f = gpu_func(s.func, s.func.name(), s.vars);
        f.is_output = i + 1 == built.stages.size();
        for (size_t n = 0; n < f.stages.size(); n++) {
            GpuStage &stage = f.stages[n];
            for (size_t j = 0; j < i; j++) {
                if (uses(p.stages[i], n, Kind::Read, int(j))) {
                    stage.reads.insert(int(j));
                }
            }
            for (size_t j = 0; j < g.images.size(); j++) {
                if (uses(p.stages[i], n, Kind::Pixel, int(j))) {
                    stage.images.insert(int(j));
                }
            }
            if (n > 0) {
                const ReductionUpdate &u = p.stages[i].updates[n - 1];
                stage.impure = rvars(s.domains[n - 1]);
                stage.pure.clear();
                for (size_t d = 0; d < s.vars.size(); d++) {
                    if (u.is_pure(int(d))) {
                        stage.pure.emplace_back(s.vars[d]);
                    }
                }
            }
        }
        g.funcs.push_back(f);
    }
    return g;
}

}  // namespace calotype::test
