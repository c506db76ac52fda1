// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What passes must know of the runtime's functions: runtime_calls.def.
#pragma once

#include <string>

namespace calotype::internal {

/// What a call means for work on devices.
enum class DeviceOrder {
    Keeps,     ///< it queues nothing and waits for nothing there
    Changes,   ///< it may
    Releases,  ///< it lets other threads go on, which may
};

/// Of a function of that name. Functions that are not the runtime's may do anything.
DeviceOrder device_order_of(const std::string &function);

/// True for the runtime's functions that report an error.
bool is_error_function(const std::string &function);
/// True for the others that lowering calls.
bool is_runtime_function(const std::string &function);

}  // namespace calotype::internal
