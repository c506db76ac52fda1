// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "processing_element.h"

#include <atomic>
#include <cstring>
#include <stdexcept>

#include <calotype/runtime.h>
#include <calotype/runtime/abi/linkables.h>
#include <calotype/runtime/abi/runtime_cuda.h>
#include <dlfcn.h>
#include <host/nvshmemx_api.h>

static_assert(sizeof(nvshmemx_uniqueid_t) <= sizeof(Meeting), "Meeting is too small");

namespace {

std::atomic<int> setups{0}, teardowns{0};

void check(const char *what, int code) {
    if (code != 0) {
        throw std::runtime_error(std::string(what) + " failed with " + std::to_string(code));
    }
}

/// NVSHMEM works in the context that is current; the pipelines take the device's primary one.
void make_context_current(int device) {
    calotype_set_gpu_device(device);
    CUctx_st *context = nullptr;
    check("making a context", calotype_cuda_acquire_context(nullptr, &context, true));
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    auto *set_current = reinterpret_cast<int (*)(CUctx_st *)>(
        library ? dlsym(library, "cuCtxSetCurrent") : nullptr);
    check("cuCtxSetCurrent", set_current ? set_current(context) : -1);
    calotype_cuda_release_context(nullptr);
}

}  // namespace

Meeting ProcessingElement::call_meeting() {
    nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
    check("nvshmemx_get_uniqueid", nvshmemx_get_uniqueid(&id));
    Meeting meeting = {};
    std::memcpy(meeting.bytes, &id, sizeof id);
    return meeting;
}

ProcessingElement::ProcessingElement(int number, int count, const Meeting &meeting) {
    make_context_current(number);
    nvshmemx_uniqueid_t id;
    std::memcpy(&id, meeting.bytes, sizeof id);
    nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
    check("nvshmemx_set_attr_uniqueid_args",
          nvshmemx_set_attr_uniqueid_args(number, count, &id, &attributes));
    check("nvshmemx_hostlib_init_attr",
          nvshmemx_hostlib_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes));
}

ProcessingElement::~ProcessingElement() {
    nvshmemx_hostlib_finalize();
}

uint64_t ProcessingElement::allocate(size_t bytes) {
    void *memory = nvshmem_malloc(bytes);
    if (!memory) {
        throw std::runtime_error("nvshmem_malloc has no " + std::to_string(bytes) + " bytes");
    }
    return uint64_t(reinterpret_cast<uintptr_t>(memory));
}

void ProcessingElement::free(uint64_t address) {
    nvshmem_free(reinterpret_cast<void *>(uintptr_t(address)));
}

void ProcessingElement::barrier() {
    nvshmem_barrier_all();
}

// A module has its own copy of NVSHMEM's state, which NVSHMEM fills, and keeps up to date as long
// as it knows the module.
extern "C" int nvshmem_setup(const calotype_callback_args *args) {
    setups++;
    return nvshmemx_cumodule_init(static_cast<CUmodule>(args->module));
}

extern "C" int nvshmem_teardown(const calotype_callback_args *args) {
    teardowns++;
    return args->module ? nvshmemx_cumodule_finalize(static_cast<CUmodule>(args->module)) : 0;
}

ModuleCalls module_calls() {
    return {setups, teardowns};
}
