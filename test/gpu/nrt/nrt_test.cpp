// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// S40: the device runtime on a GPU. Each scenario prints a row and records it in the report of the
// test (--gtest_output=json), from which compare_numba.py makes its table.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "codegen/device_runtime_images.h"
#include "gpu/nrt/real_cuda.h"
#include "runtime/abi/kernel_cache.h"
#include "runtime/abi/linkables.h"
#include "runtime/abi/nrt.h"
#include "runtime/abi/runtime_cuda.h"

namespace calotype::internal {
extern const DeviceRuntimeImage s40_images[];
}

namespace calotype_test {

namespace {

using calotype::internal::device_runtime_images;
using calotype::internal::DeviceRuntimeImage;
using calotype::internal::s40_images;

/// Of the table's rows whose file is called so; of all, without a name.
std::vector<calotype_image> images_of(const DeviceRuntimeImage *table,
                                      const std::vector<std::string> &files = {}) {
    std::vector<calotype_image> found;
    for (; table->bytes; table++) {
        bool wanted = files.empty();
        for (const std::string &file : files) {
            wanted |= file == table->file;
        }
        if (wanted && table->kind != CALOTYPE_BITCODE) {
            found.push_back({table->kind, table->sm, 0, table->bytes, table->size});
        }
    }
    return found;
}

struct Kernel {
    const char *name;
    std::vector<uint8_t> arg_bytes;
};
const std::vector<Kernel> kernels = {
    {"objects", {4}},         {"references", {4}},      {"varsize", {4}},
    {"varsize_dtor", {4, 8}}, {"library", {}},          {"alignments", {8}},
    {"exhaust", {4, 8}},      {"create", {8, 8, 4, 4}}, {"drop", {8, 4}}};

uint8_t next_uid = 1;

/// The kernels with a library in one form and the device runtime.
class Program {
    std::vector<calotype_image> images, library_images, runtime_images;
    std::vector<std::vector<calotype_kernel_arg>> args;
    std::vector<calotype_kernel_desc> descs;
    calotype_linkable_desc library = {}, runtime = {};
    const calotype_linkable_desc *linkables[2] = {&library, &runtime};

    static calotype_linkable_desc linkable(const char *name,
                                           const std::vector<calotype_image> &images) {
        calotype_linkable_desc desc = {};
        desc.size = sizeof desc;
        desc.name = name;
        strncpy(reinterpret_cast<char *>(desc.content.b), name, sizeof desc.content.b);
        desc.images = images.data();
        desc.n_images = uint32_t(images.size());
        return desc;
    }

public:
    calotype_module_desc desc = {};

    /// Of "with_bitcode.ptx" library and runtime are part.
    explicit Program(const std::string &library_file)
        : images(images_of(s40_images, {"kernels.ptx", "kernels.ltoir"})),
          library_images(images_of(s40_images, {library_file})),
          runtime_images(images_of(device_runtime_images)), args(kernels.size()) {
        for (size_t i = 0; i < kernels.size(); i++) {
            for (uint8_t bytes : kernels[i].arg_bytes) {
                args[i].push_back({0, bytes, 0, 0});
            }
            descs.push_back({kernels[i].name, args[i].data(), uint32_t(args[i].size()), 0, 0, 0});
        }
        const bool is_whole = library_file == "with_bitcode.ptx";
        if (is_whole) {
            images = library_images;
        }
        library = linkable("library", library_images);
        library.flags = CALOTYPE_LK_NRT;
        runtime = linkable("calotype_nrt", runtime_images);
        desc.size = sizeof desc;
        desc.abi = CALOTYPE_ABI_VERSION;
        desc.name = "s40";
        strncpy(reinterpret_cast<char *>(desc.uid.b), library_file.c_str(), 31);
        desc.uid.b[31] = next_uid++;
        desc.device_interface = calotype_cuda_device_interface;
        desc.images = images.data();
        desc.n_images = uint32_t(images.size());
        desc.kernels = descs.data();
        desc.n_kernels = uint32_t(descs.size());
        desc.linkables = linkables;
        desc.n_linkables = is_whole ? 0 : 2;
        desc.flags = CALOTYPE_MOD_NRT | (library_file == "library.ltoir" ? CALOTYPE_MOD_LTO : 0);
    }
    Program(const Program &) = delete;
};

class S40 : public ::testing::Test {
protected:
    void SetUp() override {
        if (!has_real_cuda()) {
            GTEST_SKIP() << "no CUDA device";
        }
    }
    /// Launch the kernel of that name.
    static void run(RealContext &context, const Program &program, const char *name,
                    std::vector<void *> args, uint32_t blocks = 1, uint32_t threads = 1) {
        uint32_t index = 0;
        while (strcmp(kernels[index].name, name) != 0) {
            index++;
        }
        calotype_hold hold;
        ASSERT_EQ(CALOTYPE_OK,
                  calotype_initialize_kernels(&context.on, &program.desc, nullptr, &hold))
            << calotype_last_error()->log;
        const uint32_t grid[3] = {blocks, 1, 1}, block[3] = {threads, 1, 1};
        EXPECT_EQ(CALOTYPE_OK,
                  calotype_launch(&context.on, hold, index, grid, block, 0, nullptr, args.data()))
            << calotype_last_error()->log;
        EXPECT_EQ(CALOTYPE_OK, calotype_finalize_kernels(&context.on, &hold));
    }
    static calotype_nrt_stats read(RealContext &context) {
        calotype_nrt_stats stats = {};
        stats.size = sizeof stats;
        EXPECT_EQ(CALOTYPE_OK, calotype_nrt_read(&context.on, &stats))
            << calotype_last_error()->log;
        return stats;
    }
    /// "alloc free mi_alloc mi_free"
    static std::string counts(RealContext &context) {
        const calotype_nrt_stats s = read(context);
        return std::to_string(s.alloc) + " " + std::to_string(s.free_) + " " +
               std::to_string(s.mi_alloc) + " " + std::to_string(s.mi_free);
    }
    static void enable(RealContext &context, bool on = true) {
        EXPECT_EQ(CALOTYPE_OK, calotype_nrt_enable_stats(&context.on, on))
            << calotype_last_error()->log;
    }
    static void row(const std::string &id, const std::string &result) {
        RecordProperty(id, result);
        printf("S40 %-22s %s\n", id.c_str(), result.c_str());
    }
    static unsigned number(RealContext &context, uint64_t memory) {
        unsigned value = 0;
        context.to_host(&value, memory, sizeof value);
        return value;
    }
};

TEST_F(S40, Counters) {
    RealContext context;
    Program program("library.ptx");
    uint64_t counter = context.allocate(8);
    int n = 10;
    enable(context);
    run(context, program, "objects", {&n});
    EXPECT_EQ("10 10 10 10", counts(context));
    row("a", counts(context));

    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_reset(&context.on));
    n = 1;
    run(context, program, "references", {&n});
    EXPECT_EQ("1 1 1 1", counts(context));
    row("b", counts(context));

    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_reset(&context.on));
    n = 5;
    run(context, program, "varsize", {&n});
    EXPECT_EQ("10 10 5 5", counts(context));
    row("c", counts(context));

    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_reset(&context.on));
    run(context, program, "varsize_dtor", {&n, &counter});
    EXPECT_EQ("10 10 5 5", counts(context));
    EXPECT_EQ(5u, number(context, counter));
    row("d",
        counts(context) + ", " + std::to_string(number(context, counter)) + " element destructors");

    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_reset(&context.on));
    n = 10;
    run(context, program, "objects", {&n}, 1, 64);
    EXPECT_EQ("640 640 640 640", counts(context));
    row("f", counts(context));
}

TEST_F(S40, LibrariesOfEachKind) {
    for (const char *file :
         {"library.ptx", "library.cubin", "library.fatbin", "library_multi.fatbin", "library.o",
          "library.a", "library.ltoir", "with_bitcode.ptx"}) {
        RealContext context;
        Program program(file);
        enable(context);
        run(context, program, "library", {});
        EXPECT_EQ("1 1 0 0", counts(context)) << file;
        row(std::string("e_") + file, counts(context));
        // And all else in that form.
        int n = 3;
        run(context, program, "varsize", {&n});
        EXPECT_EQ("7 7 3 3", counts(context)) << file;
    }
}

TEST_F(S40, OffAndOn) {
    RealContext context;
    Program program("library.ptx");
    int n = 10;
    run(context, program, "objects", {&n});
    calotype_nrt_stats stats = {};
    stats.size = sizeof stats;
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_nrt_read(&context.on, &stats));
    enable(context);
    const std::string off = counts(context);
    EXPECT_EQ("0 0 0 0", off);
    run(context, program, "objects", {&n});
    EXPECT_EQ("10 10 10 10", counts(context));
    row("g", "off: " + off + "; on: " + counts(context));
}

TEST_F(S40, Alignments) {
    RealContext context;
    Program program("library.ptx");
    uint64_t counter = context.allocate(8);
    enable(context);
    run(context, program, "alignments", {&counter});
    EXPECT_EQ(0u, number(context, counter));
    EXPECT_EQ("8 8 8 8", counts(context));
    row("h", std::to_string(number(context, counter)) + " misaligned");
}

TEST_F(S40, TheHeapIsFull) {
    RealContext context;
    Program program("library.ptx");
    int n = 20;
    uint64_t size = 1 << 20;
    enable(context);
    run(context, program, "exhaust", {&n, &size});
    const calotype_nrt_stats stats = read(context);
    EXPECT_EQ(20u, stats.alloc + stats.failed);
    EXPECT_EQ(stats.alloc, stats.free_);
    EXPECT_GE(stats.alloc, 5u);
    EXPECT_LE(stats.alloc, 7u);
    row("i", "alloc " + std::to_string(stats.alloc) + ", failed " + std::to_string(stats.failed));
    // After use the heap keeps its size.
    const calotype_status late = calotype_nrt_set_heap(&context.on, 64 << 20);
    EXPECT_EQ(CALOTYPE_E_BUSY, late);
    row("k", late == CALOTYPE_E_BUSY ? "BUSY" : calotype_status_text(late));
}

TEST_F(S40, AHeapOfAnotherSize) {
    RealContext context;
    Program program("library.ptx");
    int n = 20;
    uint64_t size = 1 << 20;
    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_set_heap(&context.on, 64 << 20));
    enable(context);
    run(context, program, "exhaust", {&n, &size});
    EXPECT_EQ("20 20 0 0", counts(context));
    row("i_64MiB", counts(context));
}

TEST_F(S40, EveryObjectEndsOnce) {
    int n = 1000000;
    RealContext context;
    Program program("library.ptx");
    uint64_t objects = context.allocate(size_t(n) * 8), ends = context.allocate(size_t(n) * 4);
    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_set_heap(&context.on, uint64_t(2) << 30));
    enable(context);
    for (int holders : {2, 8, 132}) {
        context.zero(ends, size_t(n) * 4);
        EXPECT_EQ(CALOTYPE_OK, calotype_nrt_reset(&context.on));
        run(context, program, "create", {&objects, &ends, &n, &holders}, uint32_t(n + 255) / 256,
            256);
        run(context, program, "drop", {&objects, &n}, uint32_t(holders), 1024);
        std::vector<unsigned> ended(static_cast<size_t>(n));
        context.to_host(ended.data(), ends, size_t(n) * 4);
        int wrong = 0;
        for (unsigned times : ended) {
            wrong += times != 1;
        }
        EXPECT_EQ(0, wrong) << holders << " holders";
        EXPECT_EQ("1000000 1000000 1000000 1000000", counts(context));
        row("j_" + std::to_string(holders), std::to_string(wrong) + " wrong");
    }
}

TEST_F(S40, TwoContexts) {
    RealContext one, two;
    Program program("library.ptx");
    int n = 10;
    enable(one);
    enable(two);
    run(one, program, "objects", {&n});
    run(two, program, "varsize", {&n});
    EXPECT_EQ("10 10 10 10", counts(one));
    EXPECT_EQ("20 20 10 10", counts(two));
    row("l", counts(one) + " and " + counts(two));
}

}  // namespace

}  // namespace calotype_test
