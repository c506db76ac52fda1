// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// JitLibrary: an object file of ours loaded into this process.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace calotype::internal {

/// Names that code refers to and does not define itself, and what they stand for here.
using JitSymbols = std::map<std::string, const void *>;

/// Code in memory, shared by whoever holds it: addresses are good as long as a handle lives.
/// Loading and looking up may be done on any number of threads at once.
class JitLibrary {
public:
    /// Loads an object file that CompiledModule::object() made for this machine. Undefined names
    /// are looked up in `symbols`, then in `libraries` (in order), then in the process.
    /// CompileError if one is not found, with its name.
    static std::shared_ptr<JitLibrary>
    load(const std::string &object, const JitSymbols &symbols,
         const std::vector<std::shared_ptr<JitLibrary>> &libraries = {});
    ~JitLibrary();
    JitLibrary(const JitLibrary &) = delete;
    JitLibrary &operator=(const JitLibrary &) = delete;

    /// The address of a function that the object defines, or null.
    void *find(const std::string &symbol) const;

    /// The same as a pointer to a function of type F.
    template<typename F>
    F *function(const std::string &symbol) const {
        return reinterpret_cast<F *>(find(symbol));
    }

private:
    JitLibrary();
    struct Contents;
    std::unique_ptr<Contents> contents_;
};

}  // namespace calotype::internal
