// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each object has an LLJIT of its own: no state is shared, so threads need no lock, and dropping
// the library gives back all of its memory.
#include "codegen/jit.h"

#include <dlfcn.h>

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Object/ObjectFile.h>

#include "codegen/llvm/machine.h"
#include "codegen/llvm/target_machine.h"
#include "support/error.h"

namespace calotype::internal {

struct JitLibrary::Contents {
    std::vector<std::shared_ptr<JitLibrary>> libraries;
    std::unique_ptr<llvm::orc::LLJIT> jit;
    std::vector<std::string> defined;
};

JitLibrary::JitLibrary() : contents_(std::make_unique<Contents>()) {
}

JitLibrary::~JitLibrary() = default;

namespace {

template<typename T>
T must(llvm::Expected<T> result, const char *what) {
    if (!result) {
        std::string reason = llvm::toString(result.takeError());
        user_error << what << ": " << reason;
    }
    return std::move(*result);
}

void must(llvm::Error error, const char *what) {
    if (error) {
        std::string reason = llvm::toString(std::move(error));
        user_error << what << ": " << reason;
    }
}

/// A name that an object wants of others; of an optional one the address may be null.
struct WantedSymbol {
    std::string name;
    bool is_optional = false;
};

/// Names of the functions and data that an object has for others, and of those that it wants.
void read_symbol_table(llvm::MemoryBufferRef object, std::vector<std::string> *defined,
                       std::vector<WantedSymbol> *wanted) {
    auto file =
        must(llvm::object::ObjectFile::createObjectFile(object), "cannot read compiled code");
    for (const llvm::object::SymbolRef &symbol : file->symbols()) {
        uint32_t flags = must(symbol.getFlags(), "cannot read compiled code");
        std::string name = must(symbol.getName(), "cannot read compiled code").str();
        if (flags & llvm::object::BasicSymbolRef::SF_Undefined) {
            wanted->push_back({name, (flags & llvm::object::BasicSymbolRef::SF_Weak) != 0});
        } else if (flags & llvm::object::BasicSymbolRef::SF_Global) {
            defined->push_back(name);
        }
    }
}

std::unique_ptr<llvm::orc::LLJIT> make_jit() {
    const Target host = get_host_target();
    const std::string triple = machine_for(host).llvm_target(host).triple;
    llvm::orc::JITTargetMachineBuilder machine{llvm::Triple(triple)};
    return must(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(machine)).create(),
                "cannot start the in-process compiler");
}

}  // namespace

std::shared_ptr<JitLibrary>
JitLibrary::load(const std::string &object, const JitSymbols &symbols,
                 const std::vector<std::shared_ptr<JitLibrary>> &libraries) {
    std::shared_ptr<JitLibrary> result(new JitLibrary);
    Contents &contents = *result->contents_;
    contents.libraries = libraries;
    contents.jit = make_jit();
    llvm::orc::LLJIT &jit = *contents.jit;
    auto bytes = llvm::MemoryBuffer::getMemBufferCopy(object, "pipeline");
    std::vector<WantedSymbol> wanted;
    read_symbol_table(bytes->getMemBufferRef(), &contents.defined, &wanted);

    llvm::orc::SymbolMap known;
    for (const auto &[name, is_optional] : wanted) {
        auto given = symbols.find(name);
        const void *address = given == symbols.end() ? nullptr : given->second;
        for (const auto &library : libraries) {
            address = address ? address : library->find(name);
        }
        if (!address) {
            address = dlsym(RTLD_DEFAULT, name.c_str());
        }
        user_assert(address || is_optional || name == "_GLOBAL_OFFSET_TABLE_")
            << "compiled code calls " << name << ", which is not defined in this process";
        if (address) {
            known[jit.mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                                llvm::JITSymbolFlags::Exported};
        }
    }
    llvm::orc::JITDylib &main = jit.getMainJITDylib();
    must(main.define(llvm::orc::absoluteSymbols(std::move(known))), "cannot define symbols");
    must(jit.addObjectFile(std::move(bytes)), "cannot load compiled code");
    // Everything is linked now, so that a missing name is found now.
    for (const std::string &name : contents.defined) {
        must(jit.lookup(name), "cannot link compiled code");
    }
    return result;
}

void *JitLibrary::find(const std::string &symbol) const {
    const std::vector<std::string> &defined = contents_->defined;
    if (std::find(defined.begin(), defined.end(), symbol) == defined.end()) {
        return nullptr;
    }
    return must(contents_->jit->lookup(symbol), "cannot find compiled code").toPtr<void *>();
}

}  // namespace calotype::internal
