// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Texts that users give: names, which end up in C strings, object files and messages.
#pragma once

#include <string>
#include <string_view>

namespace calotype::internal {

/// `text` with a zero byte, and each byte that is no part of a character of UTF-8, written as \x00.
std::string printable(std::string_view text);

/// A CompileError if the name of a thing of that kind, as "Var", has a zero byte or is not UTF-8.
void check_characters(std::string_view kind, const std::string &name);

/// Also if it contains a dot, which separates the parts of names in the IR.
void check_name(std::string_view kind, const std::string &name);

}  // namespace calotype::internal
