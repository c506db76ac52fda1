// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gpu_pipelines/random/gpu_schedule.h"

#include <algorithm>

#include "gpu_pipelines/random/gpu_storage.h"

namespace calotype::test {

const Features &all_gpu_features() {
    static const Features all = {"GPUShared",
                                 "GPUSharedAsync",
                                 "GPUTexture",
                                 "Heap",
                                 "Register",
                                 "Stack",
                                 "align_bounds",
                                 "align_storage",
                                 "async",
                                 "at_block",
                                 "at_host",
                                 "at_row",
                                 "at_thread",
                                 "atomic",
                                 "atomic_in_block",
                                 "bound_storage",
                                 "by_hand",
                                 "compute_root",
                                 "compute_with",
                                 "fold_storage",
                                 "fuse",
                                 "gpu_single_thread",
                                 "gpu_tile1",
                                 "gpu_tile2",
                                 "gpu_tile3",
                                 "hoist_storage",
                                 "image_in",
                                 "in",
                                 "lanes",
                                 "lanes_in_block",
                                 "never_partition",
                                 "parallel",
                                 "reorder_storage",
                                 "rfactor",
                                 "ring_buffer",
                                 "specialize",
                                 "store_at",
                                 "store_root",
                                 "threads",
                                 "threads_in_row",
                                 "unroll",
                                 "vectorize",
                                 "vectors_in_kernel"};
    return all;
}

namespace {

bool same(const GpuLevel &a, const GpuLevel &b) {
    return a.func == b.func && a.stage == b.stage && a.var.name() == b.var.name();
}

class GpuScheduler {
public:
    GpuScheduler(GpuProgram &p, uint64_t seed, Directives &directives, Features &features)
        : p_(p), dice_(seed), draw_(dice_, directives, features), storage_(draw_, named_),
          nodes_(p.funcs.size()) {
    }

    void run() {
        if (dice_.chance(20)) {
            pick_together();
        }
        for (int i = int(nodes_.size()) - 1; i >= 0; i--) {
            if (p_.is_used(i)) {
                node(i);
            }
        }
        for (size_t i = 0; i < p_.images.size(); i++) {
            image(int(i));
        }
        if (first_ >= 0) {
            together();
        }
    }

private:
    struct Node {
        bool is_inlined = false, is_done = false;
        GpuLevels around;               ///< the loops that it is computed in
        std::vector<GpuLevels> stages;  ///< the loops of each of its stages
    };

    GpuFunc &func(int i) {
        return p_.funcs[size_t(i)];
    }

    NamedLevel named(const GpuLevel &l) {
        const GpuFunc &f = func(l.func);
        return {LoopLevel(f.func, l.var, l.stage),
                "LoopLevel(" + f.name + ", " + l.var.name() + ", " + std::to_string(l.stage) + ")"};
    }

    void node(int i) {
        const GpuLevels all = levels([&](const GpuStage &s) { return s.reads.count(i) != 0; });
        if (i == first_ || i == second_) {
            root(i, {});
        } else if (func(i).is_output) {
            const bool is_read =
                std::any_of(p_.funcs.begin(), p_.funcs.end(), [&](const GpuFunc &f) {
                    return f.name != func(i).name && p_.depends(int(&f - p_.funcs.data()), i);
                });
            root(i, {}, is_read);
        } else if (func(i).stages.size() == 1 && dice_.chance(15)) {
            nodes_[size_t(i)].is_inlined = true;
        } else if (all.empty() || dice_.chance(22)) {
            root(i, all);
        } else {
            inside(i, all);
        }
    }

    // ---- where Funcs are computed ----

    void root(int i, const GpuLevels &all, bool directive = true) {
        if (!func(i).is_output || directive) {
            draw_.apply("compute_root", func(i).name + ".compute_root()",
                        [&] { func(i).func.compute_root(); });
        }
        if (!func(i).is_output) {
            if (func(i).may_be_texture) {
                draw_.sometimes(15, "GPUTexture",
                                func(i).name + ".store_in(MemoryType::GPUTexture)",
                                [&] { func(i).func.store_in(MemoryType::GPUTexture); });
            }
            draw_.sometimes(4, "async", func(i).name + ".async()", [&] { func(i).func.async(); });
            storage_.shape(func(i));
        }
        stages(i, {});
        if (!all.empty() && dice_.chance(30)) {
            Func wrapper;
            if (draw_.apply("in", "Func " + func(i).name + "_in = " + func(i).name + ".in()",
                            [&] { wrapper = func(i).func.in(); })) {
                copy(wrapper, func(i).name + "_in", all);
            }
        }
    }

    /// Rather serial loops, along which windows slide and copies are fetched ahead.
    GpuLevels around_of(const GpuLevels &all) {
        size_t at = size_t(dice_(int(all.size())));
        for (size_t l = 0; l < all.size(); l++) {
            if (all[l].is_serial && dice_.chance(40)) {
                at = l;
                break;
            }
        }
        return GpuLevels(all.begin(), all.begin() + std::ptrdiff_t(at) + 1);
    }

    void inside(int i, const GpuLevels &all) {
        const GpuLevels around = around_of(all);
        const GpuLevel &at = around.back();
        const NamedLevel to = named(at);
        static const char *const features[] = {"at_host", "at_block", "at_row", "at_thread"};
        if (!draw_.apply(features[int(at.where)], func(i).name + ".compute_at(" + to.text + ")",
                         [&] { func(i).func.compute_at(to.level); })) {
            root(i, {});
            return;
        }
        nodes_[size_t(i)].around = around;
        storage_.inside(func(i), around);
        storage_.shape(func(i));
        stages(i, around);
    }

    void copy(const Func &f, const std::string &name, const GpuLevels &all) {
        GpuFunc g;
        g.name = name;
        g.func = f;
        g.vars = f.args();
        g.stages.push_back({Stage(g.func),
                            name,
                            StageDraw::Loops(g.vars.begin(), g.vars.end()),
                            {},
                            true,
                            {},
                            {}});
        inside(add(g), all);
    }

    int add(const GpuFunc &f) {
        p_.funcs.push_back(f);
        nodes_.emplace_back();
        return int(nodes_.size()) - 1;
    }

    void image(int i) {
        ImageParam &im = p_.images[size_t(i)];
        if (im.type().bits() <= 32 && im.dimensions() > 1) {
            draw_.sometimes(8, "GPUTexture", im.name() + ".store_in(MemoryType::GPUTexture)",
                            [&] { im.store_in(MemoryType::GPUTexture); });
        }
        const GpuLevels all = levels([&](const GpuStage &s) { return s.images.count(i) != 0; });
        if (!all.empty() && dice_.chance(30)) {
            Func wrapper;
            if (draw_.apply("image_in", "Func " + im.name() + "_in = " + im.name() + ".in()",
                            [&] { wrapper = im.in(); })) {
                copy(wrapper, im.name() + "_in", all);
            }
        }
    }

    // ---- their stages ----

    void stages(int i, const GpuLevels &around) {
        nodes_[size_t(i)].is_done = true;
        for (int s = 0; s < int(func(i).stages.size()); s++) {
            const GpuStage &stage = func(i).stages[size_t(s)];
            const bool may_split = s > 0 && stage.may_be_atomic && !stage.impure.empty();
            const int part = may_split && dice_.chance(25) ? rfactor(i, s) : -1;
            GpuLevels levels = loops(i, s, around);
            for (GpuLevel &l : levels) {
                l.func = i;
            }
            levels.insert(levels.begin(), around.begin(), around.end());
            nodes_[size_t(i)].stages.push_back(levels);
            if (part >= 0) {
                levels.empty() || dice_.chance(25) ? root(part, {}) : inside(part, levels);
            }
        }
    }

    GpuLevels loops(int i, int s, const GpuLevels &around) {
        const std::string prefix = func(i).name + "_" + (s == 0 ? "" : "u" + std::to_string(s));
        StageDraw stage(draw_, p_, func(i).stages[size_t(s)], prefix, s);
        if (i == first_ || i == second_) {
            return {};
        }
        return around.empty() || around.back().where == Where::Host
                   ? loops_outside(stage)
                   : loops_in_kernel(stage, around.back());
    }

    /// The reduction in two: the Func that is returned does a part of each.
    int rfactor(int i, int s) {
        GpuStage stage = func(i).stages[size_t(s)];
        const std::string part = func(i).name + "_part" + std::to_string(s);
        const size_t at = size_t(dice_(int(stage.impure.size())));
        const RVar r = stage.impure[at].rvar, ro(part + "_o"), ri(part + "_i");
        const int n = dice_.pick<int>({2, 3, 4, 8});
        const bool keeps_inner = dice_.chance(60);
        const Var u(part + "_u");
        Func f;
        const RVar &kept = keeps_inner ? ri : ro;
        if (!draw_.apply("rfactor",
                         stage.text + ".split(" + r.name() + ", " + ro.name() + ", " + ri.name() +
                             ", " + std::to_string(n) + "); Func " + part + " = " + stage.text +
                             ".rfactor(" + kept.name() + ", " + u.name() + ")",
                         [&] {
                             stage.stage.split(r, ro, ri, n);
                             f = func(i).func.update(s - 1).rfactor(kept, u);
                         })) {
            return -1;
        }
        GpuFunc g;
        g.name = part;
        g.func = f;
        g.vars = f.args();
        const StageDraw::Loops all(g.vars.begin(), g.vars.end());
        g.stages.push_back({Stage(g.func), part, all, {}, true, {}, {}});
        GpuStage update = stage;
        update.stage = g.func.update(0);
        update.text = part + ".update(0)";
        update.pure.insert(update.pure.begin(), u);
        update.impure[at] = keeps_inner ? ro : ri;
        g.stages.push_back(update);
        stage.impure = {kept};
        const int index = add(g);
        stage.reads = {index};
        stage.images.clear();
        func(i).stages[size_t(s)] = stage;
        return index;
    }

    // ---- what is used where ----

    /// The loops that are around all stages that read something, from the outside in.
    GpuLevels levels(const std::function<bool(const GpuStage &)> &reads) {
        GpuLevels common;
        bool first = true;
        for (size_t c = 0; c < nodes_.size(); c++) {
            for (size_t s = 0; s < func(int(c)).stages.size(); s++) {
                const Node &n = nodes_[c];
                if (!reads(func(int(c)).stages[s]) || !(n.is_inlined || n.is_done)) {
                    continue;
                }
                const GpuLevels here =
                    n.is_inlined
                        ? levels([&](const GpuStage &t) { return t.reads.count(int(c)) != 0; })
                        : n.stages[s];
                const auto end =
                    std::mismatch(common.begin(), common.end(), here.begin(), here.end(), same);
                common = first ? here : GpuLevels(common.begin(), end.first);
                first = false;
            }
        }
        return common;
    }

    // ---- two Funcs in the same loops ----

    void pick_together() {
        for (int i = 0; i < int(p_.funcs.size()); i++) {
            for (int j = i + 1; j < int(p_.funcs.size()); j++) {
                const GpuFunc &a = func(i), &b = func(j);
                if (a.stages.size() == 1 && b.stages.size() == 1 && a.is_output == b.is_output &&
                    a.vars.size() > 1 && b.vars.size() > 1 &&
                    a.vars[0].name() == b.vars[0].name() && a.vars[1].name() == b.vars[1].name() &&
                    p_.is_used(i) && p_.is_used(j) && !p_.depends(j, i)) {
                    first_ = i;
                    second_ = j;
                }
            }
        }
    }

    void together() {
        const int w = dice_.pick<int>({4, 8, 16}), h = dice_.pick<int>({1, 2, 4});
        const Var xi("xi"), yi("yi");
        for (const int i : {first_, second_}) {
            GpuFunc &f = func(i);
            draw_.apply(
                "gpu_tile2",
                f.name + ".gpu_tile(" + f.vars[0].name() + ", " + f.vars[1].name() + ", xi, yi, " +
                    std::to_string(w) + ", " + std::to_string(h) + ", TailStrategy::GuardWithIf)",
                [&] {
                    f.func.gpu_tile(f.vars[0], f.vars[1], xi, yi, w, h, TailStrategy::GuardWithIf);
                });
        }
        const Var v = dice_.chance(50) ? func(first_).vars[0] : xi;
        draw_.apply("compute_with",
                    func(second_).name + ".compute_with(" + func(first_).name + ", " + v.name() +
                        ")",
                    [&] { func(second_).func.compute_with(func(first_).func, v); });
    }

    GpuProgram &p_;
    Dice dice_;
    Draw draw_;
    const std::function<NamedLevel(const GpuLevel &)> named_ = [this](const GpuLevel &l) {
        return named(l);
    };
    GpuStorage storage_;
    std::vector<Node> nodes_;
    int first_ = -1, second_ = -1;  ///< that are computed together
};

}  // namespace

Features random_gpu_schedule(GpuProgram &program, uint64_t seed, Directives &directives) {
    Features features;
    GpuScheduler(program, seed, directives, features).run();
    return features;
}

}  // namespace calotype::test
