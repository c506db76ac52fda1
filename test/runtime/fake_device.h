// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device whose memory is ordinary memory, dense or with the strides of the buffer, which counts
// calls and fails on demand. Handles are addresses of its own, not usable as pointers to elements.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "runtime/runtime.h"

namespace calotype_test {

struct FakeDeviceState {
    std::map<std::string, int> calls;
    std::string failing;  ///< name of the call that fails
    int live = 0;         ///< allocations
    bool crops_supported = true;
    std::function<void(const std::string &call)> hook;  ///< runs at the beginning of each call
};

/** Two kinds of it, so that copies between devices can be tried. */
extern const calotype_device_interface_t *fake_device();
extern const calotype_device_interface_t *other_fake_device();
/** Shared by both. */
extern FakeDeviceState &fake_device_state();
/** The address on the device of the element at the mins of a buffer. */
extern uint8_t *fake_device_memory(const calotype_buffer_t &buf);

}  // namespace calotype_test
