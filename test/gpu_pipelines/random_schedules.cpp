// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random pipelines under random GPU schedules give what a plain evaluator gives.
// Which seeds run pipelines/random/random_seeds.h says. With CT_TEST_PTX=<folder> they are not run: their kernels for CUDA
// go there, made for CT_JIT_TARGET if that has CUDA.
#include <cstdlib>

#include "gpu.h"
#include "gpu_pipelines/random/random_case.h"
#include "pipelines/random/random_seeds.h"

namespace calotype::test {
namespace {

/// With elements of all types, where the device has them.
Target target() {
    const Target t = gpu_target(), doubles = t.with_feature(Target::CLDoubles);
    return t.has_feature(Target::OpenCL) && host_supports_target_device(doubles) ? doubles : t;
}

void run_case(RandomCase &c) {
    std::vector<Buffer<void>> outputs = c.outputs(target());
    c.set_inputs(outputs, target());
    c.pipeline().realize(Realization(outputs), target());
    for (Buffer<void> &b : outputs) {
        b.copy_to_host();
    }
    EXPECT_EQ(c.difference(outputs), "");
}

void compile_case(RandomCase &c, uint64_t seed, const std::string &folder) {
    const std::string name = "seed" + std::to_string(seed), file = folder + "/" + name;
    const Target jit = get_jit_target_from_environment();
    const Target cuda =
        (jit.has_feature(Target::CUDA) ? jit : Target("x86-64-linux-cuda-cuda_capability_90"))
            .with_feature(Target::NoRuntime);
    Pipeline p = c.pipeline();
    p.compile_to({{OutputFileType::ptx, file + ".ptx"}}, p.infer_arguments(), name, cuda);
    if (seed_looked_at()) {
        p.compile_to(
            {{OutputFileType::device_code, file + ".cl"}, {OutputFileType::stmt, file + ".stmt"}},
            p.infer_arguments(), name, target());
    }
}

void say_refused(uint64_t seed, const std::exception &e) {
    if (seed_looked_at() || seeds_searched()) {
        std::printf("seed %d: %s\n", int(seed), e.what());
    }
}

void say_features(uint64_t seed, const Features &features) {
    if (seed_looked_at() || seeds_searched()) {
        std::printf("seed %d has", int(seed));
        for (const std::string &f : features) {
            std::printf(" %s", f.c_str());
        }
        std::printf("\n");
    }
}

/// Whether what was drawn is legal.
bool run(uint64_t seed, Features &features) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    try {
        RandomCase c(seed, directives_left_out().value_or(std::set<int>()));
        SCOPED_TRACE(c.text());
        if (seed_looked_at()) {
            std::printf("%s", c.text().c_str());
        }
        const char *folder = std::getenv("CT_TEST_PTX");
        folder ? compile_case(c, seed, folder) : run_case(c);
        features.insert(c.features.begin(), c.features.end());
        say_features(seed, c.features);
        return true;
    } catch (const CompileError &e) {
        say_refused(seed, e);
    } catch (const RuntimeError &e) {
        say_refused(seed, e);
    } catch (const std::exception &e) {
        ADD_FAILURE() << e.what();
    }
    return false;
}

void search(const SeedRange &range, Features &features) {
    uint64_t compared = 0;
    for (uint64_t seed = range.first; seed < range.first + range.count; seed++) {
        std::fprintf(stderr, "%llu\n", (unsigned long long)seed);
        compared += run(seed, features) ? 1 : 0;
    }
    std::printf("%d of %d were legal\n", int(compared), int(range.count));
    for (const std::string &f : all_gpu_features()) {
        if (!features.count(f)) {
            std::printf("never: %s\n", f.c_str());
        }
    }
}

TEST(RandomGpuSchedules, change_no_result) {
    if (!std::getenv("CT_TEST_PTX")) {
        REQUIRE_GPU();
    }
    Features features;
    if (const std::optional<uint64_t> seed = seed_looked_at()) {
        EXPECT_TRUE(run(*seed, features));
        return;
    }
    if (const std::optional<SeedRange> range = seeds_searched()) {
        search(*range, features);
        return;
    }
    for (const uint64_t seed : {12, 23, 24, 28, 45, 69, 95, 400, 503, 610, 672, 226336}) {
        EXPECT_TRUE(run(seed, features)) << "seed " << seed;
    }
    EXPECT_EQ(features, all_gpu_features());
}

}  // namespace
}  // namespace calotype::test
