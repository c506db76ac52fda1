// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/device_modules.h"

#include <llvm/Support/SHA256.h>

#include "codegen/llvm/module_emitter.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Constant;
using llvm::ConstantInt;

namespace {

/// How an argument's value is passed, as calotype_kernel_arg has it.
calotype_kernel_arg argument_row(const KernelArgument &a) {
    calotype_kernel_arg row = {};
    row.is_buffer = a.is_buffer;
    row.bytes = uint8_t(a.is_buffer ? sizeof(uint64_t) : a.type.bytes());
    row.is_image = a.is_buffer && a.memory == MemoryType::GPUTexture;
    row.written = a.is_buffer && a.written;
    return row;
}

bool is_text(calotype_kind kind) {
    return kind == CALOTYPE_PTX || kind == CALOTYPE_OPENCL_C || kind == CALOTYPE_CU;
}

/// Feeds a digest: every value with its length, so that no two contents look alike.
class Digest {
public:
    void add(const std::string &bytes) {
        add(uint64_t(bytes.size()));
        sha_.update(llvm::StringRef(bytes));
    }
    void add(uint64_t value) {
        uint8_t bytes[8];
        for (int i = 0; i < 8; i++) {
            bytes[i] = uint8_t(value >> (8 * i));
        }
        sha_.update(llvm::ArrayRef<uint8_t>(bytes));
    }
    std::string result() {
        const auto bytes = sha_.final();
        return std::string(bytes.begin(), bytes.end());
    }

private:
    llvm::SHA256 sha_;
};

}  // namespace

std::string device_module_uid(const DeviceModule &module, const DeviceCode &code) {
    Digest digest;
    digest.add(uint64_t(CALOTYPE_ABI_VERSION));
    digest.add(to_string(module.api));
    digest.add(uint64_t(code.images.size()));
    for (const DeviceImage &image : code.images) {
        digest.add(uint64_t(image.kind));
        digest.add(uint64_t(image.sm) << 8 | uint8_t(image.suffix));
        digest.add(image.bytes);
    }
    digest.add(uint64_t(code.kernels.size()));
    for (size_t i = 0; i < code.kernels.size(); i++) {
        const DeviceKernelCode &k = code.kernels[i];
        digest.add(k.symbol);
        digest.add(uint64_t(k.max_threads));
        digest.add(uint64_t(k.static_shared_bytes));
        digest.add(uint64_t(k.flags));
        digest.add(uint64_t(module.kernels[i].args.size()));
        for (const KernelArgument &a : module.kernels[i].args) {
            const calotype_kernel_arg row = argument_row(a);
            digest.add(uint64_t(row.is_buffer) | uint64_t(row.bytes) << 8 |
                       uint64_t(row.is_image) << 16 | uint64_t(row.written) << 24);
        }
    }
    return digest.result();
}

DeviceModules::DeviceModules(ModuleEmitter &emitter, const std::vector<DeviceModule> &modules,
                             const std::vector<DeviceCode> &codes)
    : emitter_(emitter), modules_(modules), codes_(codes),
      i8_(llvm::Type::getInt8Ty(emitter.context())),
      i32_(llvm::Type::getInt32Ty(emitter.context())),
      i64_(llvm::Type::getInt64Ty(emitter.context())), p_(emitter.pointer_type()) {
    internal_assert(modules.size() == codes.size()) << "device code of another module";
    for (const DeviceModule &module : modules) {
        for (size_t i = 0; i < module.kernels.size(); i++) {
            const DeviceKernel &kernel = module.kernels[i];
            const bool is_new = kernels_.insert({kernel.name, {&kernel, uint32_t(i)}}).second;
            internal_assert(is_new) << "two kernels have the name " << kernel.name;
        }
    }
}

KernelReference DeviceModules::kernel(const std::string &name) const {
    const auto it = kernels_.find(name);
    internal_assert(it != kernels_.end()) << "kernel " << name << " is launched, but not there";
    return it->second;
}

Constant *DeviceModules::descriptor(const std::string &api) {
    Constant *&known = descriptors_[api];
    for (size_t i = 0; !known && i < modules_.size(); i++) {
        if (api == to_string(modules_[i].api)) {
            known = make_descriptor(modules_[i], codes_[i]);
        }
    }
    internal_assert(known) << "there is no device module for " << api;
    return known;
}

Constant *DeviceModules::constant_array(llvm::StructType *type,
                                        const std::vector<Constant *> &elements, const char *name) {
    if (elements.empty()) {
        return llvm::ConstantPointerNull::get(emitter_.pointer_type());
    }
    auto *array = llvm::ArrayType::get(type, elements.size());
    return emitter_.private_constant(llvm::ConstantArray::get(array, elements), name);
}

Constant *DeviceModules::images(const DeviceCode &code) {
    auto *type = llvm::StructType::get(emitter_.context(), {i32_, i32_, i8_, p_, i64_});
    std::vector<Constant *> rows;
    for (const DeviceImage &image : code.images) {
        Constant *bytes = llvm::ConstantDataArray::getString(emitter_.context(), image.bytes,
                                                             is_text(image.kind));
        Constant *data = emitter_.private_constant(bytes, "device_code");
        // Loaders of binary code read it as words.
        llvm::cast<llvm::GlobalVariable>(data)->setAlignment(llvm::Align(16));
        rows.push_back(llvm::ConstantStruct::get(
            type, {ConstantInt::get(i32_, image.kind), ConstantInt::get(i32_, image.sm),
                   ConstantInt::get(i8_, uint8_t(image.suffix)), data,
                   ConstantInt::get(i64_, image.bytes.size())}));
    }
    return constant_array(type, rows, "device_images");
}

Constant *DeviceModules::arguments(const DeviceKernel &kernel) {
    auto *type = llvm::StructType::get(emitter_.context(), {i8_, i8_, i8_, i8_});
    std::vector<Constant *> rows;
    for (const KernelArgument &a : kernel.args) {
        const calotype_kernel_arg row = argument_row(a);
        rows.push_back(llvm::ConstantStruct::get(
            type, {ConstantInt::get(i8_, row.is_buffer), ConstantInt::get(i8_, row.bytes),
                   ConstantInt::get(i8_, row.is_image), ConstantInt::get(i8_, row.written)}));
    }
    return constant_array(type, rows, "kernel_arguments");
}

Constant *DeviceModules::kernels(const DeviceModule &module, const DeviceCode &code) {
    auto *type = llvm::StructType::get(emitter_.context(), {p_, p_, i32_, i32_, i32_, i32_});
    std::vector<Constant *> rows;
    for (size_t i = 0; i < module.kernels.size(); i++) {
        const DeviceKernelCode &k = code.kernels[i];
        rows.push_back(llvm::ConstantStruct::get(
            type,
            {emitter_.string_constant(k.symbol), arguments(module.kernels[i]),
             ConstantInt::get(i32_, module.kernels[i].args.size()),
             ConstantInt::get(i32_, k.max_threads), ConstantInt::get(i32_, k.static_shared_bytes),
             ConstantInt::get(i32_, k.flags)}));
    }
    return constant_array(type, rows, "device_kernels");
}

Constant *DeviceModules::make_descriptor(const DeviceModule &module, const DeviceCode &code) {
    const std::string uid = device_module_uid(module, code);
    auto *getter_type = llvm::FunctionType::get(p_, {}, false);
    Constant *interface = emitter_.declare(
        std::string("calotype_") + to_string(module.api) + "_device_interface", getter_type);
    Constant *none = llvm::ConstantPointerNull::get(emitter_.pointer_type());
    Constant *zero = ConstantInt::get(i32_, 0);
    std::vector<Constant *> fields = {
        ConstantInt::get(i32_, sizeof(calotype_module_desc)),
        ConstantInt::get(i32_, CALOTYPE_ABI_VERSION),
        emitter_.string_constant(module.name),
        llvm::ConstantDataArray::getString(emitter_.context(), uid, false),
        interface,
        images(code),
        ConstantInt::get(i32_, code.images.size()),
        kernels(module, code),
        ConstantInt::get(i32_, module.kernels.size()),
        none,  // linkables
        zero,
        none,  // relocations
        zero,
        zero,  // flags
        zero,  // registers: the compiler's choice
        zero,  // optimisation level
    };
    std::vector<llvm::Type *> types;
    for (Constant *field : fields) {
        types.push_back(field->getType());
    }
    auto *type = llvm::StructType::get(emitter_.context(), types);
    internal_assert(emitter_.llvm().getDataLayout().getTypeAllocSize(type) ==
                    sizeof(calotype_module_desc))
        << "calotype_module_desc has another layout here";
    return emitter_.private_constant(llvm::ConstantStruct::get(type, fields), "device_module");
}

}  // namespace calotype::internal
