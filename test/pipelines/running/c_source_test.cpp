// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipelines as C++ source, compiled by the system's compiler into a library with a runtime of its
// own, give what they give when compiled in process.
#include <calotype/calotype.h>

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "pipelines/random/random_schedule.h"

namespace calotype::test {
namespace {

class CppSource : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        char name[] = "/tmp/calotype_c_source_XXXXXX";
        folder() = mkdtemp(name);
        compile_standalone_runtime(folder() + "/runtime.a", host());
    }
    static void TearDownTestSuite() {
        std::filesystem::remove_all(folder());
    }
    static std::string &folder() {
        static std::string folder;
        return folder;
    }
    static Target host() {
        return get_host_target().without_feature(Target::UserContext);
    }

    /// Fills the outputs. The library stays loaded: it has threads.
    static void run(Pipeline p, const std::vector<Buffer<void>> &outputs) {
        static int count = 0;
        const std::string name = "p" + std::to_string(count++), base = folder() + "/" + name;
        p.compile_to_c(base + ".cpp", {}, name, host());
        const std::string command = "c++ -std=c++17 -O1 -w -fPIC -shared " + base + ".cpp " +
                                    folder() + "/runtime.a -o " + base +
                                    ".so -lpthread -ldl -lm 2>" + base + ".log";
        ASSERT_EQ(std::system(command.c_str()), 0) << text_of(base + ".log");
        void *library = dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(library, nullptr) << dlerror();
        auto *call = reinterpret_cast<int (*)(void **)>(dlsym(library, (name + "_argv").c_str()));
        ASSERT_NE(call, nullptr);
        std::vector<void *> args;
        for (const Buffer<void> &b : outputs) {
            args.push_back(const_cast<calotype_buffer_t *>(b.raw_buffer()));
        }
        ASSERT_EQ(call(args.data()), 0);
    }

    static std::string text_of(const std::string &path) {
        std::ostringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    }

    Var x{"x"}, y{"y"}, yo{"yo"}, yi{"yi"};
    Func in{"in"}, rows{"rows"}, out{"out"};

    /// out = 16 x + 48 y + 53 + the parity of x + y, by way of two stages.
    void stencil() {
        in(x, y) = 4 * x + 12 * y + select((x + y) % 2 == 0, 0, 1);
        rows(x, y) = in(x, y) + in(x + 1, y);
        out(x, y) = rows(x, y) + rows(x, y + 1);
    }
    void expect_stencil(int width, int height) {
        Buffer<int> result(width, height);
        result.set_min(-3, 5);
        run(out, {result});
        int wrong = 0;
        result.for_each_element([&](int i, int j) {
            int expected = 0;
            for (int b = 0; b < 2; b++) {
                for (int a = 0; a < 2; a++) {
                    expected += 4 * (i + a) + 12 * (j + b) + ((i + a + j + b) % 2 == 0 ? 0 : 1);
                }
            }
            wrong += result(i, j) != expected;
        });
        EXPECT_EQ(wrong, 0);
    }
};

TEST_F(CppSource, parallel_loops_in_parallel_loops) {
    stencil();
    out.split(y, yo, yi, 4).parallel(yo).parallel(yi).vectorize(x, 4);
    rows.compute_at(out, yo).parallel(rows.args()[1]);
    expect_stencil(23, 17);
}

TEST_F(CppSource, async_at_root) {
    stencil();
    rows.compute_root().async();
    expect_stencil(9, 30);
}

TEST_F(CppSource, async_through_a_ring) {
    stencil();
    rows.hoist_storage_root().compute_at(out, y).async().ring_buffer(3);
    expect_stencil(5, 40);
}

TEST_F(CppSource, async_in_parallel_strips) {
    stencil();
    out.split(y, yo, yi, 8).parallel(yo);
    rows.hoist_storage(out, yo).compute_at(out, yi).async().ring_buffer(2);
    expect_stencil(11, 50);
}

TEST_F(CppSource, async_stages_that_feed_each_other) {
    stencil();
    rows.store_root().compute_at(out, y).async();
    in.store_root().compute_at(out, y).async();
    expect_stencil(8, 60);
}

TEST_F(CppSource, random_schedules) {
    int compared = 0;
    for (uint64_t seed = 200; seed < 206; seed++) {
        const RandomPipeline p = random_pipeline(seed);
        BuiltPipeline built = build(p);
        Directives directives;
        std::vector<Buffer<void>> expected, got;
        try {
            random_schedule(p, built, seed, directives);
            for (const Type &t : built.funcs.back().types()) {
                for (auto *buffers : {&expected, &got}) {
                    buffers->emplace_back(t, p.width, p.height);
                    buffers->back().set_min(p.min_x, p.min_y);
                }
            }
            built.funcs.back().realize(Realization(expected));
        } catch (const CompileError &) {
            continue;
        } catch (const RuntimeError &) {
            continue;  // the output is smaller than a tail strategy asks for
        }
        SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + directives.text());
        run(built.funcs.back(), got);
        for (size_t v = 0; v < got.size(); v++) {
            int wrong = 0;
            for (int j = p.min_y; j < p.min_y + p.height; j++) {
                for (int i = p.min_x; i < p.min_x + p.width; i++) {
                    wrong += element(got[v], i, j) != element(expected[v], i, j);
                }
            }
            EXPECT_EQ(wrong, 0) << "value " << v;
        }
        compared++;
    }
    EXPECT_GT(compared, 2);
}

}  // namespace
}  // namespace calotype::test
