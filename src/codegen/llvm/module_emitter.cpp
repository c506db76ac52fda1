// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/module_emitter.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/linkables/linkable.h"
#include "codegen/llvm/emitter.h"
#include "codegen/llvm/passes/signed_words.h"
#include "codegen/llvm/target_machine.h"
#include "codegen/symbol_name.h"
#include "ir/constants.h"
#include "ir/conventions/names.h"
#include "legalize/legalize.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Constant;
using llvm::ConstantInt;

ModuleEmitter::ModuleEmitter(const LoweredModule &source, const Target &target,
                             const std::vector<DeviceCode> &device_codes,
                             llvm::LLVMContext &context)
    : source_(source), target_(target), context_(context),
      module_(std::make_unique<llvm::Module>(source.name, context)),
      strict_float_(source.any_strict_float),
      device_modules_(*this, source.device_modules, device_codes) {
    llvm::Type *i8 = llvm::Type::getInt8Ty(context), *i16 = llvm::Type::getInt16Ty(context);
    llvm::Type *i32 = llvm::Type::getInt32Ty(context), *i64 = llvm::Type::getInt64Ty(context);
    llvm::Type *p = pointer_type();
    type_type_ = llvm::StructType::create(context, {i8, i8, i16}, "calotype_type_t");
    dimension_type_ =
        llvm::StructType::create(context, {i32, i32, i32, i32}, "calotype_dimension_t");
    buffer_type_ = llvm::StructType::create(context, {i64, p, p, i64, type_type_, i32, p, p},
                                            "calotype_buffer_t");
}

std::unique_ptr<llvm::Module> ModuleEmitter::emit() {
    prepare_module(*module_, target_);
    link_linkables(bitcode_for(source_.linked, module_->getTargetTriple()), {});
    for (const LoweredBuffer &buffer : source_.buffers) {
        emit_embedded_buffer(buffer);
    }
    for (const LoweredFunction &f : source_.functions) {
        functions_[f.name] = emit_declaration(f);
    }
    const Machine &machine = machine_for(target_);
    for (const LoweredFunction &f : source_.functions) {
        llvm::Function *function = functions_[f.name];
        FunctionEmitter emitter(*this, function, machine);
        for (size_t i = 0; i < f.args.size(); i++) {
            const LoweredArgument &a = f.args[i];
            emitter.bind(a.is_buffer() ? names::buffer(a.name) : a.name,
                         function->getArg(unsigned(i)));
            if (!a.is_buffer()) {
                mark_as_data(function->getArg(unsigned(i)));
            }
            if (a.is_buffer() && a.alignment.modulus > 1 && a.alignment.remainder == 0) {
                emitter.set_host_alignment(a.name, int(a.alignment.modulus));
            }
        }
        emitter.emit_body(legalize(f.body, capabilities(machine, target_)));
        if (f.linkage == LinkageType::ExternalPlusArgv ||
            f.linkage == LinkageType::ExternalPlusMetadata) {
            emit_argv(f, function);
            emit_device_modules(f);
        }
        if (f.linkage == LinkageType::ExternalPlusMetadata) {
            emit_metadata(f);
        }
    }
    for (const LoweredFunction &f : source_.functions) {
        emit_name_of_callers(f);
    }
    link_external_code();
    drop_unused_bitcode({});
    if (machine.llvm_target(target_).extends_words) {
        pass_signed_words(*module_);
    }
    std::string problem;
    llvm::raw_string_ostream stream(problem);
    internal_assert(!llvm::verifyModule(*module_, &stream)) << "invalid LLVM module: " << problem;
    return std::move(module_);
}

void ModuleEmitter::set_function_attributes(llvm::Function *function) {
    function->setDoesNotThrow();
    function->addFnAttr(llvm::Attribute::getWithUWTableKind(context_, llvm::UWTableKind::Default));
    add_target_attributes(*function, target_);
}

llvm::Function *ModuleEmitter::emit_declaration(const LoweredFunction &f) {
    const std::string symbol = symbol_name(f, target_);
    user_assert(!module_->getNamedValue(symbol))
        << "pipeline " << f.name << " has the name of function " << symbol << origin_of(symbol);
    std::vector<llvm::Type *> types;
    for (const LoweredArgument &a : f.args) {
        types.push_back(a.is_buffer() ? pointer_type() : llvm_type(context_, a.type));
    }
    auto *type = llvm::FunctionType::get(llvm::Type::getInt32Ty(context_), types, false);
    auto linkage = f.linkage == LinkageType::Internal ? llvm::Function::InternalLinkage
                                                      : llvm::Function::ExternalLinkage;
    auto *function = llvm::Function::Create(type, linkage, symbol, *module_);
    set_function_attributes(function);
    for (size_t i = 0; i < f.args.size(); i++) {
        llvm::Argument *arg = function->getArg(unsigned(i));
        arg->setName(f.args[i].name);
        Type t = f.args[i].type;
        if (f.args[i].is_buffer()) {
            arg->addAttr(llvm::Attribute::NoFree);
        } else if (t.is_int_or_uint() && t.bits() < 32) {
            arg->addAttr(t.is_int() ? llvm::Attribute::SExt : llvm::Attribute::ZExt);
        }
    }
    return function;
}

void ModuleEmitter::emit_name_of_callers(const LoweredFunction &f) {
    llvm::Function *function = functions_[f.name];
    const std::string name = symbol_name_of_callers(f, target_);
    if (f.linkage == LinkageType::Internal || name == function->getName()) {
        return;
    }
    auto *alias = llvm::GlobalAlias::create(llvm::GlobalValue::ExternalLinkage, "", function);
    if (llvm::GlobalValue *called = module_->getNamedValue(name)) {
        called->replaceAllUsesWith(alias);
        called->eraseFromParent();
    }
    alias->setName(name);
}

llvm::Function *ModuleEmitter::internal_function(const std::string &name,
                                                 llvm::FunctionType *type) {
    auto *function = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, *module_);
    set_function_attributes(function);
    return function;
}

llvm::Function *ModuleEmitter::declare(const std::string &name, llvm::FunctionType *type) {
    if (llvm::Function *known = module_->getFunction(name)) {
        user_assert(known->getFunctionType() == type)
            << "function " << name
            << " is called with different arguments than it has elsewhere in the "
            << "same module; does a pipeline have the name of a C function?";
        return known;
    }
    auto *function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, *module_);
    function->setDoesNotThrow();
    return function;
}

llvm::Function *ModuleEmitter::module_function(const std::string &name) const {
    auto it = functions_.find(name);
    return it == functions_.end() ? nullptr : it->second;
}

Constant *ModuleEmitter::embedded_buffer(const std::string &name) const {
    auto it = embedded_.find(name);
    return it == embedded_.end() ? nullptr : it->second;
}

Constant *ModuleEmitter::private_constant(Constant *value, const char *name) {
    auto *global = new llvm::GlobalVariable(*module_, value->getType(), true,
                                            llvm::GlobalValue::PrivateLinkage, value, name);
    return global;
}

Constant *ModuleEmitter::string_constant(const std::string &text) {
    Constant *&known = strings_[text];
    if (!known) {
        known = private_constant(llvm::ConstantDataArray::getString(context_, text), "text");
        llvm::cast<llvm::GlobalVariable>(known)->setUnnamedAddr(
            llvm::GlobalValue::UnnamedAddr::Global);
        llvm::cast<llvm::GlobalVariable>(known)->setAlignment(llvm::Align(4));
    }
    return known;
}

llvm::MDNode *ModuleEmitter::alias_tag(const std::string &buffer) {
    llvm::MDNode *&tag = alias_tags_[buffer];
    if (!tag) {
        llvm::MDBuilder md(context_);
        if (!alias_root_) {
            alias_root_ = md.createTBAARoot("calotype buffers");
        }
        llvm::MDNode *node = md.createTBAAScalarTypeNode(buffer, alias_root_);
        tag = md.createTBAAStructTagNode(node, node, 0);
    }
    return tag;
}

void ModuleEmitter::emit_embedded_buffer(const LoweredBuffer &buffer) {
    llvm::Type *i8 = llvm::Type::getInt8Ty(context_), *i32 = llvm::Type::getInt32Ty(context_);
    llvm::Type *i64 = llvm::Type::getInt64Ty(context_), *i16 = llvm::Type::getInt16Ty(context_);
    auto *data = llvm::cast<llvm::GlobalVariable>(
        private_constant(llvm::ConstantDataArray::get(context_, buffer.bytes), "image_data"));
    data->setAlignment(llvm::Align(uint64_t(buffer.alignment)));
    std::vector<Constant *> shape;
    for (const LoweredBuffer::Dimension &d : buffer.dimensions) {
        shape.push_back(llvm::ConstantStruct::get(dimension_type_,
                                                  {ConstantInt::get(i32, uint64_t(d.min), true),
                                                   ConstantInt::get(i32, uint64_t(d.extent), true),
                                                   ConstantInt::get(i32, uint64_t(d.stride), true),
                                                   ConstantInt::get(i32, 0)}));
    }
    auto *shape_type = llvm::ArrayType::get(dimension_type_, shape.size());
    Constant *dims = private_constant(llvm::ConstantArray::get(shape_type, shape), "image_shape");
    Constant *type = llvm::ConstantStruct::get(
        type_type_, {ConstantInt::get(i8, buffer.type.code()),
                     ConstantInt::get(i8, uint64_t(buffer.type.bits())),
                     ConstantInt::get(i16, uint64_t(buffer.type.lanes()))});
    Constant *null = llvm::ConstantPointerNull::get(pointer_type());
    Constant *value = llvm::ConstantStruct::get(
        buffer_type_, {ConstantInt::get(i64, 0), null, data,
                       ConstantInt::get(i64, calotype_buffer_flag_host_dirty), type,
                       ConstantInt::get(i32, shape.size()), dims, null});
    // Not constant: devices note their copies in it.
    embedded_[names::buffer(buffer.name)] =
        new llvm::GlobalVariable(*module_, buffer_type_, false, llvm::GlobalValue::PrivateLinkage,
                                 value, c_identifier(buffer.name));
}

// int NAME_argv(void **args): args[i] points to the i-th scalar, or is the i-th calotype_buffer_t
// *.
void ModuleEmitter::emit_argv(const LoweredFunction &f, llvm::Function *callee) {
    auto *type = llvm::FunctionType::get(llvm::Type::getInt32Ty(context_), {pointer_type()}, false);
    auto *wrapper = llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                                           argv_symbol_name(f, target_), *module_);
    set_function_attributes(wrapper);
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(context_, "entry", wrapper));
    std::vector<llvm::Value *> args;
    for (size_t i = 0; i < f.args.size(); i++) {
        llvm::Value *slot = b.CreateConstInBoundsGEP1_64(pointer_type(), wrapper->getArg(0), i);
        llvm::Value *p = b.CreateLoad(pointer_type(), slot);
        if (f.args[i].is_buffer()) {
            args.push_back(p);
            continue;
        }
        Type t = f.args[i].type;
        llvm::Value *v = b.CreateLoad(llvm_memory_type(context_, t), p);
        args.push_back(t.is_bool() ? b.CreateIsNotNull(v) : v);
    }
    llvm::CallInst *call = b.CreateCall(callee, args);
    call->setAttributes(callee->getAttributes().removeFnAttributes(context_));
    b.CreateRet(call);
}

Constant *ModuleEmitter::scalar_metadata(const Expr &value, Type t) {
    Constant *null = llvm::ConstantPointerNull::get(pointer_type());
    if (!value.defined() || t.is_handle()) {
        return null;
    }
    uint64_t bits = 0;
    if (auto i = as_const_int(value)) {
        bits = uint64_t(*i);
    } else if (auto u = as_const_uint(value)) {
        bits = *u;
    } else if (auto x = as_const_float(value)) {
        if (t.bits() == 64) {
            bits = llvm::bit_cast<uint64_t>(*x);
        } else if (t.bits() == 32) {
            bits = llvm::bit_cast<uint32_t>(float(*x));
        } else {
            bits = t.is_bfloat() ? bfloat16_t(*x).to_bits() : float16_t(*x).to_bits();
        }
    } else {
        return null;
    }
    if (t.bits() < 64) {
        bits &= (uint64_t(1) << t.bits()) - 1;
    }
    return private_constant(ConstantInt::get(llvm::Type::getInt64Ty(context_), bits), "scalar");
}

Constant *ModuleEmitter::estimates_metadata(const LoweredArgument &a) {
    Constant *null = llvm::ConstantPointerNull::get(pointer_type());
    if (!a.is_buffer() || a.dimensions == 0) {
        return null;
    }
    std::vector<Constant *> values;
    for (int d = 0; d < a.dimensions; d++) {
        const Region &region = a.argument_estimates.buffer_estimates;
        Range r = size_t(d) < region.size() ? region[size_t(d)] : Range();
        values.push_back(scalar_metadata(r.min, Int(64)));
        values.push_back(scalar_metadata(r.extent, Int(64)));
    }
    auto *type = llvm::ArrayType::get(pointer_type(), values.size());
    return private_constant(llvm::ConstantArray::get(type, values), "estimates");
}

Constant *ModuleEmitter::argument_metadata(const LoweredArgument &a, llvm::StructType *type) {
    llvm::Type *i8 = llvm::Type::getInt8Ty(context_), *i16 = llvm::Type::getInt16Ty(context_);
    llvm::Type *i32 = llvm::Type::getInt32Ty(context_);
    auto renamed = source_.metadata_names.find(a.name);
    const std::string &name = renamed == source_.metadata_names.end() ? a.name : renamed->second;
    const ArgumentEstimates &e = a.argument_estimates;
    Constant *element =
        llvm::ConstantStruct::get(type_type_, {ConstantInt::get(i8, a.type.code()),
                                               ConstantInt::get(i8, uint64_t(a.type.bits())),
                                               ConstantInt::get(i16, uint64_t(a.type.lanes()))});
    Type t = a.type;
    return llvm::ConstantStruct::get(
        type, {string_constant(name), ConstantInt::get(i32, uint64_t(a.kind)),
               ConstantInt::get(i32, a.dimensions), element, scalar_metadata(e.scalar_def, t),
               scalar_metadata(e.scalar_min, t), scalar_metadata(e.scalar_max, t),
               scalar_metadata(e.scalar_estimate, t), estimates_metadata(a)});
}

// const calotype_filter_metadata_t *NAME_metadata(void)
void ModuleEmitter::emit_metadata(const LoweredFunction &f) {
    llvm::Type *i32 = llvm::Type::getInt32Ty(context_);
    llvm::Type *p = pointer_type();
    auto *argument_type = llvm::StructType::get(context_, {p, i32, i32, type_type_, p, p, p, p, p});
    std::vector<Constant *> arguments;
    for (const LoweredArgument &a : f.args) {
        arguments.push_back(argument_metadata(a, argument_type));
    }
    auto *array_type = llvm::ArrayType::get(argument_type, arguments.size());
    Constant *array =
        private_constant(llvm::ConstantArray::get(array_type, arguments), "arguments");
    auto *metadata_type = llvm::StructType::get(context_, {i32, i32, p, p, p});
    Constant *metadata = private_constant(
        llvm::ConstantStruct::get(metadata_type, {ConstantInt::get(i32, 1),
                                                  ConstantInt::get(i32, arguments.size()), array,
                                                  string_constant(source_.target),
                                                  string_constant(simple_name(f.name))}),
        "metadata");
    emit_getter(metadata_symbol_name(f, target_), metadata);
}

// const calotype_module_desc *const *NAME_device_modules(void): a list that ends with null
void ModuleEmitter::emit_device_modules(const LoweredFunction &f) {
    if (source_.device_modules.empty()) {
        return;
    }
    std::vector<Constant *> descriptors;
    for (const DeviceModule &m : source_.device_modules) {
        descriptors.push_back(device_modules_.descriptor(to_string(m.api)));
    }
    descriptors.push_back(llvm::ConstantPointerNull::get(pointer_type()));
    auto *type = llvm::ArrayType::get(pointer_type(), descriptors.size());
    emit_getter(device_modules_symbol_name(f, target_),
                private_constant(llvm::ConstantArray::get(type, descriptors), "device_modules"));
}

// A function of no arguments that answers `value`.
void ModuleEmitter::emit_getter(const std::string &symbol, Constant *value) {
    auto *type = llvm::FunctionType::get(pointer_type(), {}, false);
    auto *getter = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, *module_);
    set_function_attributes(getter);
    llvm::IRBuilder<>(llvm::BasicBlock::Create(context_, "entry", getter)).CreateRet(value);
}

const LinkedFunction *ModuleEmitter::linked_function(const std::string &name) const {
    const auto it = source_.linked.functions.find(name);
    return it == source_.linked.functions.end() ? nullptr : &it->second;
}

std::string ModuleEmitter::origin_of(const std::string &function) const {
    const auto it = origins_.find(function);
    return it == origins_.end() ? "" : it->second;
}

void ModuleEmitter::link_linkables(const std::vector<BitcodeImage> &bitcode,
                                   const std::set<std::string> &wanted) {
    std::set<std::string> needed = wanted;
    for (const auto &[name, signature] : source_.linked.functions) {
        needed.insert(name);
    }
    for (const BitcodeImage &b : bitcode) {
        for (const std::string &name : bitcode_symbols(b).functions) {
            origins_[name] = " of " + linkable_title(*b.linkable, *b.image);
        }
    }
    link_bitcode(*module_, bitcode, needed);
    for (llvm::Function &f : *module_) {
        if (!f.isDeclaration()) {
            add_target_attributes(f, target_);
        }
    }
    const bool is_host = target_.arch != Target::ArchUnknown;
    for (llvm::GlobalVariable &g : module_->globals()) {
        // Objects that hold the same bitcode share its variables, which host code may set.
        if (is_host && !g.isDeclaration() && g.hasExternalLinkage() && !g.isConstant()) {
            g.setLinkage(llvm::GlobalValue::WeakAnyLinkage);
        }
    }
}

void ModuleEmitter::drop_unused_bitcode(const std::set<std::string> &wanted) {
    std::set<std::string> names;
    for (const auto &[name, origin] : origins_) {
        if (!wanted.count(name)) {
            names.insert(name);
        }
    }
    internalize(*module_, names);
}

void ModuleEmitter::link_external_code() {
    for (const ExternalCode &code : source_.external_code) {
        llvm::StringRef bytes(reinterpret_cast<const char *>(code.bytes.data()), code.bytes.size());
        auto parsed = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bytes, code.name), context_);
        if (!parsed) {
            user_error << "external code '" << code.name
                       << "' is not LLVM bitcode: " << llvm::toString(parsed.takeError());
        }
        (*parsed)->setDataLayout(module_->getDataLayout());
        (*parsed)->setTargetTriple(module_->getTargetTriple());
        user_assert(!llvm::Linker::linkModules(*module_, std::move(*parsed)))
            << "external code '" << code.name << "' cannot be linked into the module";
    }
}

}  // namespace calotype::internal
