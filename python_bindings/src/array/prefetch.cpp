// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "prefetch.h"

#include <chrono>
#include <utility>

#include <calotype/runtime/abi/device_context.h>

#include "cuda.h"

namespace calotype::python {

struct Prefetch::Used {
    calotype_device_context on = {};
    std::shared_ptr<const void> keep;
};

Prefetch::Prefetch(const PrefetchFunctions &functions, const calotype_module_desc *const *modules,
                   std::shared_ptr<const void> keep, const Callee &callee,
                   std::optional<int> device)
    : functions_(functions), used_(std::make_unique<Used>()) {
    used_->keep = std::move(keep);
    if (device && !callee.cuda) {
        throw ArrayError("device is " + std::to_string(*device) +
                         ", must be None: the pipeline was compiled for " + callee.target +
                         ", without cuda");
    }
    if (device) {
        used_->on.magic = CALOTYPE_DEVICE_CONTEXT_MAGIC;
        used_->on.context = cuda::primary_context(*device);
        used_->on.device_interface = callee.cuda;
    }
    while (modules && modules[count_]) {
        count_++;
    }
    if (count_ == 0) {
        return;
    }
    if (!functions.begin || !functions.wait || !functions.last_error || !functions.status_text) {
        throw ArrayError("the pipeline's runtime has no prefetch");
    }
    const calotype_status status =
        functions.begin(device ? &used_->on : nullptr, modules, count_, 0, &ticket_);
    if (status != CALOTYPE_OK) {
        throw ArrayError(std::string("device code cannot be loaded ahead: ") +
                         functions.status_text(status));
    }
}

Prefetch::~Prefetch() {
    if (ticket_) {
        // Threads of the runtime may still use it.
        static_cast<void>(used_.release());
    }
}

bool Prefetch::wait(uint32_t milliseconds, std::string *problem) {
    const std::unique_lock<std::timed_mutex> lock(mutex_, std::chrono::milliseconds(milliseconds));
    if (!lock) {
        return false;
    }
    if (ticket_) {
        const calotype_status status = functions_.wait(ticket_, milliseconds);
        if (status == CALOTYPE_E_TIMEOUT) {
            return false;
        }
        ticket_ = nullptr;
        if (status != CALOTYPE_OK) {
            const calotype_error_info *error = functions_.last_error();
            problem_ = std::string("device code cannot be loaded: ") +
                       functions_.status_text(status) +
                       (error && *error->log ? std::string(": ") + error->log : "");
        }
    }
    *problem = problem_;
    return true;
}

}  // namespace calotype::python
