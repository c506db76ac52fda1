// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// random_schedules FOLDER SEED...: the random pipelines of these seeds under random GPU schedules,
// compiled for CUDA and for OpenCL as functions random_SEED_cuda and random_SEED_opencl; a table of
// them, and what they take and are to give.
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "gpu/random/pack.h"
#include "gpu_pipelines/random/random_case.h"
#include "ir/module.h"
#include "support/file.h"

namespace calotype::test {
namespace {

using calotype_test::PackWriter;

/// Type, region and elements.
void pack_buffer(PackWriter &pack, const Buffer<void> &b) {
    const calotype_buffer_t *raw = b.raw_buffer();
    for (const int n : {int(raw->type.code), int(raw->type.bits), b.dim(0).min(), b.dim(0).extent(),
                        b.dim(1).min(), b.dim(1).extent()}) {
        pack(uint32_t(n));
    }
    const size_t size = b.number_of_elements() == 0 ? 0 : raw->size_in_bytes();
    const char *const begin = reinterpret_cast<const char *>(raw->host);
    pack(size == 0 ? std::string() : std::string(begin, size));
}

void make(uint64_t seed, const std::string &folder, PackWriter &pack) {
    RandomCase c(seed);
    const Target queried =
        get_host_target().with_feature(Target::OpenCL).with_feature(Target::CLDoubles);
    std::vector<Buffer<void>> outputs = c.outputs(queried);
    c.set_inputs(outputs, queried);
    Pipeline pipeline = c.pipeline();
    const std::vector<Argument> args = pipeline.infer_arguments();
    for (const char *api : {"cuda", "opencl"}) {
        const bool is_cuda = api == std::string("cuda");
        const std::string name = "random_" + std::to_string(seed) + "_" + api;
        const Target target(is_cuda ? "x86-64-linux-cuda-cuda_capability_90-no_runtime"
                                    : "x86-64-linux-opencl-cl_doubles-no_runtime");
        pipeline.compile_to_object(folder + "/" + name + ".o", args, name, target);
    }
    pack(uint32_t(seed));
    pack(c.text());
    pack(uint32_t(args.size()));
    for (const Argument &a : args) {
        for (const ImageParam &image : c.built.images) {
            if (image.name() == a.name) {
                pack_buffer(pack, image.get());
            }
        }
    }
    c.for_each_element(outputs, [](const OutputElement &e, int64_t value) {
        set_element(e.buffer, e.x, e.y, value);
    });
    pack(uint32_t(outputs.size()));
    for (const Buffer<void> &b : outputs) {
        pack_buffer(pack, b);
    }
}

/// False if one of them cannot be compiled; the others are.
bool make_all(const std::string &folder, const std::vector<uint64_t> &seeds) {
    PackWriter pack;
    std::string declared, rows;
    bool all = true;
    for (const uint64_t seed : seeds) {
        PackWriter one;
        try {
            make(seed, folder, one);
        } catch (const std::exception &e) {
            std::fprintf(stderr, "seed %d: %s\n", int(seed), e.what());
            all = false;
            continue;
        }
        pack.bytes += one.bytes;
        const std::string name = "random_" + std::to_string(seed);
        declared +=
            "int " + name + "_cuda_argv(void **);\nint " + name + "_opencl_argv(void **);\n";
        rows += "    {" + std::to_string(seed) + ", " + name + "_cuda_argv, " + name +
                "_opencl_argv},\n";
    }
    internal::write_file_atomically(folder + "/schedules.bin", pack.bytes);
    internal::write_file_atomically(folder + "/schedules_table.h",
                                    "extern \"C\" {\n" + declared +
                                        "}\nconst ScheduledFunction scheduled_functions[] = {\n" +
                                        rows + "};\n");
    return all;
}

}  // namespace
}  // namespace calotype::test

int main(int argc, char **argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: random_schedules FOLDER SEED...\n");
        return 1;
    }
    std::vector<uint64_t> seeds;
    for (int i = 2; i < argc; i++) {
        seeds.push_back(std::strtoull(argv[i], nullptr, 10));
    }
    try {
        return calotype::test::make_all(argv[1], seeds) ? 0 : 1;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "error: %s\n", e.what());
        return 1;
    }
}
