// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/device_code.h"

#include <algorithm>

#include "support/error.h"

namespace calotype::internal {

namespace {

bool has_session_code(const LinkedCode &linked) {
    return std::any_of(linked.linkables.begin(), linked.linkables.end(),
                       [](const LinkableData &l) { return l.is_session_dependent; });
}

}  // namespace

DeviceCode compile_device_module(const DeviceModule &module, const Target &target) {
    DeviceCode code;
    switch (module.api) {
    case DeviceAPI::CUDA:
        code = compile_cuda_module(module, target);
        break;
    case DeviceAPI::OpenCL:
        code = compile_opencl_module(module, target.with_implied_features());
        break;
    default:
        internal_error << "module " << module.name << " is for no device that code is made for";
    }
    code.flags |= has_session_code(module.linked) ? CALOTYPE_MOD_SESSION_DEPENDENT : 0;
    internal_assert(code.kernels.size() == module.kernels.size() && !code.images.empty())
        << "code of device module " << module.name << " is not complete";
    return code;
}

std::vector<DeviceCode> compile_device_modules(const LoweredModule &module, const Target &target) {
    Target device_target = target;
    if (module.any_strict_float) {
        device_target.set_feature(Target::StrictFloat);
    }
    std::vector<DeviceCode> codes;
    for (const DeviceModule &m : module.device_modules) {
        codes.push_back(compile_device_module(m, device_target));
    }
    return codes;
}

}  // namespace calotype::internal
