// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The context of a call, held while a function works in it.
#pragma once

#include "runtime/opencl/context.h"

namespace calotype {
namespace runtime {
namespace opencl {

class Scope {
    DeviceScope scope;
    calotype_status status;

public:
    /** On failure is_open() is false, as it is without `create` where there is no context. */
    explicit Scope(void *user_context, bool create = true)
        : status(acquire_scope(user_context, create, &scope)) {
    }
    ~Scope() {
        if (is_open()) {
            release_scope(scope);
        }
    }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

    bool is_open() const {
        return status == CALOTYPE_OK && scope.context;
    }
    bool has_failed() const {
        return status != CALOTYPE_OK;
    }
    const DeviceScope &get() const {
        return scope;
    }
};

}  // namespace opencl
}  // namespace runtime
}  // namespace calotype
