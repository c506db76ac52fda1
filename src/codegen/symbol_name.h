// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The names that compiled functions have in object files and headers.
#pragma once

#include <string>
#include <vector>

#include "ir/module.h"
#include "target/target.h"

namespace calotype::internal {

/// True if the function is declared to C++ callers as a C++ function: by its name mangling, or,
/// where that is left open, by the target's feature c_plus_plus_name_mangling.
bool has_cpp_linkage(const LoweredFunction &function, const Target &target);

/// "a::b::f" in its parts.
std::vector<std::string> name_parts(const std::string &name);
/// "f" of "a::b::f".
std::string simple_name(const std::string &name);

/// The linker's name of the function itself.
std::string symbol_name(const LoweredFunction &function, const Target &target);
/// The same of NAME_argv, NAME_metadata and NAME_device_modules.
std::string argv_symbol_name(const LoweredFunction &function, const Target &target);
std::string metadata_symbol_name(const LoweredFunction &function, const Target &target);
std::string device_modules_symbol_name(const LoweredFunction &function, const Target &target);

/// The linker's name by which extern stages and calls of other pipelines know the function: they
/// pass the user's context as void *, where a program that calls it passes void const *.
std::string symbol_name_of_callers(const LoweredFunction &function, const Target &target);

/// The linker's name of a C++ function with parameters of those types.
std::string cpp_symbol_name(const std::string &name, const std::vector<Type> &parameters);

/// How a scalar argument of that type is written in C ("uint8_t", "float", "void *").
std::string c_type_name(const Type &t);

/// The declaration within the namespaces: "namespace a { int f(); }" for {"a", "f"}.
std::string in_namespaces(const std::vector<std::string> &parts, const std::string &declaration);
/// Declares the class, struct or union that a handle of that type points to; empty if there is none.
std::string class_declaration(const Type &t);

/// The text as a C identifier: every other character becomes '_'.
std::string c_identifier(const std::string &name);

}  // namespace calotype::internal
