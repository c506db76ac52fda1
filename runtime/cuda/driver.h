// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver's functions, found when they are first needed.
#pragma once

#include <atomic>

#include "runtime/abi/kernels.h"
#include "runtime/cuda/driver_types.h"
#include "runtime/device/kernel_backend.h"
#include "runtime/host/text.h"

namespace calotype::runtime::cuda {

/** A function for each row of driver.def, under its name without suffix; null if an optional one
 * is missing. */
struct alignas(64) Driver {
    int version;            ///< 13000 for 13.0
    int devices;            ///< how many there are
    bool has_pools;         ///< all functions on memory pools are there
    bool has_graphs;        ///< all functions on graphs
    bool has_user_objects;  ///< a graph can tell when it goes
#define CALOTYPE_CUDA_CALL(name, suffix, since, parameters) CUresult(*name) parameters;
#include "runtime/cuda/driver.def"
#undef CALOTYPE_CUDA_CALL
};

/** Null until it was found. */
extern std::atomic<const Driver *> found_driver;
/** What find_driver() does the first time. */
const Driver *search_for_driver(bool explain);

/** The driver, loaded and initialised with at least one device; else null, with what is missing
 * kept as the failure of this thread if that is wanted. A failure is final, like success, unless
 * the driver or its server says that it is not ready: then it is asked again. */
inline const Driver *find_driver(bool explain = true) {
    const Driver *found = found_driver.load(std::memory_order_acquire);
    return found ? found : search_for_driver(explain);
}

/** The same after someone has found it: no test, no call. */
inline const Driver &driver() {
    return *found_driver.load(std::memory_order_acquire);
}

/** "CUDA_ERROR_OUT_OF_MEMORY (2), out of memory". */
void append_result(Text &text, CUresult result);
/** Keep "cuMemAlloc: CUDA_ERROR_..." as the failure of this thread. Answers with the result. */
CUresult note_failure(const char *call, CUresult result);
/** "cuMemAlloc" for a function at that offset in Driver. */
const char *name_of_call(size_t offset);
/** invoke(&Driver::cuMemAlloc, &address, bytes): call the driver, and note_failure(). */
template<typename... Parameters, typename... Args>
CUresult invoke(CUresult (*Driver::*function)(Parameters...), Args... args) {
    const Driver &d = driver();
    const CUresult code = (d.*function)(args...);
    const auto *entry = reinterpret_cast<const char *>(&(d.*function));
    return code == CUDA_SUCCESS
               ? code
               : note_failure(name_of_call(size_t(entry - reinterpret_cast<const char *>(&d))),
                              code);
}
/** What a result means for the caller; `otherwise` for those that have no status of their own. */
calotype_status status_of(CUresult result, calotype_status otherwise = CALOTYPE_E_DEVICE);
/** The same for a call in a context, which is told to the cache if it does not recover from that
 * (context_has_failed). Without a lock. */
calotype_status status_in(const DeviceScope &scope, CUresult result,
                          calotype_status otherwise = CALOTYPE_E_DEVICE);

}  // namespace calotype::runtime::cuda
