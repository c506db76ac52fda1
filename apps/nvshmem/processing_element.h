// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A processing element of NVSHMEM: one process with one GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

/// What the first element tells the others, so that they find each other.
struct Meeting {
    char bytes[1024];
};

class ProcessingElement {
public:
    /// A new meeting, to be made once, by one process.
    static Meeting call_meeting();

    /// Element `number` of `count`, on the GPU of that number. Throws std::runtime_error.
    ProcessingElement(int number, int count, const Meeting &meeting);
    /// No module that links NVSHMEM may be loaded any more.
    ~ProcessingElement();
    ProcessingElement(const ProcessingElement &) = delete;
    ProcessingElement &operator=(const ProcessingElement &) = delete;

    /// Memory on the GPU that has the same name in all elements; all must ask alike.
    uint64_t allocate(size_t bytes);
    void free(uint64_t address);
    /// What was put before is there, everywhere.
    void barrier();
};

/// How often modules were made known to NVSHMEM, and forgotten.
struct ModuleCalls {
    int setups, teardowns;
};
ModuleCalls module_calls();
