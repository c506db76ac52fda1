// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Updates that index, decide and compute by what they write give what a plain evaluator gives, under random schedules.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "pipelines/guarded_malloc.h"
#include "random_schedule.h"
#include "random_seeds.h"
#include "random_updates.h"

namespace calotype::test {
namespace {

class Scheduler {
public:
    Scheduler(const RandomUpdates &p, BuiltUpdates &built, uint64_t seed, Directives &directives)
        : p_(p), b_(built), dice_(seed * 77 + 5), directives_(directives) {
    }

    void run() {
        if (!p_.is_output) {
            loops(b_.sum, "sum", {b_.x, b_.v});
            place_f();
        }
        loops(b_.f, "f", {b_.x, b_.v});
        for (size_t i = 0; i < p_.updates.size(); i++) {
            std::vector<VarOrRVar> vars;
            for (int d = 0; d < b_.domains[i].dimensions(); d++) {
                vars.emplace_back(b_.domains[i][d]);
            }
            vars.emplace_back(b_.v);
            loops(b_.f.update(int(i)), "f.update(" + std::to_string(i) + ")", vars);
        }
        place_table();
    }

private:
    void apply(const std::string &text, const std::function<void()> &directive) {
        directives_.apply(text + ";", directive);
    }

    void place_f() {
        switch (dice_(3)) {
        case 0:
            return apply("f.compute_root()", [&] { b_.f.compute_root(); });
        case 1:
            return apply("f.compute_at(sum, v)", [&] { b_.f.compute_at(b_.sum, b_.v); });
        default:
            return apply("f.compute_at(sum, x)", [&] { b_.f.compute_at(b_.sum, b_.x); });
        }
    }

    void place_table() {
        if (dice_.chance(40)) {
            apply("table.compute_root()", [&] { b_.table.compute_root(); });
        } else if (dice_.chance(40)) {
            const int stage = dice_(int(p_.updates.size())) + 1;
            apply("table.compute_at(LoopLevel(f, v, " + std::to_string(stage) + "))",
                  [&] { b_.table.compute_at(LoopLevel(b_.f, b_.v, stage)); });
        }
    }

    /// Of one stage, innermost first.
    void loops(Stage stage, const std::string &text, std::vector<VarOrRVar> vars) {
        for (int i = dice_(5); i > 0; i--) {
            const size_t at = size_t(dice_(int(vars.size())));
            const VarOrRVar var = vars[at];
            const std::string name = var.name();
            const int factor = dice_.pick<int>({2, 3, 4, 8});
            const std::string factored =
                "(" + name + ", " + std::to_string(factor) + ", TailStrategy::GuardWithIf)";
            const auto tail = TailStrategy::GuardWithIf;
            switch (dice_(7)) {
            case 0:
            case 1:
                apply(text + ".unroll" + factored, [&] { stage.unroll(var, factor, tail); });
                break;
            case 2:
                apply(text + ".vectorize" + factored, [&] { stage.vectorize(var, factor, tail); });
                break;
            case 3:
                apply(text + ".unroll(" + name + ")", [&] { stage.unroll(var); });
                break;
            case 4:
                std::swap(vars[at], vars[0]);
                apply(text + ".reorder(" + name + " first)", [&] { stage.reorder(vars); });
                break;
            case 5:
                apply(text + ".parallel(" + name + ")", [&] { stage.parallel(var); });
                break;
            case 6:
                split(stage, text, vars, at);
                break;
            }
        }
        if (dice_.chance(15)) {
            const int bound = dice_(9) - 4;
            apply(text + ".specialize(min > " + std::to_string(bound) + ")",
                  [&] { stage.specialize(b_.min > bound); });
        }
    }

    void split(Stage &stage, const std::string &text, std::vector<VarOrRVar> &vars, size_t at) {
        const VarOrRVar old = vars[at];
        const std::string number = std::to_string(fresh_++);
        const auto part = [&](const std::string &name) {
            return old.is_rvar ? VarOrRVar(RVar(name + number)) : VarOrRVar(Var(name + number));
        };
        const VarOrRVar outer = part("o"), inner = part("i");
        const int factor = 1 + dice_(5);
        const bool applied = directives_.apply(
            text + ".split(" + old.name() + ", " + outer.name() + ", " + inner.name() + ", " +
                std::to_string(factor) + ", TailStrategy::GuardWithIf);",
            [&] { stage.split(old, outer, inner, factor, TailStrategy::GuardWithIf); });
        if (applied) {
            vars[at] = inner;
            vars.insert(vars.begin() + std::ptrdiff_t(at) + 1, outer);
        }
    }

    const RandomUpdates &p_;
    BuiltUpdates &b_;
    Dice dice_;
    Directives &directives_;
    int fresh_ = 0;
};

/// Whether the schedule drawn, without such directives, was legal.
bool run_without(uint64_t seed, const std::set<int> &skipped, bool keeps_places) {
    const RandomUpdates p(seed);
    BuiltUpdates built(p);
    Directives directives;
    directives.skipped = skipped;
    directives.keeps_places = keeps_places;
    try {
        Scheduler(p, built, seed, directives).run();
        if (seed_looked_at()) {
            std::cout << text(built, directives) << std::flush;
        }
        const std::vector<Buffer<void>> outputs = outputs_of(p);
        Pipeline pipeline(built.output);
        pipeline.jit_handlers().custom_malloc = guarded_malloc;
        pipeline.jit_handlers().custom_free = guarded_free;
        pipeline.realize(Realization(outputs), get_jit_target_from_environment());
        EXPECT_EQ(difference(p, outputs), "") << text(built, directives);
    } catch (const CompileError &e) {
        return refused(e);
    } catch (const RuntimeError &e) {
        return refused(e);
    } catch (const InternalError &e) {
        ADD_FAILURE() << e.what() << "\n" << text(built, directives);
    }
    return true;
}

TEST(RandomUpdates, go_where_what_they_write_says) {
    compare_seeds(60, run_without);
}

}  // namespace
}  // namespace calotype::test
