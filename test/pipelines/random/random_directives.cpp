// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "random_directives.h"

#include <algorithm>
#include <iterator>

namespace calotype::test {

namespace {

class StageDirectives {
public:
    StageDirectives(Dice &dice, Directives &directives, const ScheduledStage &stage,
                    std::vector<ScheduledLoop> &loops)
        : dice_(dice), directives_(directives), s_(stage), stage_(stage.stage), loops_(loops) {
    }

    void one() {
        switch (dice_(8)) {
        case 0:
        case 1:
            return partition();
        case 2:
            return rename();
        case 3:
        case 4:
            return specialize();
        case 5:
            return fuse_rvars();
        case 6:
            apply("allow_race_conditions()", [&] { stage_.allow_race_conditions(); });
            return;
        default:
            if (s_.is_reduction) {
                apply("atomic(true)", [&] { stage_.atomic(true); });
            }
        }
    }

private:
    bool apply(const std::string &text, const std::function<void()> &f) {
        return directives_.apply(s_.text + "." + text + ";", f);
    }

    ScheduledLoop &loop() {
        return loops_[size_t(dice_(int(loops_.size())))];
    }

    VarOrRVar fresh(const VarOrRVar &like, const std::string &prefix) {
        const std::string name = prefix + std::to_string(names_++);
        return like.is_rvar ? VarOrRVar(RVar(name)) : VarOrRVar(Var(name));
    }

    void partition() {
        const VarOrRVar v = loop().var;
        switch (dice_(4)) {
        case 0:
            apply("never_partition(" + v.name() + ")", [&] { stage_.never_partition(v); });
            return;
        case 1:
            apply("always_partition(" + v.name() + ")", [&] { stage_.always_partition(v); });
            return;
        case 2:
            apply("partition(" + v.name() + ", Partition::Auto)",
                  [&] { stage_.partition(v, Partition::Auto); });
            return;
        default:
            apply("always_partition_all()", [&] { stage_.always_partition_all(); });
        }
    }

    void rename() {
        ScheduledLoop &l = loop();
        const VarOrRVar v = fresh(l.var, "n");
        if (apply("rename(" + l.var.name() + ", " + v.name() + ")",
                  [&] { stage_.rename(l.var, v); })) {
            l.var = v;
        }
    }

    /// Of two neighbours, whose iterations stay in order.
    void fuse_rvars() {
        for (size_t i = 0; i + 1 < loops_.size(); i++) {
            const ScheduledLoop inner = loops_[i], outer = loops_[i + 1];
            if (!inner.var.is_rvar || !outer.var.is_rvar || inner.marked || outer.marked) {
                continue;
            }
            const VarOrRVar fused = fresh(inner.var, "q");
            if (apply("fuse(" + inner.var.name() + ", " + outer.var.name() + ", " + fused.name() +
                          ")",
                      [&] { stage_.fuse(inner.var, outer.var, fused); })) {
                loops_[i] = {fused, inner.impure || outer.impure, false};
                loops_.erase(loops_.begin() + std::ptrdiff_t(i) + 1);
            }
            return;
        }
    }

    void specialize() {
        Stage special = stage_;
        if (!apply("specialize(condition)", [&] { special = stage_.specialize(s_.condition); })) {
            return;
        }
        const auto guard = TailStrategy::GuardWithIf;
        for (int i = dice_(3); i > 0; i--) {
            const ScheduledLoop l = loop();
            const int factor = 2 + dice_(3);
            const std::string text =
                "specialize(condition).%(" + l.var.name() + ", " + std::to_string(factor) + ")";
            const auto named = [&](const std::string &name) {
                return std::string(text).replace(text.find('%'), 1, name);
            };
            if (l.marked) {
                continue;
            }
            switch (dice_(4)) {
            case 0:
                apply(named("unroll"), [&] { special.unroll(l.var, factor, guard); });
                break;
            case 1:
                if (!l.impure) {
                    apply(named("vectorize"), [&] { special.vectorize(l.var, factor, guard); });
                }
                break;
            case 2:
                if (!l.impure) {
                    apply(named("parallel"), [&] { special.parallel(l.var, factor, guard); });
                }
                break;
            default:
                apply(named("rename"), [&] { special.rename(l.var, fresh(l.var, "s")); });
            }
        }
    }

    Dice &dice_;
    Directives &directives_;
    const ScheduledStage &s_;
    Stage stage_;
    std::vector<ScheduledLoop> &loops_;
    int names_ = 0;
};

}  // namespace

void draw_stage_directives(Dice dice, Directives &directives, const ScheduledStage &stage,
                           std::vector<ScheduledLoop> &loops) {
    StageDirectives draw(dice, directives, stage, loops);
    for (int i = dice.chance(30) ? 1 + dice(3) : 0; i > 0; i--) {
        draw.one();
    }
}

void draw_func_directives(Dice dice, Directives &directives, Func f, const std::string &name,
                          int width) {
    const bool is_output = width > 0;
    const auto sometimes = [&](int percent, const std::string &directive,
                               const std::function<void()> &apply) {
        if (dice.chance(percent)) {
            directives.apply(name + "." + directive + ";", apply);
        }
    };
    sometimes(4, "trace_loads()", [&] { f.trace_loads(); });
    sometimes(4, "trace_stores()", [&] { f.trace_stores(); });
    sometimes(4, "trace_realizations()", [&] { f.trace_realizations(); });
    const std::string multiple = std::to_string(2 + dice(4)), at = std::to_string(dice(3) - 1);
    if (is_output) {
        sometimes(8, "bound_extent(x, " + std::to_string(width) + ")",
                  [&] { f.bound_extent(x, width); });
        return;
    }
    const MemoryType memory =
        dice.pick<MemoryType>({MemoryType::Auto, MemoryType::Heap, MemoryType::Register});
    sometimes(8, "store_in(memory type " + std::to_string(int(memory)) + ")",
              [&] { f.store_in(memory); });
    sometimes(5, "align_storage(y, " + multiple + ")",
              [&] { f.align_storage(y, std::stoi(multiple)); });
    sometimes(5, "align_bounds(y, " + multiple + ", " + at + ")",
              [&] { f.align_bounds(y, std::stoi(multiple), std::stoi(at)); });
    sometimes(4, "align_extent(x, " + multiple + ")",
              [&] { f.align_extent(x, std::stoi(multiple)); });
    sometimes(4, "bound_storage(y, 64)", [&] { f.bound_storage(y, 64); });
    sometimes(5, "in().in()", [&] { f.in().in(); });
    if (dice.chance(4)) {
        directives.apply(name + ".memoize();", [&] { f.memoize(); });
        directives.apply(name + ".async();", [&] { f.async(); });
    }
}

}  // namespace calotype::test
