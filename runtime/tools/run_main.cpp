// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// main() of a program that runs the pipelines linked into it with their registration files.
#include <cstdint>
#include <iostream>

#include "../abi/device_interface.h"
#include "../abi/hooks.h"
#include "../abi/target_features.h"
#include "benchmark.h"
#include "run_memory.h"
#include "run_pipeline.h"

namespace calotype {
namespace run {

namespace {

/** Registration files add to it before main(). */
std::vector<Registered> &registered_pipelines() {
    static std::vector<Registered> pipelines;
    return pipelines;
}

Registered choose_pipeline(const std::string &name) {
    const std::vector<Registered> &all = registered_pipelines();
    if (all.empty()) {
        fail("no pipeline is linked in: the program needs a registration file");
    }
    if (name.empty() && all.size() == 1) {
        return all[0];
    }
    std::string names;
    for (const Registered &pipeline : all) {
        if (name == pipeline.metadata->name) {
            return pipeline;
        }
        names += (names.empty() ? "" : ", ") + std::string(pipeline.metadata->name);
    }
    fail("--name is \"" + name + "\", must be one of " + names);
}

/** The name of a feature of the target that is missing here, or null. */
const char *missing_feature(const std::string &target) {
    constexpr int words = calotype_target_feature_end / 64;
    uint64_t features[words] = {};
    for (const std::string &name : split(target, '-')) {
        for (int i = 0; i < calotype_target_feature_end; i++) {
            const char *known = calotype_target_feature_name(i);
            if (known && name == known) {
                features[i / 64] |= uint64_t(1) << (i % 64);
            }
        }
    }
    const int missing = calotype_missing_target_feature(words, features);
    return missing < 0 ? nullptr : calotype_target_feature_name(missing);
}

void print_to_stdout(void *, const char *text) {
    std::cout << text;
}
void print_nothing(void *, const char *) {
}

void print_benchmark(const Pipeline &pipeline, const calotype_filter_metadata_t &metadata,
                     const Tools::BenchmarkResult &result, bool parsable) {
    const double throughput = pipeline.megapixels() / result.wall_time;
    const std::string name = metadata.name;
    if (parsable) {
        std::cout << name << "  BEST_TIME_MSEC_PER_ITER  " << result.wall_time * 1000 << "\n"
                  << name << "  SAMPLES                  " << result.samples << "\n"
                  << name << "  ITERATIONS               " << result.iterations << "\n"
                  << name << "  TIMING_ACCURACY          " << result.accuracy << "\n"
                  << name << "  THROUGHPUT_MPIX_PER_SEC  " << throughput << "\n"
                  << name << "  HALIDE_TARGET            " << metadata.target << "\n";
    } else {
        std::cout << "Benchmark for " << name << " produces best case of " << result.wall_time
                  << " sec/iter (over " << result.samples << " samples, " << result.iterations
                  << " iterations, accuracy " << result.accuracy * 100 << "%).\n"
                  << "Best output throughput is " << throughput << " mpix/sec.\n";
    }
}

void measure(Pipeline &pipeline, const Registered &registered, const Options &options) {
    Tools::BenchmarkConfig config;
    config.min_time = options.benchmark_min_time;
    config.max_time = 4 * options.benchmark_min_time;
    const auto call = [&] {
        pipeline.call();
        pipeline.wait();
    };
    print_benchmark(pipeline, *registered.metadata, Tools::benchmark(call, config),
                    options.parsable_output);
}

void run_pipeline(const Options &options) {
    const Registered registered = choose_pipeline(options.name);
    Pipeline pipeline(registered, options);
    if (options.describe) {
        pipeline.describe();
        return;
    }
    const char *missing =
        options.skip_bad_environment ? missing_feature(registered.metadata->target) : nullptr;
    if (missing) {
        std::cout << "[SKIP] this machine has no " << missing << "\n";
        return;
    }
    calotype_set_custom_print(options.quiet ? print_nothing : print_to_stdout);
    pipeline.prepare();
    if (options.track_memory) {
        track_memory();
    }
    calotype_reuse_device_allocations(nullptr, true);
    if (options.benchmark) {
        measure(pipeline, registered, options);
    } else {
        pipeline.call();
    }
    pipeline.save();
    if (options.track_memory && options.parsable_output) {
        std::cout << registered.metadata->name << "  MAXIMUM_MEMORY_BYTES     " << most_memory()
                  << "\n";
    } else if (options.track_memory) {
        std::cout << "Maximum memory: " << most_memory() << " bytes for output of "
                  << pipeline.megapixels() << " mpix.\n";
    }
    if (options.success) {
        std::cout << "Success!\n";
    }
}

}  // namespace

}  // namespace run
}  // namespace calotype

extern "C" void
calotype_register_argv_and_metadata(int (*filter_argv_call)(void **),
                                    const struct calotype_filter_metadata_t *filter_metadata,
                                    const char *const *) {
    calotype::run::registered_pipelines().push_back({filter_argv_call, filter_metadata});
}

int main(int argc, char **argv) {
    try {
        const calotype::run::Options options = calotype::run::parse_options(argc, argv);
        if (options.help) {
            calotype::run::print_usage(calotype::run::split(argv[0], '/').back());
        } else {
            calotype::run::run_pipeline(options);
        }
    } catch (const std::exception &e) {
        std::cout.flush();
        std::cerr << "error: " << e.what() << "\n";
        return 1;
    }
    return 0;
}
