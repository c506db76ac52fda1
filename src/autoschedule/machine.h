// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Machine: what a schedule is made for, as the parameters of the autoscheduler say.
#pragma once

#include <cstdint>

#include "lang/schedule/autoscheduler.h"

namespace calotype::internal {

struct Machine {
    int parallelism = 16;                      ///< tasks that run at once
    int64_t last_level_cache_size = 16777216;  ///< bytes
    /// Of a cache line from memory, in arithmetic operations.
    double balance = 40;
    bool gpu = false;       ///< loops become kernels
    int vector_bits = 128;  ///< of a register of the host

    /// A cache that one task has for itself, in bytes.
    double near_cache() const {
        return double(last_level_cache_size) / (2.0 * parallelism);
    }
};

/// From `parallelism`, `last_level_cache_size`, `balance` and `experimental_gpu_schedule`; the last
/// is on where it is not given and the target has a GPU. A CompileError names a parameter that is
/// none of them, or a value that is not a number of its range.
Machine machine_of(const Target &target, const AutoschedulerParams &params);

}  // namespace calotype::internal
