// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random pipelines under random GPU schedules give what a plain evaluator gives.
//     CT_TEST_SEED=<seed>           one alone, with its directives; CT_TEST_SKIP=<n>,<n>... leaves
//     some out
//     CT_TEST_SEEDS=<first>,<count> many
//     CT_TEST_PTX=<folder>          they are not run: their kernels for CUDA go there, made for
//     CT_JIT_TARGET if that has CUDA
#include <cstdlib>
#include <sstream>

#include "gpu.h"
#include "gpu_pipelines/random/random_case.h"

namespace calotype::test {
namespace {

std::vector<uint64_t> numbers(const char *variable) {
    std::vector<uint64_t> all;
    const char *value = std::getenv(variable);
    std::istringstream in(value ? value : "");
    for (std::string item; std::getline(in, item, ',');) {
        all.push_back(std::strtoull(item.c_str(), nullptr, 10));
    }
    return all;
}

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
    if (std::getenv("CT_TEST_SEED")) {
        p.compile_to(
            {{OutputFileType::device_code, file + ".cl"}, {OutputFileType::stmt, file + ".stmt"}},
            p.infer_arguments(), name, target());
    }
}

/// Whether what was drawn is legal.
bool run(uint64_t seed, Features &features) {
    const bool verbose = std::getenv("CT_TEST_SEED") || std::getenv("CT_TEST_SEEDS");
    const std::vector<uint64_t> skip = numbers("CT_TEST_SKIP");
    SCOPED_TRACE("seed " + std::to_string(seed));
    try {
        RandomCase c(seed, {skip.begin(), skip.end()});
        SCOPED_TRACE(c.text());
        if (std::getenv("CT_TEST_SEED")) {
            std::printf("%s", c.text().c_str());
        }
        const char *folder = std::getenv("CT_TEST_PTX");
        folder ? compile_case(c, seed, folder) : run_case(c);
        features.insert(c.features.begin(), c.features.end());
        if (verbose) {
            std::printf("seed %d has", int(seed));
            for (const std::string &f : c.features) {
                std::printf(" %s", f.c_str());
            }
            std::printf("\n");
        }
        return true;
    } catch (const CompileError &e) {
        if (verbose) {
            std::printf("seed %d: %s\n", int(seed), e.what());
        }
    } catch (const RuntimeError &e) {
        if (verbose) {
            std::printf("seed %d: %s\n", int(seed), e.what());
        }
    } catch (const std::exception &e) {
        ADD_FAILURE() << e.what();
    }
    return false;
}

TEST(RandomGpuSchedules, change_no_result) {
    if (!std::getenv("CT_TEST_PTX")) {
        REQUIRE_GPU();
    }
    Features features;
    const std::vector<uint64_t> one = numbers("CT_TEST_SEED"), many = numbers("CT_TEST_SEEDS");
    if (one.size() == 1) {
        EXPECT_TRUE(run(one[0], features));
        return;
    }
    if (many.size() == 2) {
        uint64_t compared = 0;
        for (uint64_t seed = many[0]; seed < many[0] + many[1]; seed++) {
            std::fprintf(stderr, "%llu\n", (unsigned long long)seed);
            compared += run(seed, features) ? 1 : 0;
        }
        std::printf("%d of %d were legal\n", int(compared), int(many[1]));
        for (const std::string &f : all_gpu_features()) {
            if (!features.count(f)) {
                std::printf("never: %s\n", f.c_str());
            }
        }
        return;
    }
    for (const uint64_t seed : {12, 23, 24, 28, 45, 69, 95, 400, 503, 610, 672, 226336}) {
        EXPECT_TRUE(run(seed, features)) << "seed " << seed;
    }
    EXPECT_EQ(features, all_gpu_features());
}

}  // namespace
}  // namespace calotype::test
