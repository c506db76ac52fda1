// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random programs under random GPU schedules give what plain evaluators give. Which seeds run
// pipelines/random/random_seeds.h says. With CT_TEST_PTX=<folder> they are not run: their kernels for CUDA go there, made
// for CT_JIT_TARGET if that has CUDA.
#include <pthread.h>

#include <cstdlib>
#include <iostream>

#include "gpu.h"
#include "gpu_pipelines/random/random_case.h"
#include "pipelines/random/fault_report.h"
#include "pipelines/random/random_seeds.h"

namespace calotype::test {
namespace {

/// With elements of all types, where the device has them.
Target target() {
    const Target t = gpu_target(), doubles = t.with_feature(Target::CLDoubles);
    return t.has_feature(Target::OpenCL) && host_supports_target_device(doubles) ? doubles : t;
}

/// The program, what runs it, and what that gave that it should not; empty if nothing.
struct Case {
    std::string text;
    Pipeline pipeline;
    std::function<std::string()> run;
};

void compile(Pipeline &pipeline, const std::string &name, const std::string &folder) {
    const Target jit = get_jit_target_from_environment();
    const Target cuda =
        (jit.has_feature(Target::CUDA) ? jit : Target("x86-64-linux-cuda-cuda_capability_90"))
            .with_feature(Target::NoRuntime);
    const std::string file = folder + "/" + name;
    const std::vector<Argument> args = pipeline.infer_arguments();
    pipeline.compile_to({{OutputFileType::ptx, file + ".ptx"}}, args, name, cuda);
    if (seed_looked_at()) {
        pipeline.compile_to(
            {{OutputFileType::device_code, file + ".cl"}, {OutputFileType::stmt, file + ".stmt"}},
            args, name, target());
    }
}

/// Of what was asked for, or of what the device has.
bool is_of_the_schedule(const RuntimeError &e) {
    const std::string text = e.what();
    for (const char *part : {"fold", "threads", "shared memory", "is bounded to", "heap",
                             "bytes, must take at most"}) {
        if (text.find(part) != std::string::npos) {
            return true;
        }
    }
    return false;
}

/// Whether the schedule drawn was legal.
bool run(Case &c, const std::string &name) {
    if (seed_looked_at()) {
        std::cout << c.text << std::flush;
    }
    try {
        if (const char *folder = std::getenv("CT_TEST_PTX")) {
            compile(c.pipeline, name, folder);
        } else {
            const FaultReport report(name + " faults in\n" + c.text);
            EXPECT_EQ(c.run(), "") << name << "\n" << c.text;
        }
        return true;
    } catch (const CompileError &e) {
        return refused(e);
    } catch (const RuntimeError &e) {
        if (!is_of_the_schedule(e)) {
            ADD_FAILURE() << name << ": " << e.what() << "\n" << c.text;
        }
        return refused(e);
    } catch (const std::exception &e) {
        ADD_FAILURE() << name << ": " << e.what() << "\n" << c.text;
    }
    return true;
}

/// Of threads to come: PoCL keeps on a stack what all threads of a block have.
void set_stack_size(size_t bytes) {
    pthread_attr_t attributes;
    pthread_getattr_default_np(&attributes);
    pthread_attr_setstacksize(&attributes, bytes);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
}

class RandomGpuSchedules : public testing::Test {
protected:
    void SetUp() override {
        if (!std::getenv("CT_TEST_PTX")) {
            // A processor takes long to optimize kernels.
            set_stack_size(size_t(256) << 20);
            setenv("CT_OCL_BUILD_OPTIONS", "-cl-opt-disable", 0);
            REQUIRE_GPU();
        }
    }
};

/// With its choice and with another.
std::string run_twice(RandomCase &c) {
    Pipeline pipeline = c.pipeline();
    std::string difference;
    for (const int other : {0, 3}) {
        c.set_choice((c.p.choice + 1 + other) % 4 - 1);
        std::vector<Buffer<void>> outputs = c.outputs(target());
        c.set_inputs(outputs, target());
        pipeline.realize(Realization(outputs), target());
        for (Buffer<void> &b : outputs) {
            b.copy_to_host();
        }
        difference = difference.empty() ? c.difference(outputs) : difference;
    }
    return difference;
}

Features drawn_for_reductions(const ReductionProgram &p, ReductionFuncs &funcs, uint64_t seed,
                              Directives &directives) {
    GpuProgram program = gpu_program(p, funcs);
    return random_gpu_schedule(program, seed * 77 + 5, directives);
}

TEST(RandomGpuFeatures, are_all_drawn) {
    Features drawn;
    for (uint64_t seed = 0; seed < 400; seed++) {
        const ReductionProgram p(seed);
        ReductionFuncs funcs(p);
        Directives directives;
        drawn.merge(drawn_for_reductions(p, funcs, seed, directives));
        drawn.merge(RandomCase(seed).features);
    }
    for (const std::string &feature : all_gpu_features()) {
        EXPECT_TRUE(drawn.count(feature)) << feature;
    }
    for (const std::string &feature : drawn) {
        EXPECT_TRUE(all_gpu_features().count(feature)) << feature;
    }
}

TEST_F(RandomGpuSchedules, of_stencils_change_no_result) {
    compare_seeds(12, [&](uint64_t seed, const std::set<int> &skipped, bool keeps_places) {
        RandomCase c(seed, skipped, keeps_places);
        Case some = {c.text(), c.pipeline(), [&] {
                         return run_twice(c);
                     }};
        return run(some, "stencil" + std::to_string(seed));
    });
}

TEST_F(RandomGpuSchedules, of_reductions_change_no_result) {
    compare_seeds(10, [&](uint64_t seed, const std::set<int> &skipped, bool keeps_places) {
        const ReductionProgram p(seed);
        ReductionFuncs funcs(p);
        Directives directives;
        directives.skipped = skipped;
        directives.keeps_places = keeps_places;
        drawn_for_reductions(p, funcs, seed, directives);
        Pipeline pipeline(funcs.stages.back().func);
        Case some = {funcs.text() + directives.text(), pipeline, [&] {
                         std::string difference;
                         for (const ReductionProgram::Inputs &inputs : p.runs) {
                             difference += run_reductions(p, funcs, pipeline, inputs, seed % 2 == 0,
                                                          target());
                         }
                         return difference;
                     }};
        return run(some, "reduction" + std::to_string(seed));
    });
}

TEST_F(RandomGpuSchedules, of_updates_where_what_they_write_says_change_no_result) {
    compare_seeds(4, [&](uint64_t seed, const std::set<int> &skipped, bool keeps_places) {
        const RandomUpdates p(seed);
        BuiltUpdates built(p);
        Directives directives;
        directives.skipped = skipped;
        directives.keeps_places = keeps_places;
        GpuProgram program = gpu_program(p, built);
        random_gpu_schedule(program, seed * 31 + 7, directives);
        Pipeline pipeline(built.output);
        Case some = {text(built, directives), pipeline, [&] {
                         std::vector<Buffer<void>> outputs = outputs_of(p);
                         Pipeline(built.output).realize(Realization(outputs), gpu_target());
                         for (Buffer<void> &b : outputs) {
                             b.copy_to_host();
                         }
                         return difference(p, outputs);
                     }};
        return run(some, "update" + std::to_string(seed));
    });
}

}  // namespace
}  // namespace calotype::test
