// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a module's embedded images to one that the driver loads: choose, compile, link.
//
// In order of preference: a cubin that is complete and runs on the device, taken as it is; a link
// by nvJitLink on the caller's thread (PTX, with linkables); a link by the driver; PTX as it is,
// which the driver compiles while it loads. Linkables take part unless a complete cubin is chosen:
// the generator has linked that already.
#pragma once

#include "runtime/cuda/driver.h"
#include "runtime/device/kernel_backend.h"

namespace calotype::runtime {

/** The driver's own linker. It needs a current context. */
struct DriverLinker {
    decltype(cuda::Driver::cuLinkCreate) create;
    decltype(cuda::Driver::cuLinkAddData) add;
    decltype(cuda::Driver::cuLinkComplete) complete;
    decltype(cuda::Driver::cuLinkDestroy) destroy;
    /** Make the context current on this thread, and undo it. */
    calotype_status (*enter)(const DeviceScope &scope);
    void (*leave)(const DeviceScope &scope);
    const DeviceScope &scope;
};

struct BuildTools {
    int driver_version;          ///< as cuDriverGetVersion answers, 13000; 0: there is no driver
    const DriverLinker *linker;  ///< null: none
};

/** For DeviceArch::toolchain: "nvJitLink 13.0, libnvJitLink.so.13.0.39", or "driver 13000". Loads
 * nvJitLink, once a process, which takes some ms. */
void describe_build_tools(const BuildTools &tools, DeviceArch *arch);

/** Whether build_image() would answer with an embedded cubin as it is. Never loads nvJitLink. */
bool is_image_ready(const DeviceArch &arch, const calotype_module_desc &desc);

/** Choose, compile and link. Errors: NO_IMAGE names the architecture and what is embedded; COMPILE
 * and LINK have the whole log, after a sentence that says what to do. */
calotype_status build_image(const BuildTools &tools, const DeviceArch &arch,
                            const calotype_module_desc &desc, LoadableImage *image);

}  // namespace calotype::runtime
