// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/device_runtime.h"

#include "codegen/device_runtime_images.h"

namespace calotype::internal {

LinkableData device_runtime_linkable() {
    LinkableData linkable;
    linkable.name = "calotype_nrt";
    for (const DeviceRuntimeImage *form = device_runtime_images; form->bytes; form++) {
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
