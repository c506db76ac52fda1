// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DeviceModules: the device code of a lowered module as constants of the LLVM module, laid out as
// runtime/abi/kernels.h says.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <llvm/IR/Constants.h>

#include "codegen/device_code.h"

namespace calotype::internal {

class ModuleEmitter;

/// A kernel as the host launches it.
struct KernelReference {
    const DeviceKernel *kernel = nullptr;
    uint32_t index = 0;  ///< in its module's descriptor
};

class DeviceModules {
public:
    /// `codes` are of `modules`, one by one. Both outlive this.
    DeviceModules(ModuleEmitter &emitter, const std::vector<DeviceModule> &modules,
                  const std::vector<DeviceCode> &codes);

    /// Address of the calotype_module_desc for the API ("cuda"); made on first use.
    llvm::Constant *descriptor(const std::string &api);
    /// Kernels have different names in all modules of an object.
    KernelReference kernel(const std::string &name) const;

private:
    llvm::Constant *make_descriptor(const DeviceModule &module, const DeviceCode &code);
    llvm::Constant *images(const std::vector<DeviceImage> &images);
    llvm::Constant *image_row(calotype_kind kind, uint32_t sm, char suffix, llvm::Constant *data,
                              size_t size);
    llvm::Constant *bytes_constant(calotype_kind kind, const std::string &bytes);
    llvm::Constant *kernels(const DeviceModule &module, const DeviceCode &code);
    llvm::Constant *arguments(const DeviceKernel &kernel);
    llvm::Constant *linkables(const std::vector<DeviceLinkable> &all);
    llvm::Constant *linkable(const std::vector<DeviceLinkable> &all, size_t index);
    llvm::Constant *linkable_images(const LinkableData &linkable);
    llvm::Constant *host_symbol(const std::string &name, llvm::FunctionType *function,
                                bool is_optional);
    /// Elements of one type; null if there are none.
    llvm::Constant *constant_array(const std::vector<llvm::Constant *> &elements, const char *name);
    /// Fields as C lays them out, `bytes` in all.
    llvm::Constant *constant_struct(const std::vector<llvm::Constant *> &fields, size_t bytes,
                                    const char *name);

    ModuleEmitter &emitter_;
    const std::vector<DeviceModule> &modules_;
    const std::vector<DeviceCode> &codes_;
    std::map<std::string, KernelReference> kernels_;
    std::map<std::string, llvm::Constant *> descriptors_;
    llvm::Type *i8_, *i32_, *i64_, *p_;
};

}  // namespace calotype::internal
