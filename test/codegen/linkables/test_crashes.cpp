// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that are damaged within, on which a linker may crash: the compiler does not.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "codegen/linkables/linked.h"
#include "codegen/nvptx/child_process.h"
#include "codegen/nvptx/nvjitlink.h"
#include "harness/cuda_home.h"
#include "harness/expect_error.h"
#include "support/file.h"
#include "support/text.h"

namespace calotype::internal {
namespace {

// A request that is cut off is no crash, and no result.
TEST(LinkWorker, RefusesWhatIsNoRequest) {
    const ChildResult result = run_link_worker("abc");
    EXPECT_TRUE(result.has_run);
    EXPECT_EQ(result.bytes, "");
    EXPECT_EQ(result.crash, "exit status 2");
}

LinkResult link(const std::string &name) {
    CudaToolkit toolkit;
    toolkit.nvjitlink = CALOTYPE_CRASHING_LINKER;
    const std::string bytes = "bytes";
    return link_in_child(
        {{CALOTYPE_PTX, &bytes, "kernels", false}, {CALOTYPE_CUBIN, &bytes, name, false}}, {90, 0},
        toolkit);
}

TEST(CrashingLinker, IsToldFromOneThatFails) {
    EXPECT_EQ(link("fault").crash, "signal 11 (Segmentation fault)");
    EXPECT_EQ(link("abort").crash, "signal 6 (Aborted)");
    EXPECT_EQ(link("exit").crash, "exit status 3");
    EXPECT_FALSE(link("fault").ok);
    const LinkResult refused = link("refused");
    EXPECT_FALSE(refused.ok);
    EXPECT_EQ(refused.crash, "");
    EXPECT_EQ(refused.code, 7);
    EXPECT_EQ(refused.refused_input, 1);
    EXPECT_EQ(refused.log, "log");
    const LinkResult good = link("rng");
    EXPECT_TRUE(good.ok);
    EXPECT_EQ(good.cubin, std::string("cubin\0", 6));
    EXPECT_EQ(good.log, "log");
    EXPECT_EQ(good.refused_input, -1);
}

// Others may allocate and link while a process is made.
TEST(CrashingLinker, OfAProcessOfManyThreads) {
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([&right] {
            for (int i = 0; i < 10; i++) {
                right += link("rng").cubin == std::string("cubin\0", 6);
                right += link("abort").crash == "signal 6 (Aborted)";
            }
        });
    }
    for (std::thread &t : threads) {
        t.join();
    }
    EXPECT_EQ(right, 80);
}

TEST(CrashingLinker, IsAnErrorThatNamesWhatWasLinked) {
    const CudaToolkit found = find_cuda_toolkit();
    NEEDS_INPUT("rng.ptx");
    // A toolkit that has nothing but the linker, beside a compiler of PTX.
    const TemporaryDirectory root;
    for (const char *folder : {"/bin", "/lib64"}) {
        std::filesystem::create_directory(root.path() + folder);
    }
    std::filesystem::create_symlink(found.ptxas, root.path() + "/bin/ptxas");
    std::filesystem::create_symlink(CALOTYPE_CRASHING_LINKER,
                                    root.path() + "/lib64/libnvJitLink.so");
    const test::CudaHome home(root.path().c_str());
    LinkableData fault = linkable_of("rng.cubin", "fault");
    fault.parameter = "noise";
    EXPECT_COMPILE_ERROR(
        compile_device_module(calling_rng_next({linkable_of("other.ptx", "b"), fault}),
                              Target("x86-64-linux-cuda-cuda_capability_90")),
        "nvJitLink crashed with signal 11 (Segmentation fault) as it linked module test for sm_90 "
        "with linkable b (in/other.ptx), linkable fault (parameter noise, in/rng.cubin): one of "
        "these is damaged");
}

// Whatever is wrong within a file, a message or code comes of it.
TEST(CrashingLinker, OfFilesThatAreDamaged) {
    for (const std::string form : {"rng.cubin", "rng.fatbin", "rng.a", "rng.o"}) {
        NEEDS_INPUT(form);
        uint32_t random = 5;
        const auto next = [&random](size_t bound) {
            random = random * 1664525 + 1013904223;
            return size_t(random >> 8) % bound;
        };
        for (int i = 0; i < 12; i++) {
            LinkableData rng = linkable_of(form);
            std::string &bytes = rng.images[0].bytes;
            for (int n = 0; n < 16; n++) {
                bytes[next(i % 2 ? bytes.size() : std::min<size_t>(bytes.size(), 256))] =
                    char(next(256));
            }
            const std::string error = test::error_of<CompileError>([&] {
                compile_device_module(calling_rng_next({rng}),
                                      Target("x86-64-linux-cuda-cuda_capability_90"));
            });
            EXPECT_TRUE(error == "[no error]" ||
                        error.find("linkable rng (in/" + form + ")") != std::string::npos)
                << error;
        }
    }
}

}  // namespace
}  // namespace calotype::internal
