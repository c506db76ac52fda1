// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loading the device code of a pipeline before its first call, on threads of the runtime.
#pragma once

#include <calotype/runtime/abi/kernel_cache.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "call.h"

namespace calotype::python {

/// What a prefetch asks of the runtime that the pipeline is linked with.
struct PrefetchFunctions {
    decltype(&calotype_prefetch) begin = nullptr;
    decltype(&calotype_prefetch_wait) wait = nullptr;
    decltype(&calotype_last_error) last_error = nullptr;
    decltype(&calotype_status_text) status_text = nullptr;
};

class Prefetch {
public:
    /// Begins to load the modules of a list that ends with null, in the primary context of a CUDA
    /// device or in the runtime's own. `keep` is what they live in. An ArrayError.
    Prefetch(const PrefetchFunctions &functions, const calotype_module_desc *const *modules,
             std::shared_ptr<const void> keep, const Callee &callee, std::optional<int> device);
    /// What nobody has waited for may go on, and keeps its code in memory.
    ~Prefetch();
    Prefetch(const Prefetch &) = delete;
    Prefetch &operator=(const Prefetch &) = delete;

    uint32_t modules() const {
        return count_;
    }
    /// False: not done yet. Needs no GIL. `problem` is what went wrong.
    bool wait(uint32_t milliseconds, std::string *problem);

private:
    struct Used;  // what must live until all is loaded
    PrefetchFunctions functions_;
    std::unique_ptr<Used> used_;
    uint32_t count_ = 0;
    void *ticket_ = nullptr;
    std::string problem_;
    std::timed_mutex mutex_;  ///< of who waits
};

}  // namespace calotype::python
