// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random pipelines under random GPU schedules give what a plain evaluator gives. One seed alone:
// CT_TEST_SEED=<seed>.
#include <cstdlib>

#include "gpu.h"
#include "pipelines/random/random_pipeline.h"

namespace calotype::test {
namespace {

/// Places every stage, and says how.
class Scheduler {
public:
    Scheduler(const RandomPipeline &p, BuiltPipeline &built, uint64_t seed)
        : p_(p), built_(built), dice_(seed) {
    }
    std::string text;

    void run() {
        output();
        for (size_t i = 0; i + 1 < built_.funcs.size(); i++) {
            stage(i);
        }
    }

private:
    void note(const Func &f, const std::string &directives) {
        text += f.name() + directives + "\n";
    }

    void output() {
        Func &f = built_.funcs.back();
        const int w = dice_.pick<int>({4, 8, 16}), h = dice_.pick<int>({2, 4, 8});
        f.gpu_tile(x, y, xi_, yi_, w, h, TailStrategy::GuardWithIf);
        note(f, ".gpu_tile(" + std::to_string(w) + ", " + std::to_string(h) + ")");
        if (dice_.chance(30)) {
            f.vectorize(xi_, 2, TailStrategy::GuardWithIf);
            note(f, ".vectorize(xi, 2)");
        }
        updates(f, p_.stages.back(), [](Stage s, const Var &v) {
            s.gpu_tile(v, Var("uo"), Var("ui"), 8, TailStrategy::GuardWithIf);
        });
    }

    /// The loops over pure variables of updates whose others must keep their order.
    template<typename Map>
    void updates(Func &f, const StageSpec &spec, Map map) {
        for (size_t i = 0; i < spec.updates.size(); i++) {
            const UpdateKind kind = spec.updates[i].kind;
            const bool rows = kind == UpdateKind::ScanRows;
            if (dice_.chance(70)) {
                map(f.update(int(i)), rows ? y : x);
                note(f, ".update(" + std::to_string(i) + ") on " + (rows ? "y" : "x"));
            }
        }
    }

    /// Of what kernels do not read and write at once, and images hold.
    void sometimes_texture(size_t i) {
        Func &f = built_.funcs[i];
        bool can_be = p_.stages[i].updates.empty();
        for (const Type &t : f.types()) {
            can_be = can_be && t.bits() <= 32;
        }
        if (can_be && dice_.chance(40)) {
            f.store_in(MemoryType::GPUTexture);
            note(f, " in texture");
        }
    }

    void stage(size_t i) {
        Func &f = built_.funcs[i];
        Func &out = built_.funcs.back();
        const bool has_tile = p_.stages.back().updates.empty();
        switch (dice_(has_tile ? 6 : 2)) {
        case 0:
            f.compute_root();
            note(f, ".compute_root()");
            sometimes_texture(i);
            return;
        case 1: {
            f.compute_root().gpu_tile(x, y, xi_, yi_, 8, 4, TailStrategy::GuardWithIf);
            note(f, ".compute_root().gpu_tile(8, 4)");
            sometimes_texture(i);
            updates(f, p_.stages[i], [](Stage s, const Var &v) {
                s.gpu_tile(v, Var("uo"), Var("ui"), 8, TailStrategy::GuardWithIf);
            });
            return;
        }
        case 2:
        case 3: {
            f.compute_at(out, x);
            const bool heap = dice_.chance(20), both = dice_.chance(60);
            if (heap) {
                f.store_in(MemoryType::Heap);
            }
            both ? f.gpu_threads(x, y) : f.gpu_threads(x);
            note(f, std::string(".compute_at(block)") + (heap ? " in heap" : "") +
                        (both ? ".gpu_threads(x, y)" : ".gpu_threads(x)"));
            updates(f, p_.stages[i], [](Stage s, const Var &v) { s.gpu_threads(v); });
            return;
        }
        case 4:
            f.compute_at(out, x);
            note(f, ".compute_at(block) by one thread");
            return;
        case 5:
            f.compute_at(out, yi_);
            note(f, ".compute_at(row of threads)");
            return;
        }
    }

    const RandomPipeline &p_;
    BuiltPipeline &built_;
    Dice dice_;
    const Var xi_{"xi"}, yi_{"yi"};
};

/// Whether the schedule drawn was legal.
bool run(uint64_t seed) {
    const RandomPipeline p = random_pipeline(seed);
    BuiltPipeline built = build(p);
    Scheduler scheduler(p, built, seed * 31 + 7);
    std::vector<Buffer<void>> buffers;
    try {
        scheduler.run();
        for (const Type &t : built.funcs.back().types()) {
            buffers.emplace_back(t, p.width, p.height);
            buffers.back().set_min(p.min_x, p.min_y);
        }
        built.funcs.back().realize(Realization(buffers), gpu_target());
    } catch (const CompileError &e) {
        if (std::getenv("CT_TEST_SEED")) {
            std::printf("%s\n%s\n", e.what(), scheduler.text.c_str());
        }
        return false;
    } catch (const RuntimeError &e) {
        // The update of one row wants an output that has it.
        EXPECT_NE(std::string(e.what()).find("must cover"), std::string::npos)
            << e.what() << "\nseed " << seed << "\n"
            << scheduler.text;
        return false;
    }
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + scheduler.text);
    Evaluator evaluate(p);
    const int output = int(p.stages.size()) - 1;
    for (size_t v = 0; v < buffers.size(); v++) {
        buffers[v].copy_to_host();
        for (int py = p.min_y; py < p.min_y + p.height; py++) {
            for (int px = p.min_x; px < p.min_x + p.width; px++) {
                const int64_t got = element(buffers[v], px, py);
                const int64_t want = evaluate(output, int(v), px, py);
                EXPECT_EQ(got, want) << "value " << v << " at " << px << ", " << py;
                if (got != want) {
                    return true;
                }
            }
        }
    }
    return true;
}

TEST(RandomGpuSchedules, change_no_result) {
    REQUIRE_GPU();
    if (const char *seed = std::getenv("CT_TEST_SEED")) {
        EXPECT_TRUE(run(std::strtoull(seed, nullptr, 10)));
        return;
    }
    const uint64_t seeds = 8;
    uint64_t compared = 0;
    for (uint64_t seed = 0; seed < seeds; seed++) {
        compared += run(seed) ? 1 : 0;
    }
    EXPECT_GT(compared, seeds / 4);
}

}  // namespace
}  // namespace calotype::test
