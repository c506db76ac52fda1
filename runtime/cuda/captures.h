// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs that an application captures while it calls pipelines.
#pragma once

#include "runtime/cuda/context.h"
#include "runtime/host/not_copied.h"

namespace calotype::runtime::cuda {

/** KernelBackend's functions of these names. */
bool is_capturing(const DeviceScope &scope, void *stream);
uint64_t capture_of(const DeviceScope &scope, void *stream);
calotype_status tie_to_graph(const DeviceScope &scope, void *stream, void (*ended)(void *),
                             void *data);

/** What the driver refuses to a thread while others capture is allowed as long as this lives, and
 * leaves their captures alone: calls for memory wait for nothing that is captured. */
class AllowedInCaptures : NotCopied {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

    void exchange() {
        driver().cuThreadExchangeStreamCaptureMode(&mode);
    }

public:
    AllowedInCaptures() {
        exchange();
    }
    ~AllowedInCaptures() {
        exchange();
    }
};

}  // namespace calotype::runtime::cuda
