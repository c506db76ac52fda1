// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/device_modules.h"

#include "codegen/linkables/digest.h"
#include "codegen/linkables/linkable.h"
#include "codegen/llvm/module_emitter.h"
#include "ir/conventions/runtime_calls.h"
#include "runtime/abi/linkables.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Constant;
using llvm::ConstantInt;

namespace {

/// How an argument's value is passed, as calotype_kernel_arg has it.
calotype_kernel_arg argument_row(const KernelArgument &a) {
    calotype_kernel_arg row = {};
    row.is_buffer = a.is_buffer;
    row.bytes = uint8_t(a.is_buffer     ? int(sizeof(uint64_t))
                        : a.is_tile_map ? TileCopyCall::map_bytes
                                        : a.type.bytes());
    row.is_image = a.is_buffer && a.memory == MemoryType::GPUTexture;
    row.written = a.is_buffer && a.written;
    return row;
}

bool is_text(calotype_kind kind) {
    return kind == CALOTYPE_PTX || kind == CALOTYPE_OPENCL_C || kind == CALOTYPE_CU;
}

/// Images of the module or of a linkable.
template<typename Image>
void add_images(Digest &digest, const std::vector<Image> &images) {
    digest.add(uint64_t(images.size()));
    for (const Image &image : images) {
        digest.add(uint64_t(image.kind));
        digest.add(uint64_t(image.sm) << 8 | uint8_t(image.suffix));
        digest.add(image.bytes);
    }
}

void add_linkables(Digest &digest, const std::vector<DeviceLinkable> &linkables) {
    digest.add(uint64_t(linkables.size()));
    for (size_t i = 0; i < linkables.size(); i++) {
        const DeviceLinkable &linkable = linkables[i];
        digest.add(linkable.content);
        add_images(digest, linkable.data.images);
        for (uint16_t index : after_indices(linkables, i)) {
            digest.add(uint64_t(index));
        }
    }
}

std::vector<DeviceImage> embedded_images(const DeviceCode &code) {
    std::vector<DeviceImage> images;
    for (const DeviceImage &image : code.images) {
        if (image.is_embedded) {
            images.push_back(image);
        }
    }
    return images;
}

}  // namespace

std::string device_module_uid(const DeviceModule &module, const DeviceCode &code) {
    Digest digest;
    digest.add(uint64_t(CALOTYPE_ABI_VERSION));
    digest.add(to_string(module.api));
    digest.add(uint64_t(code.flags));
    add_images(digest, embedded_images(code));
    add_linkables(digest, without_unneeded(code.linkables));
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

Constant *DeviceModules::constant_array(const std::vector<Constant *> &elements, const char *name) {
    if (elements.empty()) {
        return llvm::ConstantPointerNull::get(emitter_.pointer_type());
    }
    auto *array = llvm::ArrayType::get(elements[0]->getType(), elements.size());
    return emitter_.private_constant(llvm::ConstantArray::get(array, elements), name);
}

Constant *DeviceModules::bytes_constant(calotype_kind kind, const std::string &bytes) {
    Constant *data = emitter_.private_constant(
        llvm::ConstantDataArray::getString(emitter_.context(), bytes, is_text(kind)),
        "device_code");
    // Loaders of binary code read it as words.
    llvm::cast<llvm::GlobalVariable>(data)->setAlignment(llvm::Align(16));
    return data;
}

Constant *DeviceModules::image_row(calotype_kind kind, uint32_t sm, char suffix, Constant *data,
                                   size_t size) {
    auto *type = llvm::StructType::get(emitter_.context(), {i32_, i32_, i8_, p_, i64_});
    return llvm::ConstantStruct::get(
        type, {ConstantInt::get(i32_, kind), ConstantInt::get(i32_, sm),
               ConstantInt::get(i8_, uint8_t(suffix)), data, ConstantInt::get(i64_, size)});
}

Constant *DeviceModules::images(const std::vector<DeviceImage> &images) {
    std::vector<Constant *> rows;
    for (const DeviceImage &image : images) {
        rows.push_back(image_row(image.kind, image.sm, image.suffix,
                                 bytes_constant(image.kind, image.bytes), image.bytes.size()));
    }
    return constant_array(rows, "device_images");
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
    return constant_array(rows, "kernel_arguments");
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
    return constant_array(rows, "device_kernels");
}

Constant *DeviceModules::constant_struct(const std::vector<Constant *> &fields, size_t bytes,
                                         const char *name) {
    Constant *value = llvm::ConstantStruct::getAnon(emitter_.context(), fields);
    internal_assert(emitter_.llvm().getDataLayout().getTypeAllocSize(value->getType()) == bytes)
        << name << " has another layout here";
    return emitter_.private_constant(value, name);
}

// A function or variable of the host that is defined elsewhere; its address is null if it is
// optional and not there.
Constant *DeviceModules::host_symbol(const std::string &name, llvm::FunctionType *function,
                                     bool is_optional) {
    if (name.empty()) {
        return llvm::ConstantPointerNull::get(emitter_.pointer_type());
    }
    llvm::Module &module = emitter_.llvm();
    const auto strong = llvm::GlobalValue::ExternalLinkage;
    const auto weak = llvm::GlobalValue::ExternalWeakLinkage;
    llvm::GlobalValue *known = module.getNamedValue(name);
    if (known) {
        if (!is_optional && known->hasExternalWeakLinkage()) {
            known->setLinkage(strong);
        }
        return known;
    }
    const auto linkage = is_optional ? weak : strong;
    if (function) {
        return llvm::Function::Create(function, linkage, name, module);
    }
    return new llvm::GlobalVariable(module, i8_, false, linkage, nullptr, name);
}

Constant *DeviceModules::linkable_images(const LinkableData &linkable) {
    std::vector<Constant *> rows;
    for (const LinkableImage &image : linkable.images) {
        Constant *data =
            linkable.is_embedded
                ? bytes_constant(image.kind, image.bytes)
                : constant_struct({emitter_.string_constant(image.origin),
                                   llvm::ConstantDataArray::getString(
                                       emitter_.context(), digest_of(image.bytes), false)},
                                  sizeof(calotype_file_image), "device_code_file");
        rows.push_back(image_row(image.kind, image.sm, image.suffix, data, image.bytes.size()));
    }
    return constant_array(rows, "linkable_images");
}

Constant *DeviceModules::linkable(const std::vector<DeviceLinkable> &all, size_t index) {
    const DeviceLinkable &l = all[index];
    const LinkableData &d = l.data;
    auto *callback = llvm::FunctionType::get(i32_, {p_}, false);
    std::vector<Constant *> after;
    for (uint16_t i : after_indices(all, index)) {
        after.push_back(ConstantInt::get(llvm::Type::getInt16Ty(emitter_.context()), i));
    }
    return constant_struct(
        {ConstantInt::get(i32_, sizeof(calotype_linkable_desc)),
         ConstantInt::get(i32_, linkable_flags(d)), emitter_.string_constant(d.name),
         llvm::ConstantDataArray::getString(emitter_.context(), l.content, false),
         linkable_images(d), ConstantInt::get(i32_, d.images.size()),
         host_symbol(d.setup, callback, d.is_optional),
         host_symbol(d.teardown, callback, d.is_optional),
         host_symbol(d.user, nullptr, d.is_optional), constant_array(after, "linkable_after"),
         ConstantInt::get(i32_, after.size())},
        sizeof(calotype_linkable_desc), "linkable");
}

Constant *DeviceModules::linkables(const std::vector<DeviceLinkable> &all) {
    std::vector<Constant *> rows;
    for (size_t i = 0; i < all.size(); i++) {
        internal_assert(all[i].content.size() == sizeof(calotype_uid))
            << "linkable " << all[i].data.name << " has no digest of its content";
        rows.push_back(linkable(all, i));
    }
    return constant_array(rows, "linkables");
}

Constant *DeviceModules::make_descriptor(const DeviceModule &module, const DeviceCode &code) {
    const std::string uid = device_module_uid(module, code);
    const std::vector<DeviceImage> embedded = embedded_images(code);
    const std::vector<DeviceLinkable> known = without_unneeded(code.linkables);
    auto *getter_type = llvm::FunctionType::get(p_, {}, false);
    Constant *interface =
        emitter_.declare(device_interface_function(module.api)->name, getter_type);
    Constant *none = llvm::ConstantPointerNull::get(emitter_.pointer_type());
    Constant *zero = ConstantInt::get(i32_, 0);
    std::vector<Constant *> fields = {
        ConstantInt::get(i32_, sizeof(calotype_module_desc)),
        ConstantInt::get(i32_, CALOTYPE_ABI_VERSION),
        emitter_.string_constant(module.name),
        llvm::ConstantDataArray::getString(emitter_.context(), uid, false),
        interface,
        images(embedded),
        ConstantInt::get(i32_, embedded.size()),
        kernels(module, code),
        ConstantInt::get(i32_, module.kernels.size()),
        linkables(known),
        ConstantInt::get(i32_, known.size()),
        none,  // relocations
        zero,
        ConstantInt::get(i32_, code.flags),
        zero,  // registers: the compiler's choice
        zero,  // optimisation level
    };
    return constant_struct(fields, sizeof(calotype_module_desc), "device_module");
}

}  // namespace calotype::internal
