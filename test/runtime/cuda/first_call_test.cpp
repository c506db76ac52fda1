// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the first call asks of the driver: no more for a module that its generator has linked.
#include <cstring>

#include "harness/cache_stats.h"
#include "harness/nothing_module.h"
#include "runtime/abi/kernel_cache.h"
#include "runtime/cuda/fixture.h"

namespace {

using calotype_test::cache_stats;
using calotype_test::FakeCuda;

/// A complete cubin with kernel `nothing`: header, names, two section headers.
std::string cubin() {
    constexpr size_t header = 64, section = 64;
    const std::string names("\0.names\0.text.nothing\0", 22);
    std::string elf("\x7f"
                    "ELF\2\1\1",
                    7);
    elf.resize(header);
    const auto put = [&](size_t at, uint64_t value, size_t size) {
        std::memcpy(&elf[at], &value, size);
    };
    put(16, 2, 2);    // executable
    put(18, 190, 2);  // CUDA
    put(40, header + names.size(), 8);
    put(58, section, 2);
    put(60, 2, 2);
    elf += names;
    const size_t first = elf.size(), second = first + section;
    elf.resize(second + section);
    put(first, 1, 4);
    put(first + 24, header, 8);
    put(first + 32, names.size(), 8);
    put(second, 8, 4);
    return elf;
}

class CudaFirstCall : public FakeCuda {
protected:
    const std::string code = cubin();
    calotype_test::NothingModule module;
    calotype_device_context on = {};

    CudaFirstCall() {
        module.image = {CALOTYPE_CUBIN, 90, 0, code.data(), code.size()};
        module.desc.uid.b[1] = 1;
        on.context = make_context();
        EXPECT_EQ(0, calotype_test::NothingModule().call(&on));  // the context is known by now
        calotype_reset_stats();
    }
    Calls first_call() {
        return calls_of({"cuModuleLoadDataEx", "cuModuleGetFunction", "cuModuleGetGlobal",
                         "cuLaunchKernel", "cuLinkCreate", "cuLinkAddData", "cuLinkComplete",
                         "cuCtxSynchronize", "cuStreamSynchronize", "cuMemcpyHtoDAsync",
                         "cuMemAlloc", "cuEventCreate", "cuEventRecord", "cuEventQuery"},
                        [&] { EXPECT_EQ(0, module.call(&on)); });
    }
    void end() {
        EXPECT_EQ(0u, cache_stats().compiles);
        EXPECT_EQ(0u, cache_stats().links);
        EXPECT_EQ(1u, cache_stats().loads);
        EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&on, CALOTYPE_REL_BUSY, 0));
        EXPECT_EQ(0, cuCtxDestroy_v2(on.context));
    }
};

const std::map<std::string, long> plain = {
    {"cuModuleLoadDataEx", 1}, {"cuModuleGetFunction", 1}, {"cuLaunchKernel", 1}};

TEST_F(CudaFirstCall, OfACubin) {
    EXPECT_EQ(plain, first_call());
    end();
}

TEST_F(CudaFirstCall, OfACubinThatALinkableIsLinkedInto) {
    static int setups;
    setups = 0;
    const calotype_image ptx = {CALOTYPE_PTX, 70, 0, calotype_test::NothingModule::ptx,
                                sizeof calotype_test::NothingModule::ptx - 1};
    calotype_linkable_desc linkable = {};
    linkable.size = sizeof linkable;
    linkable.name = "table";
    linkable.images = &ptx;
    linkable.n_images = 1;
    linkable.setup = [](const calotype_callback_args *) {
        setups++;
        return 0;
    };
    const calotype_linkable_desc *const linkables[] = {&linkable};
    module.desc.linkables = linkables;
    module.desc.n_linkables = 1;
    // What the setup may have queued is waited for, by an event.
    Calls with_event = plain;
    with_event["cuEventCreate"] = with_event["cuEventRecord"] = with_event["cuEventQuery"] = 1;
    EXPECT_EQ(with_event, first_call());
    EXPECT_EQ(1, setups);
    end();
}

}  // namespace
