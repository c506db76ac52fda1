// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prefixes in the names of the runtime's functions, in generated code and in the runtime's library.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/module.h"
#include "target/target.h"

namespace llvm {
class Module;
}

namespace calotype::internal {

/// The prefix by which code for the target calls the runtime: that of Export where the library has the
/// runtime in it, that of Import otherwise (no_runtime); null if there is none. A CompileError if a
/// prefix cannot begin a name.
const std::string *prefix_of_calls(const RuntimeNamespaceMap &prefixes, const Target &target);

/// "pmalloc" of "calotype_malloc" and "p"; names that are none of the runtime's stay as they are.
std::string name_with_prefix(const std::string &name, const std::string &prefix);

/// Renames what the module takes from the runtime.
void rename_runtime_calls(llvm::Module &module, const std::string &prefix);

/// The runtime's objects, as name and bytes, with the names that they define and share renamed.
std::vector<std::pair<std::string, std::string>>
rename_runtime(std::vector<std::pair<std::string, std::string>> objects,
               const RuntimeNamespaceMap &prefixes);

}  // namespace calotype::internal
