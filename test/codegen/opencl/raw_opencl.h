// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first OpenCL device there is, through its own functions found with dlopen: compiles source
// and runs one kernel on bytes of the host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace calotype::test {

/// An argument of a kernel as the printer has it: bytes that are copied to the device and back,
/// with an offset, or a scalar's bytes.
struct RawArgument {
    std::vector<uint8_t> *buffer = nullptr;
    uint64_t offset = 0;
    std::vector<uint8_t> scalar;

    static RawArgument bytes(std::vector<uint8_t> &b, uint64_t offset = 0) {
        return {&b, offset, {}};
    }
    template<typename T>
    static RawArgument value(T x) {
        auto *p = reinterpret_cast<const uint8_t *>(&x);
        return {nullptr, 0, std::vector<uint8_t>(p, p + sizeof(T))};
    }
};

struct RawLaunch {
    size_t blocks[3] = {1, 1, 1}, threads[3] = {1, 1, 1};
    size_t shared_bytes = 0;  ///< dynamic
};

/// Empty if it went well, else what went wrong, with the compiler's log. Programs are kept by their
/// text.
std::string run_opencl(const std::string &source, const std::string &kernel,
                       const std::vector<RawArgument> &args, const RawLaunch &launch = {});

/// True if there is a device at all; tests skip without.
bool have_opencl();
/// True if the device has that extension.
bool opencl_has(const std::string &extension);

}  // namespace calotype::test
