// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Updates in kernels that index, decide and compute by what they write give what a plain evaluator gives. A thread has
// whole rows, whose iterations stay in order.
//     CT_TEST_SEED=<seed>, CT_TEST_SEEDS=<how many>: as pipelines/random/random_seeds.h says
#include <cstdlib>
#include <iostream>

#include "gpu.h"
#include "pipelines/random/random_schedule.h"
#include "pipelines/random/random_seeds.h"
#include "pipelines/random/random_updates.h"

namespace calotype::test {
namespace {

class Scheduler {
public:
    Scheduler(const RandomUpdates &p, BuiltUpdates &built, uint64_t seed, Directives &directives)
        : p_(p), b_(built), dice_(seed * 31 + 7), directives_(directives) {
    }

    void run() {
        const bool in_blocks = !p_.is_output && dice_.chance(60);
        if (!p_.is_output) {
            tile(b_.sum, "sum");
            if (in_blocks) {
                apply("f.compute_at(sum, vo)", [&] { b_.f.compute_at(b_.sum, vo_); });
            } else {
                apply("f.compute_root()", [&] { b_.f.compute_root(); });
            }
        }
        in_blocks ? threads(b_.f, "f") : tile(b_.f, "f");
        for (size_t i = 0; i < p_.updates.size(); i++) {
            const std::string text = "f.update(" + std::to_string(i) + ")";
            Stage stage = b_.f.update(int(i));
            loops(stage, text, b_.domains[i]);
            in_blocks ? threads(stage, text) : tile(stage, text);
        }
        if (dice_.chance(40)) {
            apply("table.compute_root()", [&] { b_.table.compute_root(); });
        }
    }

private:
    void apply(const std::string &text, const std::function<void()> &directive) {
        directives_.apply(text + ";", directive);
    }

    /// Blocks of some rows, in whole.
    void tile(Stage stage, const std::string &text) {
        const int rows = 1 + dice_(6);
        apply(text + ".split(v, vo, vi, " + std::to_string(rows) +
                  ").gpu_blocks(vo).gpu_threads(vi)",
              [&] {
                  stage.split(b_.v, vo_, vi_, rows, TailStrategy::GuardWithIf)
                      .gpu_blocks(vo_)
                      .gpu_threads(vi_);
              });
    }

    void threads(Stage stage, const std::string &text) {
        apply(text + ".gpu_threads(v)", [&] { stage.gpu_threads(b_.v); });
    }

    void loops(Stage stage, const std::string &text, const RDom &r) {
        for (int i = dice_(3); i > 0; i--) {
            const RVar var = r[dice_(r.dimensions())];
            if (dice_.chance(50)) {
                apply(text + ".unroll(" + var.name() + ")", [&] { stage.unroll(var); });
            } else {
                const int factor = 2 + dice_(3);
                apply(text + ".unroll(" + var.name() + ", " + std::to_string(factor) + ")",
                      [&] { stage.unroll(var, factor, TailStrategy::GuardWithIf); });
            }
        }
    }

    const RandomUpdates &p_;
    BuiltUpdates &b_;
    const Var vo_{"vo"}, vi_{"vi"};
    Dice dice_;
    Directives &directives_;
};

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
        std::vector<Buffer<void>> outputs = outputs_of(p);
        Pipeline(built.output).realize(Realization(outputs), gpu_target());
        for (Buffer<void> &b : outputs) {
            b.copy_to_host();
        }
        EXPECT_EQ(difference(p, outputs), "") << text(built, directives);
    } catch (const CompileError &e) {
        return refused(e);
    } catch (const InternalError &e) {
        ADD_FAILURE() << e.what() << "\n" << text(built, directives);
    }
    return true;
}

TEST(RandomGpuUpdates, go_where_what_they_write_says) {
    REQUIRE_GPU();
    compare_seeds(12, run_without);
}

}  // namespace
}  // namespace calotype::test
