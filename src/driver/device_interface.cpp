// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/device_interface.h"

#include <algorithm>

#include "driver/jit_runtime.h"
#include "driver/pipeline_state.h"
#include "ir/conventions/runtime_calls.h"
#include "runtime/abi/runtime_cuda.h"
#include "runtime/abi/runtime_opencl.h"
#include "support/error.h"
#include "target/jit_target_text.h"

namespace calotype {

using namespace internal;

namespace {
using InterfaceGetter = const calotype_device_interface_t *(*)();
}  // namespace

// The runtime has one such function a device that it was built for:
// calotype_cuda_device_interface().
const calotype_device_interface_t *internal::find_device_interface(DeviceAPI api) {
    const JitSymbols &symbols = jit_runtime_symbols();
    const RuntimeFunctionInfo *function = device_interface_function(api);
    const auto getter = function ? symbols.find(function->name) : symbols.end();
    return getter == symbols.end()
               ? nullptr
               : reinterpret_cast<InterfaceGetter>(const_cast<void *>(getter->second))();
}

DeviceAPI get_default_device_api_for_target(const Target &t) {
    const DeviceAPI api = t.get_required_device_api();
    return api == DeviceAPI::None ? DeviceAPI::Host : api;
}

const calotype_device_interface_t *
get_device_interface_for_device_api(DeviceAPI api, const Target &t, const char *error_site) {
    const DeviceAPI wanted =
        api == DeviceAPI::Default_GPU ? get_default_device_api_for_target(t) : api;
    const bool is_device = wanted != DeviceAPI::Host && wanted != DeviceAPI::None;
    const bool is_in_target = is_device && t.supports_device_api(wanted);
    const calotype_device_interface_t *interface =
        is_in_target ? internal::find_device_interface(wanted) : nullptr;
    if (error_site) {
        user_assert(is_in_target) << error_site << ": target " << t.to_string() << " has no device "
                                  << to_string(api);
        user_assert(interface) << error_site << ": the runtime of this build has no device "
                               << to_string(wanted);
    }
    return interface;
}

bool host_supports_target_device(const Target &t) {
    if (t.has_feature(Target::CUDA) &&
        !calotype_cuda_can_run(std::max(0, t.get_cuda_capability_lower_bound()))) {
        return false;
    }
    if (t.has_feature(Target::OpenCL) && !calotype_opencl_can_run()) {
        return false;
    }
    return !t.features_any_of(
        {Target::Vulkan, Target::Metal, Target::D3D12Compute, Target::WebGPU, Target::HVX});
}

Target internal::with_capability_of_device(const Target &target) {
    if (!target.has_feature(Target::CUDA) || names_cuda_capability(target)) {
        return target;
    }
    const Target::Feature feature = cuda_feature_of_device(calotype_cuda_capability());
    return feature == Target::FeatureEnd ? target : target.with_feature(feature);
}

Target get_jit_target_from_environment() {
    return internal::with_capability_of_device(internal::read_jit_target());
}

}  // namespace calotype
