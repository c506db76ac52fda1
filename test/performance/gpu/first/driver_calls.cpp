// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "performance/gpu/first/driver_calls.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>

#include <dlfcn.h>

#include "runtime/abi/runtime_cuda.h"
#include "runtime/abi/symbols.h"

namespace calotype_bench {

namespace {

namespace cuda = calotype::runtime::cuda;
using namespace calotype::runtime::cuda;

// ---- with a clock ----------------------------------------------------------------------------

struct Row {
    const char *name;    ///< without suffix
    const char *symbol;  ///< with it
    void *timed, *nothing;
    size_t offset;  ///< in cuda::Driver
    void *real = nullptr;
    double ns = 0;
    long calls = 0;
};
extern Row rows[];

/** Whether the calls of this thread are timed: the runtime has others. */
thread_local bool is_timed = false;

double now() {
    return double(std::chrono::steady_clock::now().time_since_epoch().count());
}

template<int number, typename F>
struct Call;
template<int number, typename... Args>
struct Call<number, CUresult (*)(Args...)> {
    static CUresult timed(Args... args) {
        Row &row = rows[number];
        const auto real = reinterpret_cast<CUresult (*)(Args...)>(row.real);
        if (!is_timed) {
            return real(args...);
        }
        const double begin = now();
        const CUresult code = real(args...);
        row.ns += now() - begin;
        row.calls++;
        return code;
    }
    static CUresult nothing(Args...) {
        return CUDA_SUCCESS;
    }
};

enum Number {
#define CALOTYPE_CUDA_CALL(name, suffix, since, parameters) number_##name,
#include "runtime/cuda/driver.def"
#undef CALOTYPE_CUDA_CALL
    n_rows
};

#define TEXT_OF(x) #x
#define NAME_OF(x) TEXT_OF(x)
#define CALOTYPE_CUDA_CALL(name, suffix, since, parameters)                                        \
    {#name, NAME_OF(name##suffix),                                                                 \
     reinterpret_cast<void *>(&Call<number_##name, decltype(cuda::Driver::name)>::timed),          \
     reinterpret_cast<void *>(&Call<number_##name, decltype(cuda::Driver::name)>::nothing),        \
     offsetof(cuda::Driver, name)},
Row rows[n_rows] = {
#include "runtime/cuda/driver.def"
};
#undef CALOTYPE_CUDA_CALL

Row *row_of(const char *symbol) {
    Row *found =
        std::find_if(rows, rows + n_rows, [&](const Row &r) { return !strcmp(r.symbol, symbol); });
    return found == rows + n_rows ? nullptr : found;
}

void *timed_symbol(void *library, const char *symbol) {
    void *real = dlsym(library, symbol);
    Row *row = row_of(symbol);
    if (!row || !real) {
        return real;
    }
    row->real = real;
    return row->timed;
}

// ---- nothing at all --------------------------------------------------------------------------

Told told_of_launch;
uint64_t next_address = 1 << 20;

/// What the runtime has to be told so that it goes on: one device, one context, addresses.
CUresult get_count(int *count) {
    *count = 1;
    return CUDA_SUCCESS;
}
CUresult get_version(int *version) {
    *version = 13000;
    return CUDA_SUCCESS;
}
CUresult get_attribute(int *value, CUdevice_attribute attribute, CUdevice) {
    *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR   ? 0
             : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9
                                                                         : 1024;
    return CUDA_SUCCESS;
}
CUresult get_context(CUcontext *context, CUdevice) {
    *context = reinterpret_cast<CUcontext>(rows);
    return CUDA_SUCCESS;
}
CUresult get_current(CUcontext *context) {
    return get_context(context, 0);
}
CUresult get_device(CUdevice *device) {
    *device = 0;
    return CUDA_SUCCESS;
}
CUresult get_id(CUcontext, unsigned long long *id) {
    *id = 1;
    return CUDA_SUCCESS;
}
CUresult load(CUmodule *module, const void *, unsigned, CUjit_option *, void **) {
    *module = reinterpret_cast<CUmodule>(rows);
    return CUDA_SUCCESS;
}
CUresult get_function(CUfunction *function, CUmodule, const char *) {
    *function = reinterpret_cast<CUfunction>(rows);
    return CUDA_SUCCESS;
}
CUresult make_pool(CUmemoryPool *pool, const CUmemPoolProps *) {
    *pool = reinterpret_cast<CUmemoryPool>(rows);
    return CUDA_SUCCESS;
}
CUresult allocate(CUdeviceptr *address, size_t bytes, CUmemoryPool, CUstream) {
    *address = next_address;
    next_address += (bytes + 511) / 512 * 512;
    return CUDA_SUCCESS;
}
CUresult launch(CUfunction, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                unsigned bz, unsigned, CUstream, void **args, void **) {
    const unsigned grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
    if (told_of_launch) {
        told_of_launch(grid, block, args);
    }
    return CUDA_SUCCESS;
}

void *symbol_of_nothing(void *, const char *symbol) {
    static const std::map<std::string, void *> answers = {
        {"cuDriverGetVersion", reinterpret_cast<void *>(get_version)},
        {"cuDeviceGetCount", reinterpret_cast<void *>(get_count)},
        {"cuDeviceGetAttribute", reinterpret_cast<void *>(get_attribute)},
        {"cuDevicePrimaryCtxRetain", reinterpret_cast<void *>(get_context)},
        {"cuCtxGetCurrent", reinterpret_cast<void *>(get_current)},
        {"cuCtxGetDevice", reinterpret_cast<void *>(get_device)},
        {"cuCtxGetId", reinterpret_cast<void *>(get_id)},
        {"cuModuleLoadDataEx", reinterpret_cast<void *>(load)},
        {"cuModuleGetFunction", reinterpret_cast<void *>(get_function)},
        {"cuMemPoolCreate", reinterpret_cast<void *>(make_pool)},
        {"cuMemAllocFromPoolAsync", reinterpret_cast<void *>(allocate)},
        {"cuLaunchKernel", reinterpret_cast<void *>(launch)}};
    const auto answer = answers.find(symbol);
    const Row *row = row_of(symbol);
    return answer != answers.end() ? answer->second : row ? row->nothing : nullptr;
}

}  // namespace

const cuda::Driver *timed_driver() {
    is_timed = true;
    static cuda::Driver driver = {};
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    for (const Row &row : rows) {
        void *function = library ? timed_symbol(library, row.symbol) : nullptr;
        memcpy(reinterpret_cast<char *>(&driver) + row.offset, &function, sizeof function);
    }
    return driver.cuInit && driver.cuCtxGetId && driver.cuMemPoolCreate ? &driver : nullptr;
}

void clock_runtime() {
    calotype_set_custom_get_library_symbol(timed_symbol);
}

std::vector<DriverTime> take_times() {
    std::vector<DriverTime> times;
    for (Row &row : rows) {
        if (row.calls > 0) {
            times.push_back({row.name, row.ns / 1e3, row.calls});
        }
        row.ns = 0;
        row.calls = 0;
    }
    std::sort(times.begin(), times.end(),
              [](const DriverTime &a, const DriverTime &b) { return a.us > b.us; });
    return times;
}

void use_no_driver(Told told) {
    told_of_launch = std::move(told);
    calotype_set_custom_load_library([](const char *) -> void * { return rows; });
    calotype_set_custom_get_library_symbol(symbol_of_nothing);
}

}  // namespace calotype_bench
