// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/nvptx/libdevice.h"

#include <set>

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>

#include "support/error.h"
#include "support/file.h"

namespace calotype::internal {

namespace {

bool calls_libdevice(const llvm::Module &module) {
    for (const llvm::Function &f : module) {
        if (f.isDeclaration() && f.getName().starts_with("__nv_")) {
            return true;
        }
    }
    return false;
}

}  // namespace

void link_libdevice(llvm::Module &module, const std::string &path) {
    // How __nvvm_reflect is answered: subnormal numbers are kept.
    module.addModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz", uint32_t(0));
    if (!calls_libdevice(module)) {
        return;
    }
    // Only the functions needed are read.
    auto library = llvm::getOwningLazyBitcodeModule(
        llvm::MemoryBuffer::getMemBufferCopy(read_file(path), path), module.getContext());
    if (!library) {
        user_error << path << " is not LLVM bitcode: " << llvm::toString(library.takeError());
    }
    (*library)->setDataLayout(module.getDataLayout());
    (*library)->setTargetTriple(module.getTargetTriple());
    std::set<std::string> own;
    for (const llvm::Function &f : module) {
        if (!f.isDeclaration()) {
            own.insert(f.getName().str());
        }
    }
    user_assert(!llvm::Linker::linkModules(module, std::move(*library),
                                           llvm::Linker::Flags::LinkOnlyNeeded))
        << path << " cannot be linked into kernels";
    for (llvm::Function &f : module) {
        if (!f.isDeclaration() && own.count(f.getName().str()) == 0) {
            f.setLinkage(llvm::GlobalValue::InternalLinkage);
        }
    }
}

}  // namespace calotype::internal
