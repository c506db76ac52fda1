// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The description of a module with one image, made by hand.
#pragma once

#include "runtime/abi/kernels.h"

namespace calotype_test {

/// Its identity begins with the first letter of its name. Image and kernels must outlive it.
inline calotype_module_desc module_desc(const char *name,
                                        const calotype_device_interface_t *(*device_interface)(),
                                        const calotype_image &image,
                                        const calotype_kernel_desc *kernels, uint32_t n_kernels) {
    calotype_module_desc desc = {};
    desc.size = sizeof desc;
    desc.abi = CALOTYPE_ABI_VERSION;
    desc.name = name;
    desc.uid.b[0] = uint8_t(name[0]);
    desc.device_interface = device_interface;
    desc.images = &image;
    desc.n_images = 1;
    desc.kernels = kernels;
    desc.n_kernels = n_kernels;
    return desc;
}

}  // namespace calotype_test
