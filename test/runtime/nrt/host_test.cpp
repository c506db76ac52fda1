// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host side on the fake CUDA driver: memory systems, counters, the heap, the leak report.
#include "runtime/abi/hooks.h"
#include "runtime/abi/runtime_opencl.h"
#include "runtime/nrt/module.h"

namespace {

using namespace calotype_test;

std::string printed;
void keep_print(void *, const char *text) {
    printed += text;
    // Whoever prints may ask the runtime.
    EXPECT_EQ(CALOTYPE_E_BUSY, calotype_nrt_set_heap(nullptr, 1));
}

void ten_objects() {
    for (int i = 0; i < 10; i++) {
        NRT_decref(NRT_MemInfo_alloc_aligned(100, 16));
    }
}
std::vector<NRT_MemInfo *> kept;
void three_kept() {
    for (int i = 0; i < 3; i++) {
        kept.push_back(NRT_MemInfo_alloc(16));
    }
}
void one_kept() {
    kept.push_back(NRT_MemInfo_new_varsize(16));
}
/// After the report: nothing is leaked for real.
void free_kept() {
    for (NRT_MemInfo *mi : kept) {
        NRT_decref(mi);
    }
    kept.clear();
    EXPECT_EQ(0, nrt_on_host::live_blocks());
}

TEST_F(NrtHost, OneMemorySystemForAllModulesOfAContext) {
    NrtModuleOnFake a("a"), b("b");
    calotype_nrt_memsys *memsys = run(a);
    EXPECT_NE(nullptr, memsys);
    EXPECT_EQ(memsys, run(b));
    EXPECT_EQ(1, fake_cuda::calls("cuMemAlloc"));
    EXPECT_EQ(1, fake_cuda::live_allocations());
    EXPECT_EQ(64u, fake_cuda::live_bytes());
    // It outlives its modules.
    EXPECT_EQ(CALOTYPE_OK, calotype_trim(nullptr, 0, nullptr));
    EXPECT_EQ(0, fake_cuda::live_modules());
    EXPECT_EQ(1, fake_cuda::live_allocations());
    EXPECT_EQ(memsys, run(a));
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(nullptr, CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ(1, fake_cuda::calls("cuMemFree"));
    EXPECT_EQ(0, fake_cuda::live_allocations());
    // And is made anew.
    EXPECT_NE(nullptr, run(b));
    EXPECT_EQ(2, fake_cuda::calls("cuMemAlloc"));
}

TEST_F(NrtHost, SetOnlyWhereItIsLinked) {
    NrtModuleOnFake without("without", 0), unused("unused", CALOTYPE_MOD_NRT, false);
    EXPECT_EQ(nullptr, run(without));
    EXPECT_EQ(nullptr, run(unused));
    EXPECT_EQ(0, fake_cuda::calls("cuMemAlloc"));
    EXPECT_EQ(1, fake_cuda::calls("cuModuleGetGlobal"));
    // A linkable that needs it is as good as the module's own word.
    NrtModuleOnFake by_linkable("by linkable", 0);
    calotype_linkable_desc linkable = {};
    linkable.size = sizeof linkable;
    linkable.flags = CALOTYPE_LK_NRT;
    linkable.name = "library";
    const calotype_linkable_desc *linkables[] = {&linkable};
    by_linkable.desc.linkables = linkables;
    by_linkable.desc.n_linkables = 1;
    EXPECT_NE(nullptr, run(by_linkable));
}

TEST_F(NrtHost, CountsWhatKernelsDo) {
    NrtModuleOnFake a("a"), b("b");
    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_enable_stats(nullptr, 1));
    EXPECT_EQ("0 0 0 0 0", counts());  // and nothing has been loaded
    run(a, ten_objects);
    EXPECT_EQ("10 10 10 10 0", counts());
    run(b, [] {
        for (int i = 0; i < 5; i++) {
            NRT_decref(NRT_MemInfo_new_varsize(8));
        }
        nrt_on_host::fail_allocation(1);
        EXPECT_EQ(nullptr, NRT_Allocate(8));
    });
    EXPECT_EQ("20 20 15 15 1", counts());
    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_reset(nullptr));
    EXPECT_EQ("0 0 0 0 0", counts());
    run(a, [] { NRT_Free(NRT_Allocate(8)); });
    EXPECT_EQ("1 1 0 0 0", counts());
    calotype_nrt_stats stats = {};
    stats.size = sizeof stats;
    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_read(nullptr, &stats));
    EXPECT_EQ(8u, stats.alloc_bytes);
    EXPECT_EQ(8u, stats.free_bytes);
}

TEST_F(NrtHost, OffUntilAskedForAndAnyTimeLater) {
    NrtModuleOnFake a("a");
    EXPECT_EQ("invalid argument", counts());
    EXPECT_EQ("6: statistics of the device runtime are off; call calotype_nrt_enable_stats before "
              "the kernels run",
              last_error());
    run(a, ten_objects);
    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_enable_stats(nullptr, 1));
    EXPECT_EQ("0 0 0 0 0", counts());
    run(a, ten_objects);
    EXPECT_EQ("10 10 10 10 0", counts());
    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_enable_stats(nullptr, 0));
    run(a, ten_objects);
    EXPECT_EQ("invalid argument", counts());
    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_enable_stats(nullptr, 1));
    EXPECT_EQ("10 10 10 10 0", counts());
    EXPECT_EQ(1, fake_cuda::calls("cuMemAlloc"));
}

TEST_F(NrtHost, ContextsCountApart) {
    NrtModuleOnFake a("a");
    calotype_device_context one = CALOTYPE_DEVICE_CONTEXT(make_context(), nullptr);
    calotype_device_context two = CALOTYPE_DEVICE_CONTEXT(make_context(), nullptr);
    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_enable_stats(&one, 1));
    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_enable_stats(&two, 1));
    EXPECT_NE(run(a, ten_objects, &one), run(a, nullptr, &two));
    EXPECT_EQ("10 10 10 10 0", counts(&one));
    EXPECT_EQ("0 0 0 0 0", counts(&two));
    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_enable_stats(&one, 0));
    run(a, ten_objects, &two);
    EXPECT_EQ("invalid argument", counts(&one));
    EXPECT_EQ("10 10 10 10 0", counts(&two));
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&one, CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("10 10 10 10 0", counts(&two));
    EXPECT_EQ(1, fake_cuda::live_allocations());
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&two, CALOTYPE_REL_BUSY, 0));
    cuCtxDestroy_v2(one.context);
    cuCtxDestroy_v2(two.context);
}

TEST_F(NrtHost, SizesThatAreWrong) {
    calotype_nrt_stats stats = {};
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_nrt_read(nullptr, &stats));
    EXPECT_EQ("6: the size of the statistics is 0, must be 64", last_error());
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_nrt_read(nullptr, nullptr));
    EXPECT_EQ("6: the size of the statistics is 0, must be 64", last_error());
}

// ---- the heap ----------------------------------------------------------------------------------

TEST_F(NrtHost, TheHeapIsSetBeforeTheFirstLoad) {
    NrtModuleOnFake plain("plain", 0), a("a"), b("b");
    EXPECT_EQ(CALOTYPE_OK, load(plain));
    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_set_heap(nullptr, 1 << 20));
    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_set_heap(nullptr, 64 << 20));
    EXPECT_EQ(0, fake_cuda::calls("cuCtxSetLimit"));
    static long loads;
    static size_t bytes;
    fake_cuda::before("cuCtxSetLimit", [] { loads = fake_cuda::calls("cuModuleLoadDataEx"); });
    fake_cuda::before("cuModuleLoadDataEx",
                      [] { bytes = fake_cuda::heap_bytes(fake_cuda::current_context()); });
    EXPECT_EQ(CALOTYPE_OK, load(a));
    EXPECT_EQ(1, loads);
    EXPECT_EQ(size_t(64) << 20, bytes);
    EXPECT_EQ(CALOTYPE_OK, load(b));
    EXPECT_EQ(1, fake_cuda::calls("cuCtxSetLimit"));
    const std::string busy =
        "6: the heap of kernels has its size: a module with the device runtime "
        "has been loaded in this context";
    EXPECT_EQ(CALOTYPE_E_BUSY, calotype_nrt_set_heap(nullptr, 1 << 20));
    EXPECT_EQ(busy, last_error());
    // Until the context is released; others have heaps of their own.
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(nullptr, CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_set_heap(nullptr, 1 << 20));
    calotype_device_context other = CALOTYPE_DEVICE_CONTEXT(make_context(), nullptr);
    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_set_heap(&other, 1 << 20));
    EXPECT_EQ(CALOTYPE_OK, load(a, &other));
    EXPECT_EQ(size_t(1) << 20, fake_cuda::heap_bytes(other.context));
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&other, CALOTYPE_REL_BUSY, 0));
    cuCtxDestroy_v2(other.context);
}

TEST_F(NrtHost, AHeapThatOthersUseAlready) {
    NrtModuleOnFake a("a");
    fake_cuda::before("cuCtxSetLimit", fake_cuda::use_heap);
    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_set_heap(nullptr, 1 << 20));
    EXPECT_EQ(CALOTYPE_E_BUSY, load(a));
    EXPECT_EQ("6: cuCtxSetLimit: CUDA_ERROR_INVALID_VALUE (1), invalid argument; a heap of 1048576 "
              "bytes was asked for, which must be before any kernel of the context has allocated",
              last_error());
    EXPECT_EQ(0, fake_cuda::live_modules());
    // Without the wish it goes.
    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_set_heap(nullptr, 0));
    EXPECT_EQ(CALOTYPE_OK, load(a));
}

// ---- leaks -------------------------------------------------------------------------------------

class NrtLeaks : public NrtHost {
protected:
    calotype_print_t before;

    NrtLeaks() : before(calotype_set_custom_print(keep_print)) {
        printed.clear();
    }
    ~NrtLeaks() override {
        calotype_set_custom_print(before);
    }
    static std::string context_number() {
        uint64_t uid = 0;
        EXPECT_EQ(CALOTYPE_OK, calotype_context_uid(nullptr, cuda(), &uid));
        return std::to_string(uid);
    }
};

TEST_F(NrtLeaks, AreReportedWhenTheContextIsReleased) {
    NrtModuleOnFake a("a");
    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_enable_stats(nullptr, 1));
    run(a, three_kept);
    run(a, ten_objects);
    const std::string context = context_number();
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(nullptr, CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("device runtime: 3 of 13 allocations in context " + context +
                  " of CUDA were not freed, 213 bytes\n",
              printed);
    free_kept();
}

TEST_F(NrtLeaks, OfModulesForDebuggingByModule) {
    NrtModuleOnFake a("a", CALOTYPE_MOD_NRT | CALOTYPE_MOD_DEBUG),
        b("b", CALOTYPE_MOD_NRT | CALOTYPE_MOD_DEBUG), clean("clean", 1 | CALOTYPE_MOD_DEBUG),
        c("c");
    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_enable_stats(nullptr, 1));
    calotype_nrt_memsys *of_a = run(a, three_kept);
    EXPECT_NE(of_a, run(b, one_kept));
    run(c, one_kept);
    run(clean, ten_objects);
    EXPECT_EQ("17 10 15 10 0", counts());
    EXPECT_EQ(4, fake_cuda::live_allocations());
    // Counts of a module that went and came again are added up.
    EXPECT_EQ(CALOTYPE_OK, calotype_evict(nullptr, &a.desc, 0));
    EXPECT_EQ(3, fake_cuda::live_allocations());
    run(a, three_kept);
    EXPECT_EQ("20 10 18 10 0", counts());
    const std::string context = context_number();
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(nullptr, CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("device runtime: 10 of 20 allocations in context " + context +
                  " of CUDA were not freed, 538 bytes\n"
                  "device runtime: 2 of 2 of module b, 56 bytes\n"
                  "device runtime: 6 of 6 of module a, 426 bytes\n",
              printed);
    EXPECT_EQ(0, fake_cuda::live_allocations());
    free_kept();
}

// As a generator makes it of a target with `debug`: its kernels as PTX, and beside them the
// runtime's form for debugging, linked where the module is loaded.
TEST_F(NrtLeaks, OfAModuleThatIsLinkedWithTheFormForDebugging) {
    const std::string runtime =
        ".version 6.0\n.target sm_60\n.address_size 64\n// debug\n"
        ".visible .global .align 8 .u64 TheMSys;\n.visible .func NRT_Check() { trap; ret; }\n";
    const calotype_image image = {CALOTYPE_PTX, 60, 0, runtime.c_str(), runtime.size()};
    calotype_linkable_desc linkable = {};
    linkable.size = sizeof linkable;
    linkable.name = "calotype_nrt_debug";
    linkable.images = &image;
    linkable.n_images = 1;
    const calotype_linkable_desc *linkables[] = {&linkable};
    NrtModuleOnFake generated("generated", CALOTYPE_MOD_NRT | CALOTYPE_MOD_DEBUG, false),
        plain("plain");
    generated.desc.linkables = linkables;
    generated.desc.n_linkables = 1;
    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_enable_stats(nullptr, 1));
    calotype_nrt_memsys *of_plain = run(plain, one_kept), *of_generated = run(generated, one_kept);
    ASSERT_NE(nullptr, of_generated);
    EXPECT_NE(of_plain, of_generated);
    EXPECT_EQ(2u, of_generated->alloc);
    const std::string context = context_number();
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(nullptr, CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("device runtime: 4 of 4 allocations in context " + context +
                  " of CUDA were not freed, 112 bytes\n"
                  "device runtime: 2 of 2 of module generated, 56 bytes\n",
              printed);
    EXPECT_EQ(0, fake_cuda::live_allocations());
    free_kept();
}

TEST_F(NrtLeaks, NothingToReport) {
    NrtModuleOnFake a("a");
    run(a, three_kept);  // not counted
    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_enable_stats(nullptr, 1));
    run(a, [] { free_kept(); });  // more freed than allocated
    EXPECT_EQ("0 3 0 3 0", counts());
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(nullptr, CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("", printed);
}

TEST_F(NrtLeaks, FewerBytesAllocatedThanFreed) {
    NrtModuleOnFake a("a");
    run(a, three_kept);  // not counted
    EXPECT_EQ(CALOTYPE_OK, calotype_nrt_enable_stats(nullptr, 1));
    run(a, [] { free_kept(); });
    run(a, one_kept);
    run(a, one_kept);
    EXPECT_EQ("4 3 2 3 0", counts());
    const std::string context = context_number();
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(nullptr, CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("device runtime: 1 of 4 allocations in context " + context +
                  " of CUDA were not freed, 0 bytes\n",
              printed);
    free_kept();
}

// ---- contexts that are none --------------------------------------------------------------------

TEST_F(NrtHost, ContextsOfOthers) {
    int other = 0;
    calotype_device_context opencl = CALOTYPE_DEVICE_CONTEXT(&other, nullptr);
    opencl.device_interface = calotype_opencl_device_interface();
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_nrt_set_heap(&opencl, 1));
    EXPECT_EQ("0: the context of the call is not one of CUDA", last_error());
}

}  // namespace
