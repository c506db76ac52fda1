// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Members of Buffer that choose a device by its name: they need the driver.
#include "lang/buffer_base.h"

namespace calotype::internal {

namespace {

const calotype_device_interface_t *interface_for(DeviceAPI api, const Target &t) {
    return get_device_interface_for_device_api(api, t, "Buffer");
}

}  // namespace

int BufferBase::copy_to_device(const Target &t, void *context) {
    return copy_to_device(DeviceAPI::Default_GPU, t, context);
}

int BufferBase::copy_to_device(const DeviceAPI &api, const Target &t, void *context) {
    return copy_to_device(interface_for(api, t), context);
}

int BufferBase::device_malloc(const Target &t, void *context) {
    return device_malloc(DeviceAPI::Default_GPU, t, context);
}

int BufferBase::device_malloc(const DeviceAPI &api, const Target &t, void *context) {
    return device_malloc(interface_for(api, t), context);
}

int BufferBase::device_wrap_native(const DeviceAPI &api, uint64_t handle, const Target &t) {
    return device_wrap_native(interface_for(api, t), handle);
}

}  // namespace calotype::internal
