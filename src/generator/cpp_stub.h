// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpp_stub_text: a header by which C++ programs use a registered generator as a typed function from
// Funcs to Funcs.
#pragma once

#include <string>

namespace calotype::internal {

/// The stub of the generator registered under that name; see docs/generators.md. A CompileError if
/// there is none.
std::string cpp_stub_text(const std::string &registered_name);

}  // namespace calotype::internal
