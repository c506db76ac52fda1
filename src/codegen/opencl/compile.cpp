// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "codegen/linkables/linkable.h"
#include "codegen/linkables/symbols.h"
#include "codegen/opencl/device_source.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

bool is_opencl(const LinkableImage &image) {
    return image.kind == CALOTYPE_OPENCL_C;
}

bool is_for_cuda(const LinkableImage &image) {
    return image.kind != CALOTYPE_HOST_ONLY && image.kind != CALOTYPE_BITCODE && !is_opencl(image);
}

/// The source of a linkable; it becomes part of the program.
std::string source_of(const LinkableData &linkable, std::vector<UsedImage> &used) {
    std::string text;
    for (const LinkableImage &image : linkable.images) {
        if (is_opencl(image)) {
            used.push_back(used_image(linkable, image));
            text += "// linkable " + linkable.name + "\n" + image.bytes +
                    (ends_with(image.bytes, "\n") ? "" : "\n") + "\n";
        }
    }
    const bool is_foreign =
        std::any_of(linkable.images.begin(), linkable.images.end(), is_for_cuda);
    user_assert(!text.empty() || !is_foreign || linkable.is_optional)
        << linkable_title(linkable) << " holds " << image_titles(linkable)
        << ", which kernels for OpenCL cannot call; give it OpenCL C";
    return text;
}

/// Text that stands in front of the kernels.
std::string link_sources(const DeviceModule &module, DeviceCode &code) {
    user_assert(!module.linked.needs_device_runtime)
        << "module " << module.name << " uses the device runtime (nrt), which OpenCL does not have";
    std::string text;
    std::vector<UsedImage> used;
    for (const LinkableData &linkable : module.linked.linkables) {
        user_assert(!linkable.nrt) << linkable_title(linkable)
                                   << " uses the device runtime (nrt), which OpenCL does not have";
        const std::string source = source_of(linkable, used);
        DeviceLinkable l{linkable, linkable_digest(linkable),
                         source.empty() ? "" : "OpenCL C in front of the kernels"};
        l.data.images.clear();
        code.linkables.push_back(std::move(l));
        text += source;
    }
    check_symbols(module.linked, used);
    return text;
}

}  // namespace

DeviceCode compile_opencl_module(const DeviceModule &module, const Target &target) {
    user_assert(target.has_feature(Target::OpenCL))
        << "module " << module.name << " has kernels for OpenCL, but the target "
        << target.to_string() << " has no OpenCL device: add the feature opencl";
    DeviceCode code;
    const std::string linked = link_sources(module, code);
    DeviceSource source = device_source(module, target, Dialect::OpenCL);
    DeviceImage image;
    image.kind = CALOTYPE_OPENCL_C;
    image.bytes = linked + source.text;
    code.images.push_back(std::move(image));
    code.kernels = std::move(source.kernels);
    return code;
}

}  // namespace calotype::internal
