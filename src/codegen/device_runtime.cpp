// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/device_runtime.h"

#include "codegen/device_runtime_images.h"

namespace calotype::internal {

LinkableData device_runtime_linkable(bool is_for_debugging) {
    LinkableData linkable;
    linkable.name = is_for_debugging ? "calotype_nrt_debug" : "calotype_nrt";
    const DeviceRuntimeImage *form =
        is_for_debugging ? device_runtime_debug_images : device_runtime_images;
    for (; form->bytes; form++) {
        LinkableImage image;
        image.kind = form->kind;
        image.sm = form->sm;
        image.bytes.assign(form->bytes, form->size);
        image.origin = form->file;
        linkable.images.push_back(std::move(image));
    }
    return linkable;
}

}  // namespace calotype::internal
