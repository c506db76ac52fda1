// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loading modules with the device runtime: its place in the order, failures of every call of the
// driver, many threads, and all the ways in which a context can end.
#include <memory>
#include <thread>

#include "harness/cache_stats.h"
#include "runtime/nrt/module.h"

namespace {

using namespace calotype_test;

class NrtLoads : public NrtHost {
protected:
    /// Loads and unloads, setups and teardowns since then are even.
    static void expect_balance(const calotype_stats &before) {
        const calotype_stats now = cache_stats();
        EXPECT_EQ(now.loads - before.loads, now.unloads - before.unloads);
        EXPECT_EQ(now.setups_ok - before.setups_ok, now.teardowns - before.teardowns);
        EXPECT_EQ(0u, now.live_modules);
        EXPECT_EQ(0u, now.holds);
    }
};

struct SeenBySetup {
    uint64_t memsys, patched;
} seen_by_setup;
int look_from_setup(const calotype_callback_args *args) {
    uint64_t address = 0;
    EXPECT_EQ(CALOTYPE_OK, args->svc->get_global(args, "TheMSys", &address, nullptr));
    seen_by_setup.memsys = *reinterpret_cast<uint64_t *>(address);
    EXPECT_EQ(CALOTYPE_OK, args->svc->get_global(args, "patched", &address, nullptr));
    seen_by_setup.patched = *reinterpret_cast<uint64_t *>(address);
    return 0;
}
int fail_in_setup(const calotype_callback_args *) {
    return 7;
}

/// A module with a relocation and a linkable.
struct Full {
    NrtModuleOnFake module;
    uint64_t value = 42;
    calotype_reloc reloc = {"patched", 0, 8, &value};
    calotype_linkable_desc linkable = {};
    const calotype_linkable_desc *linkables[1] = {&linkable};

    Full(const std::string &name, calotype_module_callback setup) : module(name) {
        linkable.size = sizeof linkable;
        linkable.name = "library";
        linkable.flags = CALOTYPE_LK_NRT;
        linkable.setup = setup;
        linkable.teardown = [](const calotype_callback_args *) {
            return 0;
        };
        module.desc.relocs = &reloc;
        module.desc.n_relocs = 1;
        module.desc.linkables = linkables;
        module.desc.n_linkables = 1;
    }
};

// G3.
TEST_F(NrtLoads, AfterRelocationsAndBeforeSetups) {
    Full full("full", look_from_setup);
    static long copies, setups;
    fake_cuda::before("cuMemAlloc", [] {
        copies = fake_cuda::calls("cuMemcpyHtoDAsync");
        setups = long(cache_stats().setups);
    });
    const long setups_before = long(cache_stats().setups);
    EXPECT_EQ(CALOTYPE_OK, load(full.module));
    EXPECT_EQ(1, copies);  // the relocation
    EXPECT_EQ(setups_before, setups);
    EXPECT_EQ(42u, seen_by_setup.patched);
    EXPECT_EQ(reinterpret_cast<uint64_t>(run(full.module)), seen_by_setup.memsys);
    EXPECT_EQ(3, fake_cuda::calls("cuMemcpyHtoDAsync"));
}

TEST_F(NrtLoads, EveryCallOfTheDriverMayFail) {
    struct Site {
        const char *call;
        int nth;
        calotype_status status;
        const char *error;
    };
    constexpr int code = 999;
    const Site sites[] = {
        {"cuCtxSetLimit", 1, CALOTYPE_E_BUSY,
         "6: cuCtxSetLimit: CUDA error (999); a heap of 4096 bytes was asked for, which must be "
         "before any kernel of the context has allocated"},
        {"cuModuleGetGlobal", 1, CALOTYPE_E_DEVICE, "6: cuModuleGetGlobal: CUDA error (999)"},
        {"cuMemAlloc", 1, CALOTYPE_E_DEVICE, "6: cuMemAlloc: CUDA error (999)"},
        {"cuMemcpyHtoDAsync", 1, CALOTYPE_E_DEVICE, "6: cuMemcpyHtoDAsync: CUDA error (999)"},
        {"cuMemcpyHtoDAsync", 2, CALOTYPE_E_DEVICE, "6: cuMemcpyHtoDAsync: CUDA error (999)"},
        {"cuStreamSynchronize", 1, CALOTYPE_E_DEVICE, "6: cuStreamSynchronize: CUDA error (999)"},
        {"cuStreamSynchronize", 2, CALOTYPE_E_DEVICE, "6: cuStreamSynchronize: CUDA error (999)"},
    };
    for (const Site &site : sites) {
        const calotype_stats before = cache_stats();
        NrtModuleOnFake a("a");
        calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(make_context(), nullptr);
        EXPECT_EQ(CALOTYPE_OK, calotype_nrt_set_heap(&on, 4096));
        fake_cuda::fail(site.call, code, site.nth);
        EXPECT_EQ(site.status, load(a, &on)) << site.call;
        EXPECT_EQ(site.error, last_error());
        EXPECT_EQ(0, fake_cuda::live_modules());
        EXPECT_EQ(CALOTYPE_OK, load(a, &on));
        EXPECT_EQ(1, fake_cuda::live_allocations());
        EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&on, CALOTYPE_REL_BUSY, 0));
        EXPECT_EQ(0, fake_cuda::live_allocations()) << site.call;
        EXPECT_EQ(0, fake_cuda::current_depth());
        expect_balance(before);
        cuCtxDestroy_v2(on.context);
    }
}

TEST_F(NrtLoads, NoMemory) {
    NrtModuleOnFake a("a");
    constexpr int out_of_memory = 2;
    fake_cuda::fail("cuMemAlloc", out_of_memory);
    EXPECT_EQ(CALOTYPE_E_OOM, load(a));
    EXPECT_EQ("6: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2), out of memory", last_error());
    EXPECT_EQ(CALOTYPE_OK, load(a));
}

TEST_F(NrtLoads, CallsThatFailChangeNothing) {
    NrtModuleOnFake a("a"), b("b", CALOTYPE_MOD_NRT | CALOTYPE_MOD_DEBUG);
    run(a);
    run(b);
    fake_cuda::fail("cuMemcpyHtoDAsync", 999, 2);
    EXPECT_EQ(CALOTYPE_E_DEVICE, calotype_nrt_enable_stats(nullptr, 1));
    EXPECT_EQ("6: cuMemcpyHtoDAsync: CUDA error (999)", last_error());
    EXPECT_EQ("invalid argument", counts());
    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_enable_stats(nullptr, 1));
    fake_cuda::fail("cuMemcpyDtoHAsync", 999);
    EXPECT_EQ("the device cannot be used", counts());
    EXPECT_EQ("6: cuMemcpyDtoHAsync: CUDA error (999)", last_error());
    fake_cuda::fail("cuMemcpyHtoDAsync", 999);
    EXPECT_EQ(CALOTYPE_E_DEVICE, calotype_nrt_reset(nullptr));
    EXPECT_EQ("0 0 0 0 0", counts());
    EXPECT_EQ(0, fake_cuda::current_depth());
}

TEST_F(NrtLoads, AVariableOfAnotherSize) {
    NrtModuleOnFake a("narrow");
    const size_t at = a.text.find(".u64 TheMSys");
    a.text.replace(at, 4, ".u32");
    a.image.data = a.text.c_str();
    EXPECT_EQ(CALOTYPE_E_INVALID, load(a));
    EXPECT_EQ("6: TheMSys has 4 bytes, must have 8", last_error());
}

TEST_F(NrtLoads, ASetupThatFails) {
    const calotype_stats before = cache_stats();
    Full full("full", fail_in_setup);
    EXPECT_EQ(CALOTYPE_E_SETUP, load(full.module));
    EXPECT_EQ(0, fake_cuda::live_modules());
    // The memory system is the context's: it stays for the next module.
    EXPECT_EQ(1, fake_cuda::live_allocations());
    NrtModuleOnFake next("next");
    EXPECT_NE(nullptr, run(next));
    EXPECT_EQ(1, fake_cuda::calls("cuMemAlloc"));
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(nullptr, CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ(0, fake_cuda::live_allocations());
    expect_balance(before);
    // One of its own for debugging goes with the module.
    full.module.desc.flags |= CALOTYPE_MOD_DEBUG;
    EXPECT_EQ(CALOTYPE_E_SETUP, load(full.module));
    EXPECT_EQ(1, fake_cuda::live_allocations());
}

TEST_F(NrtLoads, ManyAtOnce) {
    constexpr int n = 8;
    std::vector<std::unique_ptr<NrtModuleOnFake>> modules;
    for (int i = 0; i < n; i++) {
        modules.push_back(std::make_unique<NrtModuleOnFake>(
            "m" + std::to_string(i), CALOTYPE_MOD_NRT | (i % 2 ? CALOTYPE_MOD_DEBUG : 0)));
    }
    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_set_heap(nullptr, 4096));
    fake_cuda::delay("cuMemAlloc", 20);
    std::vector<std::thread> threads;
    for (int i = 0; i < n; i++) {
        threads.emplace_back([&, i] {
            EXPECT_EQ(CALOTYPE_OK, load(*modules[size_t(i)]));
            EXPECT_EQ(CALOTYPE_OK, calotype_nrt_enable_stats(nullptr, 1));
            counts();
            EXPECT_EQ(CALOTYPE_OK, calotype_nrt_reset(nullptr));
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_EQ(1 + n / 2, fake_cuda::calls("cuMemAlloc"));
    EXPECT_EQ(1, fake_cuda::calls("cuCtxSetLimit"));
    EXPECT_EQ("0 0 0 0 0", counts());
}

TEST_F(NrtLoads, ByForceAndByShutdown) {
    NrtModuleOnFake a("a", CALOTYPE_MOD_NRT | CALOTYPE_MOD_DEBUG);
    calotype_hold hold;
    EXPECT_EQ(CALOTYPE_OK, calotype_initialize_kernels(nullptr, &a.desc, nullptr, &hold));
    EXPECT_EQ(CALOTYPE_E_BUSY, calotype_release_context(nullptr, CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ(2, fake_cuda::live_allocations());
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(nullptr, CALOTYPE_REL_FORCE, 0));
    EXPECT_EQ(0, fake_cuda::live_allocations());
    calotype_finalize_kernels(nullptr, &hold);
    EXPECT_EQ(CALOTYPE_OK, load(a));
    EXPECT_EQ(CALOTYPE_OK, calotype_shutdown(1000));
    EXPECT_EQ(0, fake_cuda::live_allocations());
}

TEST_F(NrtLoads, AContextThatIsLost) {
    NrtModuleOnFake a("a", CALOTYPE_MOD_NRT | CALOTYPE_MOD_DEBUG), b("b");
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(make_context(), nullptr);
    EXPECT_EQ(CALOTYPE_OK, load(a, &on));
    EXPECT_EQ(CALOTYPE_OK, load(b, &on));
    uint64_t uid = 0;
    EXPECT_EQ(CALOTYPE_OK, calotype_context_uid(&on, cuda(), &uid));
    cuCtxDestroy_v2(on.context);
    const long frees = fake_cuda::calls("cuMemFree"), reads = fake_cuda::calls("cuMemcpyDtoHAsync");
    EXPECT_EQ(CALOTYPE_OK, calotype_context_lost(uid));
    EXPECT_EQ(frees, fake_cuda::calls("cuMemFree"));
    EXPECT_EQ(reads, fake_cuda::calls("cuMemcpyDtoHAsync"));
    // The next one, at the same address, begins anew.
    calotype_device_context next = CALOTYPE_DEVICE_CONTEXT(make_context(), nullptr);
    EXPECT_EQ(on.context, next.context);
    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_set_heap(&next, 4096));
    EXPECT_NE(nullptr, run(b, nullptr, &next));
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&next, CALOTYPE_REL_BUSY, 0));
    cuCtxDestroy_v2(next.context);
}

TEST_F(NrtLoads, LostWhileAModuleIsLoaded) {
    NrtModuleOnFake a("a", CALOTYPE_MOD_NRT | CALOTYPE_MOD_DEBUG);
    static calotype_device_context on;
    on = CALOTYPE_DEVICE_CONTEXT(make_context(), nullptr);
    static uint64_t uid;
    EXPECT_EQ(CALOTYPE_OK, calotype_context_uid(&on, cuda(), &uid));
    fake_cuda::before("cuMemAlloc", [] {
        std::thread([] { EXPECT_EQ(CALOTYPE_OK, calotype_context_lost(uid)); }).detach();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    });
    EXPECT_EQ(CALOTYPE_E_CONTEXT_LOST, load(a, &on));
    fake_cuda::before("cuMemAlloc", nullptr);
    cuCtxDestroy_v2(on.context);
}

}  // namespace
