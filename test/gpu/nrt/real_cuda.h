// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of the CUDA driver that the test of the device runtime calls itself.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/abi/device_context.h"

namespace calotype_test {

/// Whether there is a driver with a device.
bool has_real_cuda();

/// A context with a stream: as the user context of calls. Destroyed at its end, after what the
/// cache has in it has been released.
class RealContext {
public:
    calotype_device_context on;

    RealContext();
    ~RealContext();
    RealContext(const RealContext &) = delete;

    /// Device memory, all zero, freed with the context.
    uint64_t allocate(size_t bytes);
    void zero(uint64_t memory, size_t bytes);
    void to_host(void *to, uint64_t from, size_t bytes);
    void synchronize();
};

}  // namespace calotype_test
