// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/runtime_names.h"

#include <cctype>
#include <map>

#include <llvm/IR/Module.h>
#include <llvm/ObjCopy/CommonConfig.h>
#include <llvm/ObjCopy/ConfigManager.h>
#include <llvm/ObjCopy/ObjCopy.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

#include "support/error.h"

namespace calotype::internal {

namespace {

constexpr std::string_view runtime_prefix = "calotype_";

const char *word_of(RuntimeLinkage linkage) {
    switch (linkage) {
    case RuntimeLinkage::Import:
        return "import";
    case RuntimeLinkage::Export:
        return "export";
    default:
        return "internal";
    }
}

void check(const RuntimeNamespaceMap &prefixes) {
    for (const auto &[linkage, prefix] : prefixes) {
        bool is_good = !prefix.empty() && !std::isdigit(uint8_t(prefix[0]));
        for (const char c : prefix) {
            is_good = is_good && (std::isalnum(uint8_t(c)) || c == '_');
        }
        user_assert(is_good) << "runtime prefix '" << prefix << "' (" << word_of(linkage)
                             << ") cannot begin a name in C";
    }
}

const std::string *find(const RuntimeNamespaceMap &prefixes, RuntimeLinkage linkage) {
    const auto it = prefixes.find(linkage);
    return it == prefixes.end() ? nullptr : &it->second;
}

template<typename T>
T checked(llvm::Expected<T> value) {
    if (!value) {
        internal_error << "the runtime's library: " << llvm::toString(value.takeError());
    }
    return std::move(*value);
}

std::unique_ptr<llvm::object::ObjectFile> read_object(const std::string &name,
                                                      const std::string &bytes) {
    return checked(llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, name)));
}

using NewNames = std::map<std::string, std::string>;

/// Adds the new names of what the object defines for others.
void add_names_of(const llvm::object::ObjectFile &object, const std::string *exported,
                  const std::string *internal, NewNames &names) {
    for (const llvm::object::SymbolRef &symbol : object.symbols()) {
        const uint32_t flags = checked(symbol.getFlags());
        const bool is_shared = flags & llvm::object::SymbolRef::SF_Global;
        if (!is_shared || (flags & llvm::object::SymbolRef::SF_Undefined)) {
            continue;
        }
        const std::string name = checked(symbol.getName()).str();
        if (name.starts_with(runtime_prefix)) {
            if (exported) {
                names[name] = name_with_prefix(name, *exported);
            }
        } else if (internal && name.find("calotype") != std::string::npos) {
            names[name] = *internal + name;  // of C++: what else there is belongs to the language
        }
    }
}

std::string copied(const std::string &file, const std::string &bytes,
                   const llvm::objcopy::ConfigManager &config) {
    const auto object = read_object(file, bytes);
    llvm::SmallVector<char, 0> out;
    llvm::raw_svector_ostream stream(out);
    if (llvm::Error error = llvm::objcopy::executeObjcopyOnBinary(config, *object, stream)) {
        internal_error << "the runtime's " << file << ": " << llvm::toString(std::move(error));
    }
    return {out.begin(), out.end()};
}

}  // namespace

const std::string *prefix_of_calls(const RuntimeNamespaceMap &prefixes, const Target &target) {
    check(prefixes);
    return find(prefixes, target.has_feature(Target::NoRuntime) ? RuntimeLinkage::Import
                                                                : RuntimeLinkage::Export);
}

std::string name_with_prefix(const std::string &name, const std::string &prefix) {
    return name.starts_with(runtime_prefix) ? prefix + name.substr(runtime_prefix.size()) : name;
}

void rename_runtime_calls(llvm::Module &module, const std::string &prefix) {
    for (llvm::GlobalValue &value : module.global_values()) {
        if (value.isDeclaration()) {
            value.setName(name_with_prefix(value.getName().str(), prefix));
        }
    }
}

std::vector<std::pair<std::string, std::string>>
rename_runtime(std::vector<std::pair<std::string, std::string>> objects,
               const RuntimeNamespaceMap &prefixes) {
    check(prefixes);
    const std::string *exported = find(prefixes, RuntimeLinkage::Export);
    const std::string *internal = find(prefixes, RuntimeLinkage::Internal);
    NewNames names;
    for (const auto &[file, bytes] : objects) {
        add_names_of(*read_object(file, bytes), exported, internal, names);
    }
    llvm::objcopy::ConfigManager config;
    for (const auto &[from, to] : names) {
        config.Common.SymbolsToRename[from] = to;
    }
    for (auto &[file, bytes] : objects) {
        bytes = copied(file, bytes, config);
    }
    return objects;
}

}  // namespace calotype::internal
