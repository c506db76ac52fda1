// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/driver.h"

#include <atomic>
#include <stdlib.h>
#include <string.h>

#include "runtime/abi/errors.h"
#include "runtime/abi/runtime_cuda.h"
#include "runtime/abi/symbols.h"
#include "runtime/cuda/context.h"
#include "runtime/device/cache/kernel_cache.h"
#include "runtime/device/failure.h"
#include "runtime/host/environment.h"
#include "runtime/host/sync.h"
#include "runtime/host/timed_wait.h"
#include "runtime/host/weak.h"

namespace calotype::runtime::cuda {

namespace {

/** Older ones lack what the required rows of the table name. */
constexpr int oldest_version = 11000;

struct Entry {
    const char *symbol, *name;
    int since;
    size_t offset;  ///< in Driver
};

#define CALOTYPE_TEXT_OF(x) #x
#define CALOTYPE_NAME_OF(x) CALOTYPE_TEXT_OF(x)
constexpr Entry entries[] = {
#define CALOTYPE_CUDA_CALL(name, suffix, since, parameters)                                        \
    {CALOTYPE_NAME_OF(name##suffix), #name, since, offsetof(Driver, name)},
#include "runtime/cuda/driver.def"
#undef CALOTYPE_CUDA_CALL
};

/** What was found, in memory that is never given back. */
struct Search {
    Driver driver;
    void *library;
    bool has_functions;
    bool succeeded;
    std::atomic<bool> is_over;  ///< nothing of it changes any more
    Text why_not;
};

constinit Mutex search_lock;
std::atomic<Search *> result{nullptr};
char replacement_name[512];  ///< with the lock held

Text &operator<<(Text &text, const char *const *names) {
    for (int i = 0; names[i]; i++) {
        text << (i ? " or " : "") << names[i];
    }
    return text;
}

void append_version(Text &text, int version) {
    text << version / 1000 << '.' << version % 1000 / 10;
}

void *load_library(Text &why_not) {
    const char *usual[] = {"libcuda.so.1", "libcuda.so", nullptr};
    const char *chosen[] = {replacement_name, nullptr};
    if (!replacement_name[0]) {
        const char *from_environment = environment("CT_CUDA_DRIVER_LIBRARY");
        chosen[0] = from_environment && from_environment[0] ? from_environment : nullptr;
    }
    const char *const *names = chosen[0] ? chosen : usual;
    for (int i = 0; names[i]; i++) {
        if (void *library = calotype_load_library(names[i])) {
            return library;
        }
    }
    why_not << "no CUDA driver: cannot load " << names;
    return nullptr;
}

/** Fill the table; whether all that is required is there. */
bool find_functions(void *library, Search &search) {
    const char *missing = nullptr;
    for (const Entry &entry : entries) {
        void *function = calotype_get_library_symbol(library, entry.symbol);
        memcpy(reinterpret_cast<char *>(&search.driver) + entry.offset, &function, sizeof function);
        if (!function && entry.since > 0 && !missing) {
            missing = entry.symbol;
        }
    }
    const Driver &d = search.driver;
    if (missing) {
        search.why_not << "the CUDA driver has no " << missing << "; version ";
        append_version(search.why_not, oldest_version);
        search.why_not << " or later is needed";
        if (d.cuDriverGetVersion && d.cuDriverGetVersion(&search.driver.version) == CUDA_SUCCESS) {
            search.why_not << ", found ";
            append_version(search.why_not, d.version);
        }
    }
    search.driver.has_pools = d.cuMemPoolCreate && d.cuMemPoolDestroy && d.cuMemPoolSetAttribute &&
                              d.cuMemPoolTrimTo && d.cuMemAllocFromPoolAsync && d.cuMemFreeAsync;
    search.driver.has_graphs = d.cuGraphCreate && d.cuGraphAddKernelNode &&
                               d.cuGraphInstantiateWithFlags && d.cuGraphExecKernelNodeSetParams &&
                               d.cuGraphLaunch && d.cuGraphExecDestroy && d.cuGraphDestroy;
    search.driver.has_user_objects = d.cuStreamGetCaptureInfo && d.cuUserObjectCreate &&
                                     d.cuUserObjectRelease && d.cuGraphRetainUserObject;
    return !missing;
}

void append_result_of(Text &text, const Driver &d, CUresult result) {
    const char *name = nullptr, *meaning = nullptr;
    if (!d.cuGetErrorName || d.cuGetErrorName(result, &name) != CUDA_SUCCESS || !name) {
        name = "CUDA error";
    }
    text << name << " (" << int(result) << ')';
    if (d.cuGetErrorString && d.cuGetErrorString(result, &meaning) == CUDA_SUCCESS && meaning) {
        text << ", " << meaning;
    }
}

/** Of errors.def. */
enum class Kind { success, out_of_memory, invalid, gone, captured, sticky, transient, other };

Kind kind_of(CUresult code) {
    switch (code) {
#define CALOTYPE_CUDA_RESULT(number, name, kind)                                                   \
    case name:                                                                                     \
        return Kind::kind;
#include "runtime/cuda/errors.def"
#undef CALOTYPE_CUDA_RESULT
    }
    return Kind::other;
}

bool start(Search &search, bool *may_come) {
    Driver &d = search.driver;
    if (d.cuDriverGetVersion(&d.version) == CUDA_SUCCESS && d.version < oldest_version) {
        search.why_not << "the CUDA driver is of version ";
        append_version(search.why_not, d.version);
        search.why_not << ", at least ";
        append_version(search.why_not, oldest_version);
        search.why_not << " is needed";
        return false;
    }
    CUresult code = d.cuInit(0);
    if (code == CUDA_SUCCESS) {
        code = d.cuDeviceGetCount(&d.devices);
    }
    if (code == CUDA_ERROR_NO_DEVICE || (code == CUDA_SUCCESS && d.devices <= 0)) {
        search.why_not << "there is a CUDA driver, but no device";
        return false;
    }
    if (code != CUDA_SUCCESS) {
        search.why_not << "the CUDA driver does not start: ";
        append_result_of(search.why_not, d, code);
        *may_come = kind_of(code) == Kind::transient;
    }
    return code == CUDA_SUCCESS;
}

/** Null: out of memory. The lock is held. */
Search *begin_search() {
    void *memory = nullptr;
    if (posix_memalign(&memory, alignof(Search), sizeof(Search)) != 0) {
        return nullptr;
    }
    Search *search = new (memory) Search();
    search->library = load_library(search->why_not);
    search->has_functions = search->library && find_functions(search->library, *search);
    result.store(search, std::memory_order_release);
    return search;
}

/** The search to its end, or as far as it comes now. */
const Driver *go_on_searching(bool explain) {
    LockGuard lock(search_lock);
    Search *search = result.load(std::memory_order_relaxed);
    search = search ? search : begin_search();
    if (search && !search->is_over.load(std::memory_order_relaxed)) {
        bool may_come = false;
        if (search->has_functions) {
            search->why_not.clear();
            search->succeeded = start(*search, &may_come);
        }
        // Before the search is over for others, which then rely on driver().
        if (search->succeeded) {
            found_driver.store(&search->driver, std::memory_order_release);
        }
        search->is_over.store(!may_come, std::memory_order_release);
    }
    if (explain && !(search && search->succeeded)) {
        set_failure(search ? search->why_not.c_str() : "out of host memory");
    }
    return search && search->succeeded ? &search->driver : nullptr;
}

}  // namespace

constinit std::atomic<const Driver *> found_driver{nullptr};

const Driver *search_for_driver(bool explain) {
    const Search *search = result.load(std::memory_order_acquire);
    if (!search || !search->is_over.load(std::memory_order_acquire)) {
        return go_on_searching(explain);
    }
    if (explain && !search->succeeded) {
        set_failure(search->why_not);
    }
    return search->succeeded ? &search->driver : nullptr;
}

void append_result(Text &text, CUresult code) {
    append_result_of(text, driver(), code);
}

CUresult note_failure(const char *call, CUresult code) {
    if (code != CUDA_SUCCESS) {
        Text text;
        text << call << ": ";
        append_result(text, code);
        set_failure(text, code);
    }
    return code;
}

calotype_status status_in(const DeviceScope &scope, CUresult code, calotype_status otherwise) {
    if (kind_of(code) == Kind::sticky) {
        context_has_failed(scope.context_uid);
    }
    return status_of(code, otherwise);
}

calotype_status status_of(CUresult code, calotype_status otherwise) {
    switch (kind_of(code)) {
    case Kind::success:
        return CALOTYPE_OK;
    case Kind::out_of_memory:
        return CALOTYPE_E_OOM;
    case Kind::invalid:  // the handle, of a stream of another context, say
        return CALOTYPE_E_INVALID;
    case Kind::gone:
    case Kind::sticky:
        return CALOTYPE_E_CONTEXT_LOST;
    case Kind::captured:
        return CALOTYPE_E_CAPTURE;
    default:
        return otherwise;
    }
}

const char *name_of_call(size_t offset) {
    const Entry *entry = entries;
    while (entry->offset != offset) {
        entry++;
    }
    return entry->name;
}

}  // namespace calotype::runtime::cuda

using namespace calotype::runtime;

CALOTYPE_WEAK void *calotype_cuda_get_symbol(void *, const char *name) {
    using namespace calotype::runtime::cuda;
    search_for_driver(false);
    const Search *search = result.load(std::memory_order_acquire);
    return search && search->library ? calotype_get_library_symbol(search->library, name) : nullptr;
}

CALOTYPE_WEAK int calotype_cuda_set_driver_library(const char *file_name) {
    using namespace calotype::runtime::cuda;
    await_prefetches(no_deadline);  // they use what there is
    {
        LockGuard lock(search_lock);
        const size_t length = file_name ? strlen(file_name) : 0;
        if (length >= sizeof replacement_name) {
            return calotype_error_code_symbol_not_found;
        }
        memcpy(replacement_name, file_name ? file_name : "", length + 1);
        found_driver.store(nullptr, std::memory_order_release);
        if (Search *before = result.exchange(nullptr)) {
            before->~Search();
            free(before);
        }
        forget_devices();
    }
    return find_driver(false) ? 0 : calotype_error_code_symbol_not_found;
}
