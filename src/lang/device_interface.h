// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device interfaces for pipelines that run in this process. Defined in driver/.
#pragma once

#include "ir/enums.h"
#include "target/target.h"

struct calotype_device_interface_t;

namespace calotype {

/// The devices that loops and buffers can be given to.
constexpr DeviceAPI all_device_apis[] = {
    DeviceAPI::None,       DeviceAPI::Host,         DeviceAPI::Default_GPU, DeviceAPI::CUDA,
    DeviceAPI::OpenCL,     DeviceAPI::Vulkan,       DeviceAPI::Metal,       DeviceAPI::Hexagon,
    DeviceAPI::HexagonDma, DeviceAPI::D3D12Compute, DeviceAPI::WebGPU};

/// The interface of a device. Null if the target has no such device; with `error_site` that is a
/// CompileError, which names it.
const calotype_device_interface_t *
get_device_interface_for_device_api(DeviceAPI api,
                                    const Target &t = get_jit_target_from_environment(),
                                    const char *error_site = nullptr);
/// The device that Default_GPU means; DeviceAPI::Host if the target has none.
DeviceAPI get_default_device_api_for_target(const Target &t);
/// True if this machine has the device that the target asks for.
bool host_supports_target_device(const Target &t);

}  // namespace calotype
