// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime asks for functions of libraries by a hook, which answers with ours where there is
// one.
#include "gpu/scenarios/faults.h"

#include <cstring>

#include "runtime/abi/runtime_cuda.h"
#include "runtime/abi/symbols.h"
#include "runtime/cuda/driver.h"

namespace calotype_test {

namespace {

using calotype::runtime::cuda::CUresult;
using calotype::runtime::cuda::Driver;

template<auto function>
struct Planned;
/// Calls the driver's function unless it is to fail.
template<typename... Args, CUresult (*Driver::*function)(Args...)>
struct Planned<function> {
    static inline const char *name = nullptr;
    static inline CUresult (*real)(Args...) = nullptr;

    static CUresult call(Args... args) {
        const int planned = driver_faults().enter(name);
        return planned ? CUresult(planned) : real(args...);
    }
    static void *before(const char *name_of_real, void *found) {
        name = name_of_real;
        real = reinterpret_cast<CUresult (*)(Args...)>(found);
        return reinterpret_cast<void *>(call);
    }
};

void *find_function(void *library, const char *name) {
    void *found = calotype_default_get_library_symbol(library, name);
    if (found && !strcmp(name, "cuModuleLoadDataEx")) {
        return Planned<&Driver::cuModuleLoadDataEx>::before("cuModuleLoadDataEx", found);
    }
    if (found && !strcmp(name, "cuLinkComplete")) {
        return Planned<&Driver::cuLinkComplete>::before("cuLinkComplete", found);
    }
    return found;
}

}  // namespace

FakeCalls &driver_faults() {
    static FakeCalls &faults = *new FakeCalls;  // what runs at exit calls the driver, too
    return faults;
}

int put_faults_before_driver() {
    calotype_set_custom_get_library_symbol(find_function);
    return calotype_cuda_set_driver_library("libcuda.so.1");
}

}  // namespace calotype_test
