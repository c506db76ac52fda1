// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/target_queries.h"

#include <algorithm>

#include "ir/enums.h"
#include "ir/expr_nodes.h"
#include "support/error.h"

namespace calotype {

using namespace internal;

Expr target_arch_is(Target::Arch arch) {
    return Call::make(Bool(), Intrinsic::target_arch_is, {Expr(int(arch))});
}

Expr target_os_is(Target::OS os) {
    return Call::make(Bool(), Intrinsic::target_os_is, {Expr(int(os))});
}

Expr target_has_feature(Target::Feature feature) {
    user_assert(feature >= 0 && feature < Target::FeatureEnd)
        << "there is no target feature number " << int(feature);
    return Call::make(Bool(), Intrinsic::target_has_feature, {Expr(int(feature))});
}

Target::Feature target_feature_for_device_api(DeviceAPI api) {
    switch (api) {
    case DeviceAPI::CUDA:
        return Target::CUDA;
    case DeviceAPI::OpenCL:
        return Target::OpenCL;
    case DeviceAPI::Vulkan:
        return Target::Vulkan;
    case DeviceAPI::Metal:
        return Target::Metal;
    case DeviceAPI::Hexagon:
        return Target::HVX;
    case DeviceAPI::HexagonDma:
        return Target::HexagonDma;
    case DeviceAPI::D3D12Compute:
        return Target::D3D12Compute;
    case DeviceAPI::WebGPU:
        return Target::WebGPU;
    case DeviceAPI::SMEStreaming:
        return Target::SME2;
    case DeviceAPI::None:
    case DeviceAPI::Host:
    case DeviceAPI::Default_GPU:
        break;
    }
    return Target::FeatureEnd;
}

bool Target::supports_device_api(DeviceAPI api) const {
    if (api == DeviceAPI::None || api == DeviceAPI::Host) {
        return true;
    }
    return api == DeviceAPI::Default_GPU ? has_gpu_feature()
                                         : has_feature(target_feature_for_device_api(api));
}

DeviceAPI Target::get_required_device_api() const {
    for (DeviceAPI api : {DeviceAPI::CUDA, DeviceAPI::OpenCL, DeviceAPI::Vulkan, DeviceAPI::Metal,
                          DeviceAPI::D3D12Compute, DeviceAPI::WebGPU}) {
        if (has_feature(target_feature_for_device_api(api))) {
            return api;
        }
    }
    return DeviceAPI::None;
}

static constexpr DeviceAPI devices_without_some_types[] = {
    DeviceAPI::OpenCL, DeviceAPI::Metal, DeviceAPI::WebGPU, DeviceAPI::D3D12Compute};

bool Target::supports_type(const Type &t) const {
    // Narrower types can be computed in wider ones.
    return t.bits() != 64 || std::ranges::all_of(devices_without_some_types, [&](DeviceAPI api) {
               return !supports_device_api(api) || supports_type(t, api);
           });
}

bool Target::supports_type(const Type &t, DeviceAPI device) const {
    switch (device == DeviceAPI::Default_GPU ? get_required_device_api() : device) {
    case DeviceAPI::OpenCL:
        if (t.is_float() && t.bits() == 16) {
            return !t.is_bfloat() && has_feature(CLHalf);
        }
        return !(t.is_float() && t.bits() == 64) || has_feature(CLDoubles);
    case DeviceAPI::Vulkan:
        if (t.is_float()) {
            return t.bits() == 32 ||
                   (t.bits() == 64 ? has_feature(VulkanFloat64) : has_feature(VulkanFloat16));
        }
        return t.bits() == 32 || t.is_bool() || (t.bits() == 8 && has_feature(VulkanInt8)) ||
               (t.bits() == 16 && has_feature(VulkanInt16)) ||
               (t.bits() == 64 && has_feature(VulkanInt64));
    case DeviceAPI::Metal:
        return t.bits() < 64;
    case DeviceAPI::WebGPU:
        return t.bits() < 64 && (!t.is_float() || t.bits() == 32);
    case DeviceAPI::D3D12Compute:
        return t.bits() < 64 || get_d3d12compute_capability_lower_bound() >= 60;
    case DeviceAPI::CUDA:
    case DeviceAPI::Hexagon:
    case DeviceAPI::HexagonDma:
    case DeviceAPI::SMEStreaming:
    case DeviceAPI::None:
    case DeviceAPI::Host:
    case DeviceAPI::Default_GPU:
        break;
    }
    return true;
}

}  // namespace calotype
