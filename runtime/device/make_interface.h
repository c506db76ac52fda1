// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of a kind of device: the device-neutral functions, and what is its own.
#pragma once

#include "runtime/abi/device_interface_impl.h"

namespace calotype::runtime {

constexpr calotype_device_interface_t
make_device_interface(int (*compute_capability)(void *user_context, int *major, int *minor),
                      const calotype_device_interface_impl_t *impl) {
    return {calotype_device_malloc,
            calotype_device_free,
            calotype_device_sync,
            calotype_device_release,
            calotype_copy_to_host,
            calotype_copy_to_device,
            calotype_device_and_host_malloc,
            calotype_device_and_host_free,
            calotype_buffer_copy,
            calotype_device_crop,
            calotype_device_slice,
            calotype_device_release_crop,
            calotype_device_wrap_native,
            calotype_device_detach_native,
            compute_capability,
            impl};
}

}  // namespace calotype::runtime
