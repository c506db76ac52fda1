// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime that pipelines in this process run on: the compiler's own copy, with hooks that look
// at the JITUserContext of the run.
#pragma once

#include <mutex>
#include <string>

#include "codegen/jit.h"
#include "driver/jit_handlers.h"

namespace calotype::internal {

/// The functions of the runtime, by name. The first call installs the hooks.
const JitSymbols &jit_runtime_symbols();
/// Those and the names of JITSharedRuntime::define_symbol().
JitSymbols jit_symbols();
/// The interface of a device in it; null if this build has none.
const calotype_device_interface_t *find_device_interface(DeviceAPI api);

class JitErrorBuffer {
public:
    void add(const char *message);
    std::string text() const;

private:
    mutable std::mutex mutex_;
    std::string text_;
};

/// One run: `context` is what generated code gets. Handlers that `given` leaves null are those of
/// the pipeline.
class JitRun {
public:
    JitRun(JITUserContext *given, const JITHandlers &of_pipeline);
    ~JitRun();
    JitRun(const JitRun &) = delete;
    JitRun &operator=(const JitRun &) = delete;

    JITUserContext *context() const {
        return context_;
    }
    /// A RuntimeError with the messages unless `code` is 0 or the user handles errors.
    void check(int code) const;

private:
    JITUserContext own_;
    JITUserContext *context_;
    JITUserContext *outer_run_ = nullptr;  ///< of this thread: a run may call code that runs
    JITHandlers given_handlers_;
    JitErrorBuffer errors_;
};

}  // namespace calotype::internal
