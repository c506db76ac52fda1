// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gpu_pipelines/random/gpu_schedule.h"

#include <algorithm>
#include <map>

namespace calotype::test {

const Features &all_gpu_features() {
    static const Features all = {"gpu_tile",
                                 "gpu_line",
                                 "serial_rows",
                                 "lanes",
                                 "fuse",
                                 "gpu_single_thread",
                                 "vectorize",
                                 "unroll",
                                 "specialize",
                                 "never_partition",
                                 "atomic",
                                 "atomic_in_block",
                                 "slices",
                                 "lanes_in_block",
                                 "vectors_in_kernel",
                                 "threads",
                                 "threads_in_row",
                                 "compute_root",
                                 "compute_at",
                                 "store_at",
                                 "fold_storage",
                                 "ring_buffer",
                                 "hoist_storage",
                                 "rfactor",
                                 "compute_with",
                                 "in",
                                 "GPUShared",
                                 "GPUSharedAsync",
                                 "Register",
                                 "Stack",
                                 "Heap",
                                 "GPUTexture",
                                 "reorder_storage",
                                 "align_storage",
                                 "align_bounds",
                                 "bound_storage"};
    return all;
}

namespace {

using Levels = std::vector<GpuLevel>;

bool same(const GpuLevel &a, const GpuLevel &b) {
    return a.func == b.func && a.stage == b.stage && a.var.name() == b.var.name();
}

class GpuScheduler {
public:
    GpuScheduler(const RandomPipeline &p, BuiltPipeline &built, uint64_t seed,
                 Directives &directives, Features &features)
        : p_(p), built_(built), dice_(seed), draw_(dice_, directives, features),
          nodes_(p.stages.size()) {
        for (const Func &f : built.funcs) {
            funcs_.emplace("f" + std::to_string(funcs_.size()), f);
        }
    }

    void run() {
        images();
        for (int i = int(p_.stages.size()) - 1; i >= 0; i--) {
            if (is_used(i)) {
                node(i);
            }
        }
        together();
    }

private:
    struct Node {
        bool is_inlined = false, is_root = false;
        Levels chain;                ///< the loops that it is computed in
        std::vector<Levels> stages;  ///< the loops of each of its stages
    };

    Func &func(int i) {
        return built_.funcs[size_t(i)];
    }
    static std::string name(int i) {
        return "f" + std::to_string(i);
    }
    LoopLevel loop_level(const GpuLevel &l) {
        return LoopLevel(funcs_.at(l.func), l.var, l.stage);
    }
    static std::string text(const GpuLevel &l) {
        return "LoopLevel(" + l.func + ", " + l.var.name() + ", " + std::to_string(l.stage) + ")";
    }
    Expr wide() {
        return built_.funcs.back().output_buffers()[0].dim(0).extent() > 12;
    }

    void images() {
        for (ImageParam &image : built_.images) {
            if (image.type().bits() <= 32) {
                draw_.sometimes(8, "GPUTexture", image.name() + ".store_in(MemoryType::GPUTexture)",
                                [&] { image.store_in(MemoryType::GPUTexture); });
            }
            draw_.sometimes(10, "", image.name() + ".set_host_alignment(16)",
                            [&] { image.set_host_alignment(16); });
        }
    }

    void node(int i) {
        Node &n = nodes_[size_t(i)];
        const Levels all = p_.is_output(i) ? Levels() : levels(i);
        const bool has_updates = !p_.stages[size_t(i)].updates.empty();
        if (!p_.is_output(i) && !has_updates && dice_.chance(12)) {
            n.is_inlined = true;
            return;
        }
        if (p_.is_output(i) || all.empty() || dice_.chance(25)) {
            root(i, all);
            return;
        }
        inside(i, all);
    }

    // ---- kernels ----

    void root(int i, const Levels &all) {
        Node &n = nodes_[size_t(i)];
        n.is_root = true;
        if (!p_.is_output(i)) {
            draw_.apply("compute_root", name(i) + ".compute_root()",
                        [&] { func(i).compute_root(); });
            sometimes_texture(i);
            storage(i);
        }
        for (size_t s = 0; s <= p_.stages[size_t(i)].updates.size(); s++) {
            StageLoops loops = stage(i, int(s));
            n.stages.push_back(loops.at_root());
        }
        if (!p_.is_output(i) && !all.empty() && dice_.chance(35)) {
            wrapper(i, all);
        }
    }

    void sometimes_texture(int i) {
        const StageSpec &s = p_.stages[size_t(i)];
        if (s.updates.empty() && s.type.bits() <= 32) {
            draw_.sometimes(20, "GPUTexture", name(i) + ".store_in(MemoryType::GPUTexture)",
                            [&] { func(i).store_in(MemoryType::GPUTexture); });
        }
    }

    /// A copy of what is computed at root, in the kernels that read it.
    void wrapper(int i, const Levels &all) {
        const std::string wrapped = "f" + std::to_string(i) + "_in";
        bool made = draw_.apply("in", "Func " + wrapped + " = " + name(i) + ".in()",
                                [&] { funcs_.emplace(wrapped, func(i).in()); });
        if (!made) {
            return;
        }
        Func f = funcs_.at(wrapped);
        const GpuLevel at = all[size_t(pick_level(all))];
        draw_.apply("compute_at", wrapped + ".compute_at(" + text(at) + ")",
                    [&] { f.compute_at(loop_level(at)); });
        memory(wrapped, f, at);
        const std::vector<Var> vars = f.args();
        StageLoops loops(draw_, f, wrapped, wrapped + "_", 0);
        loops.pure = {vars[0], vars[1]};
        loops.in_kernel(at);
    }

    /// Stages of the pipeline as loops to map.
    StageLoops stage(int i, int index) {
        const std::string text =
            name(i) + (index == 0 ? "" : ".update(" + std::to_string(index - 1) + ")");
        const std::string prefix = name(i) + "_" + (index == 0 ? "" : "u" + std::to_string(index));
        StageLoops loops(draw_, index == 0 ? Stage(func(i)) : func(i).update(index - 1), text,
                         prefix, index);
        loops.is_output = p_.is_output(i);
        loops.wide = wide();
        loops.pure = {x, y};
        if (index > 0) {
            const StageSpec &s = p_.stages[size_t(i)];
            const UpdateSpec &u = s.updates[size_t(index - 1)];
            const std::vector<RVar> &r = built_.rvars[size_t(i)][size_t(index - 1)];
            loops.impure.assign(r.begin(), r.end());
            switch (u.kind) {
            case UpdateKind::Row:
            case UpdateKind::ScanColumns:
                loops.pure = {x};
                break;
            case UpdateKind::ScanRows:
            case UpdateKind::Histogram:
                loops.pure = {y};
                break;
            default:
                break;
            }
            const bool is_exact = !s.type.is_float() || s.type.bits() > 16;
            const bool is_ordered = u.kind == UpdateKind::ScanColumns ||
                                    u.kind == UpdateKind::ScanRows ||
                                    u.kind == UpdateKind::WhileSmall;
            loops.may_be_atomic = is_exact && !s.tuple && !is_ordered && dice_.chance(60);
        }
        return loops;
    }

    // ---- inside of kernels ----

    /// Rather those along which windows slide and copies are fetched ahead.
    int pick_level(const Levels &all) {
        for (int l = 0; l < int(all.size()); l++) {
            if (all[size_t(l)].is_serial && dice_.chance(50)) {
                return l;
            }
        }
        return dice_(int(all.size()));
    }

    void inside(int i, const Levels &all) {
        Node &n = nodes_[size_t(i)];
        const int at = pick_level(all);
        if (!draw_.apply("compute_at", name(i) + ".compute_at(" + text(all[size_t(at)]) + ")",
                         [&] { func(i).compute_at(loop_level(all[size_t(at)])); })) {
            n.is_inlined = p_.stages[size_t(i)].updates.empty();
            return;
        }
        n.chain.assign(all.begin(), std::next(all.begin(), at + 1));
        windows(i, all, at);
        memory(name(i), func(i), all[size_t(at)]);
        storage(i);
        for (size_t s = 0; s <= p_.stages[size_t(i)].updates.size(); s++) {
            StageLoops loops = stage(i, int(s));
            if (s > 0 && loops.may_be_atomic && loops.impure.size() == 1 && dice_.chance(50)) {
                parts(i, loops, int(s), all[size_t(at)]);
            }
            n.stages.push_back(loops.in_kernel(all[size_t(at)]));
        }
    }

    /// The reduction in two, the first of which has threads for its RVar.
    void parts(int i, StageLoops &loops, int index, const GpuLevel &at) {
        const std::string part = name(i) + "_part" + std::to_string(index);
        const RVar r = loops.impure[0].rvar, ro("ro"), ri("ri");
        const Var u("u");
        const std::string update = name(i) + ".update(" + std::to_string(index - 1) + ")";
        const int n = dice_.pick<int>({2, 4, 8});
        const std::string split =
            update + ".split(" + r.name() + ", ro, ri, " + std::to_string(n) + ")";
        const bool made = draw_.apply(
            "rfactor", split + "; Func " + part + " = " + update + ".rfactor(ri, u)", [&] {
                func(i).update(index - 1).split(r, ro, ri, n);
                funcs_.emplace(part, func(i).update(index - 1).rfactor(ri, u));
            });
        if (!made) {
            return;
        }
        loops.impure = {ri};
        Func f = funcs_.at(part);
        draw_.apply("", part + ".compute_at(" + text(at) + ")",
                    [&] { f.compute_at(loop_level(at)); });
        memory(part, f, at);
        for (int s = 0; s < 2; s++) {
            StageLoops of_part(draw_, s == 0 ? Stage(f) : f.update(0),
                               part + (s == 0 ? "" : ".update(0)"), part + "_" + std::to_string(s),
                               s);
            of_part.pure = loops.pure;
            of_part.pure.insert(of_part.pure.begin(), u);
            of_part.in_kernel(at);
        }
    }

    /// Where storage may be of what is computed there: iterations of blocks and threads would race.
    int around_serial_loops(const Levels &all, int at) {
        while (at > 0 && (all[size_t(at)].is_serial || dice_.chance(1))) {
            at--;
        }
        return at;
    }

    /// Values that are kept from one iteration to the next.
    void windows(int i, const Levels &all, int at) {
        Func &f = func(i);
        int store = at;
        const int outermost = around_serial_loops(all, at);
        if (outermost < at && dice_.chance(75)) {
            store = outermost + dice_(at - outermost);
            draw_.apply("store_at", name(i) + ".store_at(" + text(all[size_t(store)]) + ")",
                        [&] { f.store_at(loop_level(all[size_t(store)])); });
            const int factor = dice_.pick<int>({1, 2, 3, 4, 8, 8, 16});
            const Var &along = dice_.chance(70) ? y : x;
            draw_.sometimes(60, "fold_storage",
                            name(i) + ".fold_storage(" + along.name() + ", " +
                                std::to_string(factor) + ")",
                            [&] { f.fold_storage(along, factor); });
        }
        const int out = around_serial_loops(all, store);
        if (out < store && dice_.chance(30)) {
            const int hoist = out + dice_(store - out);
            draw_.apply("hoist_storage",
                        name(i) + ".hoist_storage(" + text(all[size_t(hoist)]) + ")",
                        [&] { f.hoist_storage(loop_level(all[size_t(hoist)])); });
            const int n = 2 + dice_(2);
            draw_.sometimes(50, "ring_buffer", name(i) + ".ring_buffer(" + std::to_string(n) + ")",
                            [&] { f.ring_buffer(n); });
        }
        draw_.sometimes(3, "", name(i) + ".async()", [&] { f.async(); });
    }

    void memory(const std::string &name, Func &f, const GpuLevel &at) {
        static const std::map<Where, std::vector<std::pair<const char *, MemoryType>>> kinds = {
            {Where::Block,
             {{"GPUShared", MemoryType::GPUShared},
              {"GPUSharedAsync", MemoryType::GPUSharedAsync},
              {"GPUSharedAsync", MemoryType::GPUSharedAsync},
              {"Heap", MemoryType::Heap},
              {"Register", MemoryType::Register}}},
            {Where::Row,
             {{"GPUShared", MemoryType::GPUShared},
              {"GPUSharedAsync", MemoryType::GPUSharedAsync},
              {"Register", MemoryType::Register},
              {"Heap", MemoryType::Heap}}},
            {Where::Thread,
             {{"Stack", MemoryType::Stack},
              {"Register", MemoryType::Register},
              {"GPUShared", MemoryType::GPUShared},
              {"Heap", MemoryType::Heap}}}};
        if (dice_.chance(50)) {
            return;
        }
        const auto [text, type] = dice_.pick(kinds.at(at.where));
        draw_.apply(text, name + ".store_in(MemoryType::" + text + ")",
                    [&f, type = type] { f.store_in(type); });
        if (type == MemoryType::GPUSharedAsync) {
            const int n = 2 + dice_(2);
            draw_.sometimes(40, "ring_buffer", name + ".ring_buffer(" + std::to_string(n) + ")",
                            [&] { f.ring_buffer(n); });
        }
    }

    void storage(int i) {
        Func &f = func(i);
        draw_.sometimes(8, "reorder_storage", name(i) + ".reorder_storage(y, x)",
                        [&] { f.reorder_storage(y, x); });
        draw_.sometimes(8, "align_storage", name(i) + ".align_storage(x, 8)",
                        [&] { f.align_storage(x, 8); });
        draw_.sometimes(6, "align_bounds", name(i) + ".align_bounds(x, 4)",
                        [&] { f.align_bounds(x, 4); });
        draw_.sometimes(4, "bound_storage", name(i) + ".bound_storage(x, 256)",
                        [&] { f.bound_storage(x, 256); });
    }

    // ---- what is used where ----

    bool uses(int consumer, size_t stage, int i) const {
        const StageSpec &s = p_.stages[size_t(consumer)];
        if (stage > 0) {
            return s.updates[stage - 1].tap.source == i;
        }
        return std::any_of(s.taps.begin(), s.taps.end(),
                           [&](const Tap &t) { return t.source == i; });
    }

    /// The loops of kernels that are around all uses of Func i, from the outside in.
    Levels levels(int i) {
        Levels common;
        bool first = true;
        for (int c = int(p_.stages.size()) - 1; c > i; c--) {
            const Node &n = nodes_[size_t(c)];
            for (size_t s = 0; s <= p_.stages[size_t(c)].updates.size(); s++) {
                if (!uses(c, s, i) || !is_used(c)) {
                    continue;
                }
                Levels here = n.is_inlined ? levels(c) : n.chain;
                if (!n.is_inlined) {
                    here.insert(here.end(), n.stages[s].begin(), n.stages[s].end());
                }
                const auto end =
                    std::mismatch(common.begin(), common.end(), here.begin(), here.end(), same);
                common = first ? here : Levels(common.begin(), end.first);
                first = false;
            }
        }
        return common;
    }

    bool is_used(int i) const {
        for (int c = int(p_.stages.size()) - p_.outputs; c < int(p_.stages.size()); c++) {
            if (depends(c, i)) {
                return true;
            }
        }
        return false;
    }

    bool depends(int consumer, int i) const {
        if (consumer == i) {
            return true;
        }
        for (int c = i + 1; c <= consumer; c++) {
            for (size_t s = 0; s <= p_.stages[size_t(c)].updates.size(); s++) {
                if (uses(c, s, i) && depends(consumer, c)) {
                    return true;
                }
            }
        }
        return false;
    }

    /// Two Funcs of a place in the same loops.
    void together() {
        for (int i = 0; i + 1 < int(p_.stages.size()); i++) {
            for (int j = i + 1; j < int(p_.stages.size()); j++) {
                const Node &a = nodes_[size_t(i)], &b = nodes_[size_t(j)];
                if (a.stages.empty() || b.stages.empty() || depends(j, i) ||
                    a.chain.size() != b.chain.size() ||
                    !std::equal(a.chain.begin(), a.chain.end(), b.chain.begin(), same)) {
                    continue;
                }
                if (a.stages[0].empty() || b.stages[0].empty() ||
                    a.stages[0][0].var.name() != b.stages[0][0].var.name()) {
                    continue;
                }
                const VarOrRVar v = a.stages[0][0].var;
                draw_.sometimes(40, "compute_with",
                                name(j) + ".compute_with(" + name(i) + ", " + v.name() + ")",
                                [&] { func(j).compute_with(func(i), v); });
                return;
            }
        }
    }

    const RandomPipeline &p_;
    BuiltPipeline &built_;
    Dice dice_;
    Draw draw_;
    std::vector<Node> nodes_;
    std::map<std::string, Func> funcs_;
};

}  // namespace

void random_gpu_schedule(const RandomPipeline &p, BuiltPipeline &built, uint64_t seed,
                         Directives &directives, Features &features) {
    GpuScheduler(p, built, seed, directives, features).run();
}

}  // namespace calotype::test
