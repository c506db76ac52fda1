// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/opencl/device_source.h"
#include "support/error.h"

namespace calotype::internal {

DeviceCode compile_opencl_module(const DeviceModule &module, const Target &target) {
    user_assert(target.has_feature(Target::OpenCL))
        << "module " << module.name << " has kernels for OpenCL, but the target "
        << target.to_string() << " has no OpenCL device: add the feature opencl";
    DeviceSource source = device_source(module, target, Dialect::OpenCL);
    DeviceImage image;
    image.kind = CALOTYPE_OPENCL_C;
    image.bytes = std::move(source.text);
    DeviceCode code;
    code.images.push_back(std::move(image));
    code.kernels = std::move(source.kernels);
    return code;
}

}  // namespace calotype::internal
